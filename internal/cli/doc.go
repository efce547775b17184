// SPDX-License-Identifier: Apache-2.0

// Package cli is kymactl: it builds, signs, distributes and runs modules.
//
// The commands are in packages by subject: module has a package for each group of kymactl module commands, kyma has status and
// wait, manifest has plan and test, controlplane has deploy and undeploy, and version has version. They import complete and
// await, which import catalog, argument and lookup, which import command; test/boundary enforces this order. Package reference
// generates the documentation of all commands.
package cli
