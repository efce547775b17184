// SPDX-License-Identifier: Apache-2.0

// Package confine restricts the objects that a module can contain, as specified in its ModuleTemplate.
package confine
