// SPDX-License-Identifier: Apache-2.0

// Package cli is kymactl: it makes, signs, ships and runs modules.
//
// Its commands are in artifact (modules as files and in registries), module
// (modules in a control plane), kyma, manifest, and control (what a control plane
// needs to run modules). Below them are argument and complete (what a command line
// names), catalog and lookup (what a control plane has) and await (waiting for it);
// what all commands have in common is in command.
package cli
