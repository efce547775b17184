// SPDX-License-Identifier: Apache-2.0

package tools

import (
	"context"
	"encoding/json"
	"path/filepath"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// ModuleDir returns the directory in the module cache with the source of a Go module, at the version that a tool is built
// from. It downloads the module if necessary. Charts and configurations in Go modules are read this way, without a
// download of their own.
func ModuleDir(ctx context.Context, t Tool, path string) (string, error) {
	m, err := moduleOf(t)
	if err != nil {
		return "", err
	}
	return sourceOf(ctx, m.dir, path)
}

// sourceOf returns the directory with the source of a Go module that the go.mod in a directory of this package requires.
func sourceOf(ctx context.Context, dir, path string) (string, error) {
	root, err := Root()
	if err != nil {
		return "", err
	}
	out, err := goCommand(ctx, filepath.Join(root, "cluster", "tools", dir), nil, "mod", "download", "-json", path)
	if err != nil {
		return "", errors.Wrapf(err, "cannot download the source of %q", path)
	}
	var got struct {
		Dir   string `json:"Dir"`
		Error string `json:"Error"`
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		return "", errors.Wrapf(err, "cannot parse the output of go for %q", path)
	}
	if got.Error != "" || got.Dir == "" {
		return "", errors.Errorf("cannot download the source of %q: %s", path, got.Error)
	}
	return got.Dir, nil
}
