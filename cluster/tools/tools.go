// SPDX-License-Identifier: Apache-2.0

package tools

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// A Tool is a binary that this package can build, by its file name.
type Tool string

// The tools, at the versions that the go.mod files beside this package pin.
const (
	Etcd                  Tool = "etcd"
	KubeAPIServer         Tool = "kube-apiserver"
	KubeControllerManager Tool = "kube-controller-manager"
	KubeScheduler         Tool = "kube-scheduler"
	Kubectl               Tool = "kubectl"
	Kwok                  Tool = "kwok"
	Helm                  Tool = "helm"
	Crane                 Tool = "crane"
	Oras                  Tool = "oras"
	Cosign                Tool = "cosign"
	GolangCILint          Tool = "golangci-lint"
	Crossplane            Tool = "crossplane"
	// Crank is the command line of Crossplane, and Crossplane its servers.
	Crank                     Tool = "crank"
	FunctionPatchAndTransform Tool = "function-patch-and-transform"
	FunctionAutoReady         Tool = "function-auto-ready"
)

// The modules of the functions, whose folder package is a package of Crossplane
// (see ModuleDir).
const (
	FunctionPatchAndTransformModule = "github.com/crossplane-contrib/function-patch-and-transform"
	FunctionAutoReadyModule         = "github.com/crossplane/function-auto-ready"
)

// KubernetesVersion is what the built API server answers as its gitVersion.
const KubernetesVersion = "v1.36.3"

// All returns every tool, sorted by name.
func All() []Tool {
	var all []Tool
	for _, m := range modules() {
		for t := range m.packages {
			all = append(all, t)
		}
	}
	slices.Sort(all)
	return all
}

// Path returns the absolute path of the binary of a tool. It builds the tool
// first when this user has not built it yet, together with the other binaries of
// the same module, and says so on stderr. Any number of processes may call it
// at once: one builds, the others wait for it, or until ctx is done.
func Path(ctx context.Context, t Tool) (string, error) {
	m, err := moduleOf(t)
	if err != nil {
		return "", err
	}
	root, err := Root()
	if err != nil {
		return "", err
	}
	b, err := newBuild(ctx, root, m)
	if err != nil {
		return "", errors.Wrapf(err, "cannot build %q", t)
	}
	if err := b.ensure(ctx); err != nil {
		return "", errors.Wrapf(err, "cannot build %q", t)
	}
	return filepath.Join(b.dir, string(t)), nil
}

// Root returns the root folder of this repository: the nearest folder, from the
// working directory upwards, whose go.mod is that of the provider.
func Root() (string, error) {
	wd, err := os.Getwd()
	if err != nil {
		return "", errors.Wrap(err, "cannot find the working directory")
	}
	for dir := wd; ; dir = filepath.Dir(dir) {
		// A folder without a go.mod, or with a nested module's, is passed over.
		data, err := os.ReadFile(filepath.Join(dir, "go.mod")) //nolint:gosec // The file is only compared.
		if err == nil && strings.HasPrefix(string(data), "module "+modulePath+"\n") {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", errors.Errorf("%q is not inside a clone of %s", wd, modulePath)
		}
	}
}
