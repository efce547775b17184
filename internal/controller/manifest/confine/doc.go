// SPDX-License-Identifier: Apache-2.0

// Package confine restricts the objects that a module may consist of, as the ModuleTemplate specifies.
package confine
