// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"golang.org/x/mod/modfile"
)

// pinned returns the toolchain in the go.mod of a directory, such as go1.26.8. The hosted workflow builds releases with it.
func pinned(dir string) (string, error) {
	const name = "go.mod"
	data, err := os.ReadFile(filepath.Join(dir, name)) //nolint:gosec // A file of this repository.
	if err != nil {
		return "", errors.Wrap(err, "cannot read the toolchain")
	}
	file, err := modfile.Parse(name, data, nil)
	if err != nil {
		return "", errors.Wrap(err, "cannot read the toolchain")
	}
	if file.Toolchain == nil {
		return "", errors.New("go.mod has no toolchain line, so no one knows which Go builds the same release")
	}
	return file.Toolchain.Name, nil
}

// deviation returns a line about a build with another toolchain than the pinned one, which has other digests. It is empty if both are
// the same.
func deviation(used, pinned string) string {
	if used == pinned {
		return ""
	}
	return fmt.Sprintf("built with %s, but go.mod names %s: a build with %[2]s has other digests; to use it, set GOTOOLCHAIN=%[2]s", used, pinned)
}
