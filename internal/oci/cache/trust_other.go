// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package cache

import (
	"io/fs"
	"os"
)

// openFile opens a file for reading.
func openFile(path string) (*os.File, error) {
	return os.Open(path) //nolint:gosec // The path is made of hexadecimal digits.
}

// ownerOf returns unknownOwner, because the system has no numeric user IDs.
func ownerOf(fs.FileInfo) int { return unknownOwner }
