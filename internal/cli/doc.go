// SPDX-License-Identifier: Apache-2.0

// Package cli implements kymactl, which builds, signs, distributes and runs modules.
//
// Each subject has a package: module has a package for each group of kymactl module commands, kyma contains status and wait,
// manifest contains plan and test, controlplane contains deploy and undeploy, install contains install, and version contains
// version. They import apply, complete and await, which import catalog, argument and lookup, which import command; test/boundary
// enforces this order. Package reference generates the documentation of all commands.
package cli
