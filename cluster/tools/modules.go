// SPDX-License-Identifier: Apache-2.0

package tools

import (
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

const modulePath = "github.com/crossplane-contrib/provider-kyma"

// A module is a directory below cluster/tools with a go.mod, and the binaries that are built from it. The tools of a
// module share their dependencies, which are compiled once.
type module struct {
	// dir is relative to cluster/tools.
	dir string
	// order lists the tools. The tool with the most packages is first.
	order []Tool
	// packages are the import paths of the tools.
	packages map[Tool]string
	// ldflags are linker flags in addition to -s -w.
	ldflags map[Tool]string
	// files are the names of binaries that differ from the names of the tools. Servers use the name of their binary as a field manager.
	files map[Tool]string
	// usually is the typical duration of the first build of a tool on two cores, after the tools before it in order.
	// Tools that take only seconds have no entry.
	usually map[Tool]string
}

func modules() []module {
	return []module{servers(), crossplane(), crank(), patchAndTransform(), autoReady(), clients(), linter()}
}

// servers returns the module of the Kubernetes servers, kubectl, etcd and kwok, which share the Kubernetes libraries of
// the API server.
func servers() module {
	version := kubernetesVersion(KubernetesVersion)
	return module{
		dir:   "servers",
		order: []Tool{KubeAPIServer, KubeControllerManager, KubeScheduler, Kubectl, Etcd, Kwok},
		packages: map[Tool]string{
			KubeAPIServer:         "k8s.io/kubernetes/cmd/kube-apiserver",
			KubeControllerManager: "k8s.io/kubernetes/cmd/kube-controller-manager",
			KubeScheduler:         "k8s.io/kubernetes/cmd/kube-scheduler",
			Kubectl:               "k8s.io/kubernetes/cmd/kubectl",
			Etcd:                  "go.etcd.io/etcd/server/v3",
			Kwok:                  "sigs.k8s.io/kwok/cmd/kwok",
		},
		ldflags: map[Tool]string{KubeAPIServer: version, KubeControllerManager: version, KubeScheduler: version, Kubectl: version},
		usually: map[Tool]string{KubeAPIServer: "3 to 6 minutes", KubeControllerManager: "1 to 2 minutes"},
	}
}

// kubernetesVersion returns the linker flags for a version of Kubernetes. Without them, the server reports version v0.0.0-master, and
// charts with a kubeVersion reject it.
func kubernetesVersion(version string) string {
	parts := strings.Split(version, ".")
	const variable = "-X k8s.io/component-base/version."
	return variable + "gitVersion=" + version + " " + variable + "gitMajor=1 " + variable + "gitMinor=" + parts[1]
}

// crossplaneVersion is the linker flag for the version of Crossplane. Without it, Crossplane rejects packages that
// require a version.
const crossplaneVersion = "-X github.com/crossplane/crossplane-runtime/v2/pkg/version.version="

// crossplane returns the module of Crossplane, which uses the same libraries as the provider (see TestSharedVersions).
func crossplane() module {
	return module{
		dir:      "crossplane",
		order:    []Tool{Crossplane},
		packages: map[Tool]string{Crossplane: "github.com/crossplane/crossplane/v2/cmd/crossplane"},
		ldflags:  map[Tool]string{Crossplane: crossplaneVersion + CrossplaneVersion},
		usually:  map[Tool]string{Crossplane: "2 minutes"},
	}
}

// crank returns the module of Crossplane's command line, at the last release in the repository of Crossplane. It is older
// than the core and so needs its own go.mod. The release in the separate repository compiles twice as many packages.
func crank() module {
	return module{
		dir:      "crank",
		order:    []Tool{Crank},
		packages: map[Tool]string{Crank: "github.com/crossplane/crossplane/v2/cmd/crank"},
		ldflags:  map[Tool]string{Crank: crossplaneVersion + "v2.2.1"},
		usually:  map[Tool]string{Crank: "1 minute"},
	}
}

// patchAndTransform returns the module of function-patch-and-transform. It builds only with old libraries, and its newer
// versions cannot be downloaded.
func patchAndTransform() module {
	return module{
		dir:      string(FunctionPatchAndTransform),
		order:    []Tool{FunctionPatchAndTransform},
		packages: map[Tool]string{FunctionPatchAndTransform: FunctionPatchAndTransformModule},
		usually:  map[Tool]string{FunctionPatchAndTransform: "1 minute"},
	}
}

// autoReady returns the module of function-auto-ready. It needs an older controller-runtime than the provider, and shares
// its other libraries.
func autoReady() module {
	return module{
		dir:      string(FunctionAutoReady),
		order:    []Tool{FunctionAutoReady},
		packages: map[Tool]string{FunctionAutoReady: FunctionAutoReadyModule},
	}
}

// clients returns the module of the third-party programs that the tests compare with.
func clients() module {
	return module{
		dir:   "clients",
		order: []Tool{Helm, Cosign, Oras, Crane},
		packages: map[Tool]string{
			Helm:   "helm.sh/helm/v3/cmd/helm",
			Crane:  "github.com/google/go-containerregistry/cmd/crane",
			Oras:   "oras.land/oras/cmd/oras",
			Cosign: "github.com/sigstore/cosign/v3/cmd/cosign",
		},
		usually: map[Tool]string{Helm: "1 minute", Cosign: "2 minutes"},
	}
}

// linter returns the module of golangci-lint with the Kubernetes rules for API types (see kubeapilinter in
// .golangci.yml), built from the main package that includes these rules.
func linter() module {
	return module{
		dir:      "golangci-lint",
		order:    []Tool{GolangCILint},
		packages: map[Tool]string{GolangCILint: "sigs.k8s.io/kube-api-linter/cmd/golangci-lint-kube-api-linter"},
		usually:  map[Tool]string{GolangCILint: "1 minute"},
	}
}

func moduleOf(t Tool) (module, error) {
	for _, m := range known() {
		if slices.Contains(m.order, t) {
			return m, nil
		}
	}
	return module{}, errors.Errorf("unknown tool %q: must be one of %q", t, All())
}
