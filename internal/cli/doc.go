// SPDX-License-Identifier: Apache-2.0

// Package cli is kymactl: it makes, signs, ships and runs modules.
//
// Its commands are in artifact (modules as files and in registries), catalog
// (modules in a control plane) and control (what a control plane needs to run
// modules); what they have in common is in command.
package cli
