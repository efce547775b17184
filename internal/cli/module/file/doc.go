// SPDX-License-Identifier: Apache-2.0

// Package file writes the output of commands: to stdout, to a device, to a file (atomically), or to a layout.
package file
