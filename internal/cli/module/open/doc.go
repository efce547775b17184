// SPDX-License-Identifier: Apache-2.0

// Package open opens the modules that a command line names.
package open
