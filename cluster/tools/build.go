// SPDX-License-Identifier: Apache-2.0

package tools

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// A build builds the binary of one tool in the user's cache.
type build struct {
	tool   Tool
	module module
	// source is the directory with the go.mod of the module.
	source string
	// dir is the directory of the binaries of the module. Its name is a hash of everything that determines their content.
	dir string
}

func newBuild(ctx context.Context, root string, m module, t Tool) (build, error) {
	cache, err := cacheDir()
	if err != nil {
		return build{}, err
	}
	b := build{tool: t, module: m, source: filepath.Join(root, "cluster", "tools", m.dir)}
	hash, err := b.hash(ctx)
	if err != nil {
		return build{}, err
	}
	b.dir = filepath.Join(cache, hash)
	return b, nil
}

// cacheDir returns the directory of the cache. Unlike os.UserCacheDir, it is the same on every system, so that the
// documentation can name it.
func cacheDir() (string, error) {
	if dir := os.Getenv("XDG_CACHE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "provider-kyma"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", errors.Wrap(err, "cannot find a cache directory: set XDG_CACHE_HOME or HOME")
	}
	return filepath.Join(home, ".cache", "provider-kyma"), nil
}

// hash returns a hash of everything that determines the content of the binary.
func (b build) hash(ctx context.Context) (string, error) {
	toolchain, err := goCommand(ctx, b.source, nil, "env", "GOVERSION")
	if err != nil {
		return "", err
	}
	h := sha256.New()
	_, _ = fmt.Fprintln(h, toolchain, runtime.GOOS, runtime.GOARCH, b.module.ldflags[b.tool], b.module.packages[b.tool])
	for _, name := range []string{"go.mod", "go.sum"} {
		data, err := os.ReadFile(filepath.Join(b.source, name)) //nolint:gosec // A file of this repository.
		if err != nil {
			return "", errors.Wrapf(err, "cannot read the %s of the tool", name)
		}
		_, _ = fmt.Fprintln(h, name, len(data))
		_, _ = h.Write(data)
	}
	return hex.EncodeToString(h.Sum(nil))[:16], nil
}

// path returns the path of the binary, which may not exist.
func (b build) path() string {
	return filepath.Join(b.dir, cmp.Or(b.module.files[b.tool], string(b.tool)))
}

func (b build) exists() bool {
	_, err := os.Stat(b.path())
	return err == nil
}

// run builds the binary, unless another process built it while this one waited for the lock. All builds of a user share
// one lock, because two concurrent builds would compile the same packages twice.
func (b build) run(ctx context.Context) error {
	if err := os.MkdirAll(b.dir, 0o755); err != nil { //nolint:gosec // A cache directory holds no secrets.
		return errors.Wrap(err, "cannot create the cache directory")
	}
	unlock, err := lock(ctx, filepath.Join(filepath.Dir(b.dir), "lock"))
	if err != nil {
		return err
	}
	defer unlock()
	if b.exists() {
		return nil
	}
	return b.publish(ctx)
}

// publish builds into a temporary directory and then renames the binary, so that no process runs an incomplete one. After
// an interrupt, the next build continues with the packages in Go's build cache.
func (b build) publish(ctx context.Context) error {
	tmp, err := os.MkdirTemp(b.dir, ".build-")
	if err != nil {
		return errors.Wrap(err, "cannot create a build directory")
	}
	defer func() { _ = os.RemoveAll(tmp) }()
	output := filepath.Join(tmp, string(b.tool))
	err = Compile(ctx, Program{Dir: b.source, Package: b.module.packages[b.tool], LDFlags: b.module.ldflags[b.tool], Output: output})
	if err != nil {
		return err
	}
	return errors.Wrap(os.Rename(output, b.path()), "cannot move the binary into the cache")
}
