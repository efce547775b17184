// SPDX-License-Identifier: Apache-2.0

// Command kymactl builds, signs, distributes and runs modules. Its commands are in internal/cli.
package main
