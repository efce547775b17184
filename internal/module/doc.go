// SPDX-License-Identifier: Apache-2.0

// Package module knows what a module is. It resolves a ModuleTemplate, which means that it reads the component
// descriptor and says what each resource is to the module; it makes the parameters of a Manifest of that; and it checks
// that what a Manifest installs is signed.
package module
