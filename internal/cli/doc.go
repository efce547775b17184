// SPDX-License-Identifier: Apache-2.0

// Package cli is kymactl: it makes, signs, ships and runs modules.
//
// Its commands are laid out as the command line has them: module has those of
// kymactl module, and kyma, manifest and controlplane the others. Below them are
// argument and complete (what a command line names), catalog and lookup (what a
// control plane has) and await (waiting for it); what all commands have in common is
// in command.
package cli
