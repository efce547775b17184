// SPDX-License-Identifier: Apache-2.0

package cache

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// openDirectory creates a directory for a user, and returns it. If the directory exists and other users own it or can write to
// it, as with a mounted volume, openDirectory returns a subdirectory that belongs to the user. It follows no symbolic links.
func openDirectory(dir string, user int) (string, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return "", err
	}
	if !info.IsDir() {
		return "", errors.Errorf("%s is not a directory: specify the directory itself, not a link to it", dir)
	}
	if isTrusted(info.Mode(), ownerOf(info), user) {
		return dir, nil
	}
	own := filepath.Join(dir, fmt.Sprintf("user-%d", user))
	if err := os.Mkdir(own, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	if info, err = os.Lstat(own); err != nil {
		return "", err
	}
	if !isTrusted(info.Mode(), ownerOf(info), user) {
		return "", errors.Errorf("%s must be a directory that is owned by user %d and not writable by other users", own, user)
	}
	return own, nil
}

// unknownOwner is the owner of a file on a system without numeric user IDs.
const unknownOwner = -1

// isTrusted reports whether only a user can write files to a directory: the directory belongs to the user, and neither its
// group nor other users can write to it.
func isTrusted(mode fs.FileMode, owner, user int) bool {
	return mode.IsDir() && (owner == unknownOwner || owner == user && mode.Perm()&0o022 == 0)
}

// readRegular returns the content of a regular file of at most limit bytes. It follows no symbolic links, and does not wait for
// pipes.
func readRegular(path string, limit int64) ([]byte, error) {
	f, err := openFile(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > limit {
		return nil, errors.Errorf("%s is not a regular file, or is larger than the limit of %d bytes", path, limit)
	}
	data := make([]byte, info.Size())
	_, err = io.ReadFull(f, data)
	return data, err
}
