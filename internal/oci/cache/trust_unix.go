// SPDX-License-Identifier: Apache-2.0

//go:build unix

package cache

import (
	"io/fs"
	"os"
	"syscall"
)

// openFile opens a file for reading. It follows no symbolic links, and does not wait for the writer of a pipe.
func openFile(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0) //nolint:gosec // The path is made of hexadecimal digits.
}

// ownerOf returns the ID of the user who owns a file.
func ownerOf(info fs.FileInfo) int {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(s.Uid)
	}
	return unknownOwner
}
