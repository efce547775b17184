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
	// Crank is the command line of Crossplane, which users call crossplane, and
	// Crossplane its servers.
	Crank                     Tool = "crank"
	FunctionPatchAndTransform Tool = "function-patch-and-transform"
	FunctionAutoReady         Tool = "function-auto-ready"
)

// The modules of the functions, whose directory package is a package of Crossplane
// (see ModuleDir).
const (
	FunctionPatchAndTransformModule = "github.com/crossplane-contrib/function-patch-and-transform"
	FunctionAutoReadyModule         = "github.com/crossplane/function-auto-ready"
)

// What the servers answer as their version. Those of Kubernetes and Crossplane are
// given to the linker.
const (
	KubernetesVersion = "v1.36.3"
	EtcdVersion       = "v3.6.14"
	CrossplaneVersion = "v2.4.0"
)

// All returns every tool, sorted by name.
func All() []Tool {
	var all []Tool
	for _, m := range modules() {
		all = append(all, m.order...)
	}
	slices.Sort(all)
	return all
}

// KubernetesServers returns what a cluster with controllers and a node runs.
func KubernetesServers() []Tool {
	return []Tool{Etcd, KubeAPIServer, KubeControllerManager, KubeScheduler, Kwok}
}

// CrossplaneServers returns what a control plane with Crossplane runs besides, with
// Crossplane's command line.
func CrossplaneServers() []Tool {
	return []Tool{Crossplane, Crank, FunctionPatchAndTransform, FunctionAutoReady}
}

// A NotBuiltError says that this user does not have a tool yet.
type NotBuiltError struct {
	Tool Tool
}

// Error names the tool and says how to build it.
func (e *NotBuiltError) Error() string {
	return "tool " + string(e.Tool) + " is not built: run make tools"
}

// Path returns the absolute path of the binary of a tool. It never builds one, because
// a build takes minutes and its callers wait: see Ensure. The error is a
// NotBuiltError when the tool has to be built first.
func Path(ctx context.Context, t Tool) (string, error) {
	m, err := moduleOf(t)
	if err != nil {
		return "", err
	}
	root, err := Root()
	if err != nil {
		return "", err
	}
	b, err := newBuild(ctx, root, m, t)
	if err != nil {
		return "", errors.Wrapf(err, "cannot find %q", t)
	}
	if !b.exists() {
		return "", &NotBuiltError{Tool: t}
	}
	return b.path(), nil
}

// Root returns the root directory of this repository: the nearest directory, from the
// working directory upwards, whose go.mod is that of the provider.
func Root() (string, error) {
	wd, err := os.Getwd()
	if err != nil {
		return "", errors.Wrap(err, "cannot find the working directory")
	}
	for dir := wd; ; dir = filepath.Dir(dir) {
		// A directory without a go.mod, or with a nested module's, is passed over.
		data, err := os.ReadFile(filepath.Join(dir, "go.mod")) //nolint:gosec // The file is only compared.
		if err == nil && strings.HasPrefix(string(data), "module "+modulePath+"\n") {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", errors.Errorf("%q is not inside a clone of %s", wd, modulePath)
		}
	}
}
