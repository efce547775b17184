// SPDX-License-Identifier: Apache-2.0

package crossplane

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/cluster/tools"
)

// These are the names of the packages of this repository, and of their files without .xpkg.
const (
	ProviderPackage      = "provider-kyma"
	ConfigurationPackage = "configuration-kyma"
)

// BuildPackages builds the packages of this repository for this platform into a directory, with the program that make
// uses, and returns the digests by package name. version is the version that the provider reports.
func BuildPackages(ctx context.Context, dir, version string) (map[string]string, error) {
	root, err := tools.Root()
	if err != nil {
		return nil, err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, errors.Wrap(err, "cannot determine the directory for packages")
	}
	program := filepath.Join(dir, ".images")
	defer func() { _ = os.Remove(program) }()
	if err := tools.Compile(ctx, tools.Program{Dir: root, Package: "./cluster/images", Output: program}); err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, program,
		"-dir="+dir, "-version="+version, "-platforms="+runtime.GOOS+"/"+runtime.GOARCH, "xpkg")
	cmd.Dir = root
	out, err := cmd.CombinedOutput()
	if err != nil {
		return nil, errors.Wrapf(err, "cannot build the packages: %s", strings.TrimSpace(string(out)))
	}
	digests := map[string]string{}
	for line := range strings.Lines(string(out)) {
		if name, digest, ok := strings.Cut(strings.TrimSpace(line), " "); ok && strings.HasPrefix(digest, "sha256:") {
			digests[name] = digest
		}
	}
	return digests, nil
}
