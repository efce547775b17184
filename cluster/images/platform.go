// SPDX-License-Identifier: Apache-2.0

package main

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

// A platform is an operating system and an architecture.
type platform struct {
	os, arch string
}

func (p platform) String() string { return p.os + "/" + p.arch }

// parsePlatforms parses a list such as linux/amd64,linux/arm64.
func parsePlatforms(s string) ([]platform, error) {
	var out []platform
	for one := range strings.SplitSeq(s, ",") {
		system, arch, ok := strings.Cut(strings.TrimSpace(one), "/")
		if !ok || system == "" || arch == "" || strings.Contains(arch, "/") {
			return nil, errors.Errorf("invalid platform %q: use the form linux/amd64", one)
		}
		out = append(out, platform{os: system, arch: arch})
	}
	return out, nil
}

// compile builds a package of the module for a platform and returns the binary, which depends only on the sources and the
// toolchain.
func compile(ctx context.Context, o order, pkg string, p platform) ([]byte, error) {
	tmp, err := os.MkdirTemp("", "provider-kyma-build-")
	if err != nil {
		return nil, errors.Wrap(err, "cannot create a build directory")
	}
	defer func() { _ = os.RemoveAll(tmp) }()
	path := filepath.Join(tmp, "binary")
	err = tools.Compile(ctx, tools.Program{
		Dir: o.root, Package: pkg, Output: path, GOOS: p.os, GOARCH: p.arch,
		LDFlags: "-X " + variables + ".Version=" + o.version + " -X " + variables + ".Commit=" + o.commit,
	})
	if err != nil {
		return nil, errors.Wrapf(err, "platform %s", p)
	}
	data, err := os.ReadFile(path) //nolint:gosec // It was just built.
	return data, errors.Wrap(err, "cannot read the binary")
}
