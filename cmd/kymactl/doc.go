// SPDX-License-Identifier: Apache-2.0

// Command kymactl makes, signs, ships and runs modules. Its commands are in
// internal/cli.
package main
