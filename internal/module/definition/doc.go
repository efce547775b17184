// SPDX-License-Identifier: Apache-2.0

// Package definition reads module.yaml, in which a module team defines the content of their module, and derives it from
// the directory in simple cases.
package definition
