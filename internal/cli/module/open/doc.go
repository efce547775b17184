// SPDX-License-Identifier: Apache-2.0

// Package open opens the modules to which the references on a command line point.
package open
