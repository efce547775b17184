// SPDX-License-Identifier: Apache-2.0

// Package open opens modules by the references on a command line.
package open
