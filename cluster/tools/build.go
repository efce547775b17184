// SPDX-License-Identifier: Apache-2.0

package tools

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// A build puts the binaries of one module into one folder of the user's cache.
type build struct {
	module module
	// source is the folder of the go.mod to build from.
	source string
	// dir is the folder that holds the finished binaries, named by their hash.
	dir string
}

func newBuild(ctx context.Context, root string, m module) (*build, error) {
	cache, err := cacheDir()
	if err != nil {
		return nil, err
	}
	b := &build{module: m, source: filepath.Join(root, "cluster", "tools", m.folder)}
	hash, err := b.hash(ctx)
	if err != nil {
		return nil, err
	}
	b.dir = filepath.Join(cache, hash)
	return b, nil
}

// cacheDir is the same on every system, unlike os.UserCacheDir, so that the
// documentation can name it.
func cacheDir() (string, error) {
	if dir := os.Getenv("XDG_CACHE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "provider-kyma"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", errors.Wrap(err, "cannot find a cache folder: set XDG_CACHE_HOME or HOME")
	}
	return filepath.Join(home, ".cache", "provider-kyma"), nil
}

// hash covers everything that decides the content of the binaries.
func (b *build) hash(ctx context.Context) (string, error) {
	toolchain, err := goCommand(ctx, b.source, "env", "GOVERSION")
	if err != nil {
		return "", err
	}
	h := sha256.New()
	_, _ = fmt.Fprintln(h, toolchain, runtime.GOOS, runtime.GOARCH, b.module.ldflags, b.module.packages)
	for _, name := range []string{"go.mod", "go.sum"} {
		data, err := os.ReadFile(filepath.Join(b.source, name)) //nolint:gosec // A file of this repository.
		if err != nil {
			return "", errors.Wrapf(err, "cannot read %s of the tool", name)
		}
		_, _ = fmt.Fprintln(h, name, len(data))
		_, _ = h.Write(data)
	}
	return hex.EncodeToString(h.Sum(nil))[:16], nil
}

// ensure builds the binaries unless they are there already.
func (b *build) ensure(ctx context.Context) error {
	if b.complete() {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(b.dir), 0o755); err != nil { //nolint:gosec // A cache folder holds no secrets.
		return errors.Wrap(err, "cannot make the cache folder")
	}
	unlock, err := lock(ctx, b.dir+".lock")
	if err != nil {
		return err
	}
	defer unlock()
	// Another process may have built them while this one waited.
	if b.complete() {
		return nil
	}
	return b.run(ctx)
}

func (b *build) complete() bool {
	for _, t := range b.module.tools() {
		if _, err := os.Stat(filepath.Join(b.dir, string(t))); err != nil {
			return false
		}
	}
	return true
}

// run builds into a folder beside the final one, and publishes it by rename, so
// that nobody ever sees half a binary.
func (b *build) run(ctx context.Context) error {
	tmp, err := os.MkdirTemp(filepath.Dir(b.dir), filepath.Base(b.dir)+".tmp-")
	if err != nil {
		return errors.Wrap(err, "cannot make a build folder")
	}
	defer func() { _ = os.RemoveAll(tmp) }()
	if err := os.Chmod(tmp, 0o755); err != nil { //nolint:gosec // A cache folder holds no secrets.
		return errors.Wrap(err, "cannot open the build folder for reading")
	}

	names := fmt.Sprint(b.module.tools())
	sayf("building %s with %s, which usually takes %s the first time", names, runtime.Version(), b.module.usually)
	begin := time.Now()
	args := []string{"build", "-trimpath", "-ldflags", strings.TrimSpace("-s -w " + b.module.ldflags), "-o", b.output(tmp)}
	for _, t := range b.module.tools() {
		args = append(args, b.module.packages[t])
	}
	if _, err := goCommand(ctx, b.source, args...); err != nil {
		return err
	}
	if err := os.RemoveAll(b.dir); err != nil {
		return errors.Wrap(err, "cannot remove an incomplete build")
	}
	if err := os.Rename(tmp, b.dir); err != nil {
		return errors.Wrap(err, "cannot publish the binaries")
	}
	sayf("built %s in %s", names, time.Since(begin).Round(time.Second))
	return nil
}

// output names the file of a single binary, because go names some after a
// folder ("server" for etcd), and the folder of several.
func (b *build) output(dir string) string {
	if len(b.module.packages) > 1 {
		return dir + string(filepath.Separator)
	}
	return filepath.Join(dir, string(b.module.tools()[0]))
}

// goCommand runs the go command in a folder and returns what it printed.
func goCommand(ctx context.Context, dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	// Flags, workspaces and cross-compilation of the caller are not for tools.
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-mod=readonly", "GOWORK=off",
		"GOOS="+runtime.GOOS, "GOARCH="+runtime.GOARCH)
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return "", errors.Wrapf(err, "go %s in %q: %s", args[0], dir, lastLines(stderr.String()))
	}
	return strings.TrimSpace(stdout.String()), nil
}

// lastLines returns the end of an output on one line.
func lastLines(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return strings.Join(lines[max(0, len(lines)-5):], "; ")
}

func sayf(format string, args ...any) {
	_, _ = fmt.Fprintf(os.Stderr, "tools: "+format+"\n", args...)
}
