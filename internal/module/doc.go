// SPDX-License-Identifier: Apache-2.0

// Package module interprets modules. It resolves a ModuleTemplate, which means that it reads the component descriptor
// and determines the use of each resource; it makes the parameters of a Manifest from the result; and it verifies that
// what a Manifest installs is signed.
package module
