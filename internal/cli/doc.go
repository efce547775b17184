// SPDX-License-Identifier: Apache-2.0

// Package cli is kymactl: it makes, signs, ships and runs modules.
//
// The commands lie in packages by what they are about: module has a package for each
// group of kymactl module, kyma has status and wait, manifest has plan and test,
// controlplane has deploy and undeploy, and version has version. Below them are complete and await, catalog,
// argument and lookup, and command, in this order; test/boundary holds it. Package
// reference writes the documentation of all commands.
package cli
