// SPDX-License-Identifier: Apache-2.0

package file

import (
	"os"
	"path/filepath"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// Stdout is what stands for it in the place of a path.
const Stdout = "-"

// IsStdout reports whether a file that is to be written is stdout.
func IsStdout(path string) bool { return path == "" || path == Stdout }

// IsDevice reports whether a path is that of something which is neither a file nor a directory.
func IsDevice(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.Mode().IsRegular() && !info.IsDir()
}

// Write a file as a whole, or not at all.
func Write(path string, data []byte) error {
	// A device or a pipe is not to be replaced by a file.
	if IsDevice(path) {
		return errors.Wrapf(os.WriteFile(path, data, 0o600), "cannot write %s", path)
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".kymactl-*")
	if err != nil {
		return errors.Wrapf(err, "cannot write %s", path)
	}
	_, err = f.Write(data)
	// As a file that is made the usual way, less what is for others to write.
	if err = errors.Join(err, f.Chmod(0o644), f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(errors.Wrapf(err, "cannot write %s", path), os.Remove(f.Name()))
	}
	return nil
}
