// SPDX-License-Identifier: Apache-2.0

// Package file says where commands write: to stdout, to a device, to a file as a
// whole, or to a layout.
package file
