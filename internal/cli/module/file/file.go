// SPDX-License-Identifier: Apache-2.0

package file

import (
	"os"
	"path/filepath"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// Stdout is the path that means stdout.
const Stdout = "-"

// IsStdout reports whether an output path means stdout: it is empty or Stdout.
func IsStdout(path string) bool { return path == "" || path == Stdout }

// IsDevice reports whether a path exists and is neither a regular file nor a directory.
func IsDevice(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.Mode().IsRegular() && !info.IsDir()
}

// Write replaces a file atomically, with mode 0644. It writes to a device directly.
func Write(path string, data []byte) error {
	// Do not replace a device or a pipe with a file.
	if IsDevice(path) {
		return errors.Wrapf(os.WriteFile(path, data, 0o600), "cannot write %s", path)
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".kymactl-*")
	if err != nil {
		return errors.Wrapf(err, "cannot write %s", path)
	}
	_, err = f.Write(data)
	// CreateTemp creates files with mode 0600.
	if err = errors.Join(err, f.Chmod(0o644), f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(errors.Wrapf(err, "cannot write %s", path), os.Remove(f.Name()))
	}
	return nil
}
