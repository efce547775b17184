// SPDX-License-Identifier: Apache-2.0

// Package manual generates the man pages and the shell completions of kymactl from its commands.
package manual
