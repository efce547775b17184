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

// A Tool is the file name of a binary that this package can build.
type Tool string

// The tools have the versions that the go.mod files in the directories below this one pin.
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
	// Crank is the command line of Crossplane, which users run as crossplane. Crossplane is the binary of its servers.
	Crank                     Tool = "crank"
	FunctionPatchAndTransform Tool = "function-patch-and-transform"
	FunctionAutoReady         Tool = "function-auto-ready"
)

// These are the Go modules of the functions. Their subdirectories named package are Crossplane packages (see ModuleDir).
const (
	FunctionPatchAndTransformModule = "github.com/crossplane-contrib/function-patch-and-transform"
	FunctionAutoReadyModule         = "github.com/crossplane/function-auto-ready"
)

// These are the versions that the servers report. The linker sets those of Kubernetes and Crossplane.
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

// KubernetesServers returns the servers of a cluster with controllers and a node.
func KubernetesServers() []Tool {
	return []Tool{Etcd, KubeAPIServer, KubeControllerManager, KubeScheduler, Kwok}
}

// CrossplaneServers returns the tools that a control plane with Crossplane needs in addition, including Crossplane's
// command line.
func CrossplaneServers() []Tool {
	return []Tool{Crossplane, Crank, FunctionPatchAndTransform, FunctionAutoReady}
}

// A NotBuiltError reports a tool that this user does not have yet.
type NotBuiltError struct {
	Tool Tool
}

// Error returns a message that names the tool and the command that builds it.
func (e *NotBuiltError) Error() string {
	return "tool " + string(e.Tool) + " is not built: run make tools"
}

// Path returns the absolute path of the binary of a tool. It never builds a tool, because a build takes minutes and its
// callers wait; see Ensure. If the tool has not been built, the error is a *NotBuiltError.
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

// Root returns the root directory of this repository: the nearest directory, from the working directory upwards, with the
// go.mod of the provider.
func Root() (string, error) {
	wd, err := os.Getwd()
	if err != nil {
		return "", errors.Wrap(err, "cannot find the working directory")
	}
	for dir := wd; ; dir = filepath.Dir(dir) {
		// Skip directories without a go.mod or with that of a nested module.
		data, err := os.ReadFile(filepath.Join(dir, "go.mod")) //nolint:gosec // The file is only compared.
		if err == nil && strings.HasPrefix(string(data), "module "+modulePath+"\n") {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", errors.Errorf("%q is not inside a clone of %s", wd, modulePath)
		}
	}
}
