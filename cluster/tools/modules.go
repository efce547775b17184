// SPDX-License-Identifier: Apache-2.0

package tools

import (
	"maps"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

const modulePath = "github.com/crossplane-contrib/provider-kyma"

// A module is one folder below cluster/tools, with the binaries built from it.
type module struct {
	// folder is relative to cluster/tools.
	folder string
	// packages maps each binary to the package it is built from.
	packages map[Tool]string
	// ldflags are given to the linker besides -s -w.
	ldflags string
	// usually says how long a first build takes on two cores.
	usually string
}

func modules() []module {
	return slices.Concat(servers(), clients(), packages())
}

// servers are what a local control plane runs.
func servers() []module {
	return []module{{
		folder:   "etcd",
		packages: map[Tool]string{Etcd: "go.etcd.io/etcd/server/v3"},
		usually:  "20 seconds",
	}, {
		folder: "kubernetes",
		packages: map[Tool]string{
			KubeAPIServer:         "k8s.io/kubernetes/cmd/kube-apiserver",
			KubeControllerManager: "k8s.io/kubernetes/cmd/kube-controller-manager",
			KubeScheduler:         "k8s.io/kubernetes/cmd/kube-scheduler",
			Kubectl:               "k8s.io/kubernetes/cmd/kubectl",
		},
		// Without them the server calls itself v0.0.0-master, and charts with a
		// kubeVersion refuse it.
		ldflags: "-X k8s.io/component-base/version.gitVersion=" + KubernetesVersion +
			" -X k8s.io/component-base/version.gitMajor=1" +
			" -X k8s.io/component-base/version.gitMinor=36",
		usually: "5 minutes",
	}, {
		folder:   "kwok",
		packages: map[Tool]string{Kwok: "sigs.k8s.io/kwok/cmd/kwok"},
		usually:  "30 seconds",
	}}
}

// clients are run by the tests and by the Makefile.
func clients() []module {
	return []module{{
		folder:   "helm",
		packages: map[Tool]string{Helm: "helm.sh/helm/v3/cmd/helm"},
		usually:  "1 minute",
	}, {
		folder:   "crane",
		packages: map[Tool]string{Crane: "github.com/google/go-containerregistry/cmd/crane"},
		usually:  "5 seconds",
	}, {
		folder:   "oras",
		packages: map[Tool]string{Oras: "oras.land/oras/cmd/oras"},
		usually:  "30 seconds",
	}, {
		folder:   "cosign",
		packages: map[Tool]string{Cosign: "github.com/sigstore/cosign/v3/cmd/cosign"},
		usually:  "2 minutes",
	}, {
		folder:   "golangci-lint",
		packages: map[Tool]string{GolangCILint: "github.com/golangci/golangci-lint/v2/cmd/golangci-lint"},
		usually:  "1 minute",
	}}
}

// packages are Crossplane, and what is installed into it.
func packages() []module {
	return []module{{
		folder:   "crossplane",
		packages: map[Tool]string{Crossplane: "github.com/crossplane/crossplane/v2/cmd/crossplane"},
		// Without it packages that ask for a version of Crossplane are refused.
		ldflags: "-X github.com/crossplane/crossplane-runtime/v2/pkg/version.version=v2.4.0",
		usually: "5 minutes",
	}, {
		// The command that users call crossplane. Its last release inside the
		// repository of Crossplane is older than the core.
		folder:   "crank",
		packages: map[Tool]string{Crank: "github.com/crossplane/crossplane/v2/cmd/crank"},
		ldflags:  "-X github.com/crossplane/crossplane-runtime/v2/pkg/version.version=v2.2.1",
		usually:  "3 minutes",
	}, {
		folder:   "function-patch-and-transform",
		packages: map[Tool]string{FunctionPatchAndTransform: FunctionPatchAndTransformModule},
		usually:  "1 minute",
	}, {
		folder:   "function-auto-ready",
		packages: map[Tool]string{FunctionAutoReady: FunctionAutoReadyModule},
		usually:  "1 minute",
	}}
}

func moduleOf(t Tool) (module, error) {
	for _, m := range modules() {
		if _, ok := m.packages[t]; ok {
			return m, nil
		}
	}
	return module{}, errors.Errorf("no tool is called %q: the tools are %q", t, All())
}

// tools returns the binaries of a module, sorted by name.
func (m module) tools() []Tool {
	return slices.Sorted(maps.Keys(m.packages))
}
