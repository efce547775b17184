// SPDX-License-Identifier: Apache-2.0

package image

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/cluster/tools"
)

// variables is the package whose variables the linker sets.
const variables = "github.com/crossplane-contrib/provider-kyma/internal/version"

// A Platform is an operating system and an architecture.
type Platform struct {
	OS, Arch string
}

// String returns the platform in the form linux/amd64.
func (p Platform) String() string { return p.OS + "/" + p.Arch }

// Suffix returns the platform for names of files, in the form linux-amd64.
func (p Platform) Suffix() string { return p.OS + "-" + p.Arch }

// ParsePlatforms parses a list such as linux/amd64,linux/arm64.
func ParsePlatforms(s string) ([]Platform, error) {
	var out []Platform
	for one := range strings.SplitSeq(s, ",") {
		system, arch, ok := strings.Cut(strings.TrimSpace(one), "/")
		if !ok || system == "" || arch == "" || strings.Contains(arch, "/") {
			return nil, errors.Errorf("invalid platform %q: use the form linux/amd64", one)
		}
		out = append(out, Platform{OS: system, Arch: arch})
	}
	return out, nil
}

// A Source is what the binaries are compiled from.
type Source struct {
	// Root is the directory of the repository.
	Root string
	// Version and Commit are what the binaries print.
	Version, Commit string
}

// Compile builds a package of the module for a platform and returns the binary, which depends only on the sources and the
// toolchain.
func (s Source) Compile(ctx context.Context, pkg string, p Platform) ([]byte, error) {
	tmp, err := os.MkdirTemp("", "provider-kyma-build-")
	if err != nil {
		return nil, errors.Wrap(err, "cannot create a build directory")
	}
	defer func() { _ = os.RemoveAll(tmp) }()
	path := filepath.Join(tmp, "binary")
	err = tools.Compile(ctx, tools.Program{
		Dir: s.Root, Package: pkg, Output: path, GOOS: p.OS, GOARCH: p.Arch,
		LDFlags: "-X " + variables + ".Version=" + s.Version + " -X " + variables + ".Commit=" + s.Commit,
	})
	if err != nil {
		return nil, errors.Wrapf(err, "platform %s", p)
	}
	data, err := os.ReadFile(path) //nolint:gosec // It was just built.
	return data, errors.Wrap(err, "cannot read the binary")
}
