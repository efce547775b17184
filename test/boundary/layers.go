// SPDX-License-Identifier: Apache-2.0

package boundary

import (
	"slices"
	"strings"
)

const module = "github.com/crossplane-contrib/provider-kyma"

// A layer is a directory with everything below it. A package belongs to the layer with the longest matching path.
type layer struct {
	path string
	// level orders the layers: a package may import layers of a lower level, and its own.
	level int
	// forbidden lists lower layers that this one must not import.
	forbidden []string
}

// layers returns all layers that the repository may have.
func layers() []layer {
	return append([]layer{
		{path: "apis", level: 10},
		{path: "internal/oci", level: 20, forbidden: []string{"apis"}},
		{path: "internal/ocm", level: 20, forbidden: []string{"apis"}},
		{path: "internal/render", level: 20, forbidden: []string{"apis"}},
		{path: "internal/crdcheck", level: 20, forbidden: []string{"apis"}},
		{path: "internal/cosign", level: 30, forbidden: []string{"apis"}},
		// The engine and the packages that build modules read directories in the same way.
		{path: "internal/pack", level: 30, forbidden: []string{"apis"}},
		// Sources are identified in the same way for the provider and for users of the library.
		{path: "internal/source/digest", level: 30, forbidden: []string{"apis"}},
		// The engine in layers: fields, objects, and the packages that decide and send.
		{path: "pkg/manifest/internal/advice", level: 1, forbidden: []string{"apis"}},
		{path: "pkg/manifest/internal/text", level: 1, forbidden: []string{"apis"}},
		{path: "pkg/manifest/internal/fieldset", level: 1, forbidden: []string{"apis"}},
		{path: "pkg/manifest/internal/immutable", level: 2, forbidden: []string{"apis"}},
		{path: "pkg/manifest/internal/unions", level: 2, forbidden: []string{"apis"}},
		{path: "pkg/manifest/internal/object", level: 3, forbidden: []string{"apis"}},
		{path: "pkg/manifest/internal/health", level: 4, forbidden: []string{"apis"}},
		{path: "pkg/manifest/internal/ownership", level: 4, forbidden: []string{"apis"}},
		{path: "pkg/manifest/internal/ssa", level: 5, forbidden: []string{"apis"}},
		{path: "pkg/manifest/internal/inventory", level: 6, forbidden: []string{"apis"}},
		{path: "pkg/manifest/source", level: 32, forbidden: []string{"apis"}},
		// Lets programs render in child processes.
		{path: "pkg/manifest/sandbox", level: 32, forbidden: []string{"apis"}},
		{path: "pkg/manifest/internal/bundle", level: 34, forbidden: []string{"apis"}},
		{path: "pkg/manifest/internal/hook", level: 34, forbidden: []string{"apis"}},
		{path: "pkg/manifest/internal/release", level: 35, forbidden: []string{"apis"}},
		{path: "pkg/manifest/internal/compose", level: 36, forbidden: []string{"apis"}},
		{path: "pkg/manifest/internal/observe", level: 36, forbidden: []string{"apis"}},
		{path: "pkg/manifest/internal/inspect", level: 37, forbidden: []string{"apis"}},
		{path: "pkg/manifest/internal/apply", level: 36, forbidden: []string{"apis"}},
		{path: "pkg/manifest/internal/plan", level: 37, forbidden: []string{"apis"}},
		// Only tests may import this API server.
		{path: "pkg/manifest/internal/fakeapi", level: 41, forbidden: []string{"apis"}},
		// The engine is a public library and knows no custom resource of ours.
		{path: "pkg/manifest", level: 40, forbidden: []string{"apis"}},
		{path: "internal/source", level: 50},
		{path: "internal/module", level: 60},
		{path: "internal/maintenance", level: 60},
		{path: "internal/rollout", level: 60},
		{path: "internal/catalogue", level: 65},
		{path: "internal/kymaset", level: 60},
		{path: "pkg/cluster/connect", level: 60, forbidden: []string{"apis"}},
		{path: "internal/cli", level: 70},
		{path: "cmd", level: 80},
		// An operator with another client has only the public packages.
		{path: "examples/operator", level: 80, forbidden: []string{"apis", "internal"}},
	}, slices.Concat(baseLayers(), stepLayers(), targetLayers(), controllerLayers(), commandLayers(), testLayers())...)
}

// baseLayers returns the packages that most others may import.
func baseLayers() []layer {
	return []layer{
		{path: "internal/version", level: 0},
		{path: "internal/bytelru", level: 1},
		{path: "internal/controller/lazylog", level: 70},
		{path: "internal/heaptest", level: -2},
		{path: "internal/decoding", level: -1},
		{path: "internal/fuzztest", level: -2},
		{path: "internal/compress", level: 0},
		{path: "internal/notfound", level: 0},
		{path: "internal/sendcheck", level: 0},
		{path: "internal/shard", level: 1, forbidden: []string{"apis"}},
		{path: "internal/panics", level: 0},
		{path: "internal/printable", level: 0, forbidden: []string{"apis"}},
		{path: "internal/netguard", level: 1, forbidden: []string{"apis"}},
		{path: "internal/yamlsize", level: 0},
		{path: "internal/metrics", level: 2, forbidden: []string{"apis"}},
		{path: "package/crds", level: 0},
		{path: "charts", level: 1, forbidden: []string{"apis"}},
		// The engine and a connection to a cluster share this package.
		{path: "pkg/cluster", level: 0},
	}
}

// stepLayers returns the steps of the engine, and what finds and undoes them.
func stepLayers() []layer {
	return []layer{
		{path: "pkg/manifest/internal/teardown", level: 38, forbidden: []string{"apis"}},
		{path: "pkg/manifest/internal/detach", level: 38, forbidden: []string{"apis"}},
		{path: "pkg/manifest/internal/rebuild", level: 38, forbidden: []string{"apis"}},
		{path: "pkg/manifest/internal/retract", level: 38, forbidden: []string{"apis"}},
		{path: "pkg/manifest/internal/execute", level: 39, forbidden: []string{"apis"}},
	}
}

// targetLayers returns the packages for a connection to a cluster, which know nothing of the content installed through it.
func targetLayers() []layer {
	content := []string{
		"pkg/manifest", "internal/source", "internal/oci", "internal/ocm", "internal/render", "internal/pack", "internal/crdcheck", "internal/cosign",
	}
	return []layer{
		{path: "internal/target/slots", level: 48, forbidden: content},
		{path: "internal/target/h2", level: 48, forbidden: content},
		{path: "internal/target/transport", level: 49, forbidden: content},
		{path: "internal/target/kubeconfig", level: 50, forbidden: content},
		{path: "internal/target/discovery", level: 50, forbidden: content},
		{path: "internal/target/mapper", level: 50, forbidden: content},
		{path: "internal/target/informer", level: 50, forbidden: content},
		{path: "internal/target/connection", level: 51, forbidden: content},
		{path: "internal/target", level: 52, forbidden: content},
	}
}

// controllerLayers returns the controllers, which do not know each other, and what they share.
func controllerLayers() []layer {
	out := []layer{
		{path: "internal/controller/events", level: 71},
		{path: "internal/controller/namespaces", level: 70},
		{path: "internal/controller/priority", level: 69},
		{path: "internal/controller/redact", level: 70},
		{path: "internal/controller/readyourwrites", level: 70},
		{path: "internal/controller/gitopstest", level: 70},
		{path: "internal/controller/noopupdate", level: 71},
		{path: "internal/controller/conditions", level: 70},
		{path: "internal/controller/timeout", level: 70},
		{path: "internal/controller/sharding", level: 70},
		{path: "internal/controller/removal", level: 70},
		{path: "internal/controller/settings", level: 71},
		{path: "internal/controller/manifest/naming", level: 71},
		{path: "internal/controller/cached", level: 70},
		{path: "internal/controller/unmanaged", level: 72},
		{path: "internal/controller/config", level: 72},
		{path: "internal/controller/secrets", level: 73},
		{path: "internal/controller/kyma", level: 73},
		{path: "internal/controller/manifest/confine", level: 72},
		{path: "internal/controller/manifest/access", level: 72},
		{path: "internal/controller/manifest", level: 73},
		{path: "internal/controller/moduletemplate", level: 73},
		{path: "internal/controller/kymaset", level: 73},
		{path: "internal/controller/release", level: 74},
	}
	for i := range out {
		out[i].forbidden = []string{"internal/cli"}
	}
	return out
}

// testLayers returns the local control plane and the tests. They may import everything, and no other layer imports them.
func testLayers() []layer {
	return []layer{
		{path: "hack", level: 90},
		{path: "cluster/tools", level: 90},
		{path: "test/controlplane", level: 100},
		{path: "cluster/images", level: 110},
		{path: "cluster/release/archive", level: 110},
		{path: "cluster/release/chart", level: 115},
		{path: "cluster/release/krew", level: 110},
		{path: "cluster/release/manual", level: 110},
		{path: "cluster/release/notes", level: 110},
		{path: "cluster/release/provenance", level: 110},
		{path: "cluster/release/registry", level: 110},
		{path: "cluster/release/sbom", level: 110},
		{path: "cluster/release/signing", level: 110},
		{path: "cluster/release", level: 120},
		{path: "cluster/local", level: 110},
		{path: "test", level: 110},
	}
}

// commandLayers returns the layers of kymactl: what all commands share, what they read from a control plane, waiting for it,
// and the commands.
func commandLayers() []layer {
	return []layer{
		{path: "internal/cli/helptest", level: 60},
		{path: "internal/cli/command", level: 61},
		{path: "internal/cli/lookup", level: 62},
		{path: "internal/cli/argument", level: 62},
		{path: "internal/cli/catalog", level: 64},
		{path: "internal/cli/release", level: 63},
		{path: "internal/cli/apply", level: 65},
		{path: "internal/cli/await", level: 65},
		{path: "internal/cli/complete", level: 65},
		{path: "internal/cli/module/file", level: 66},
		{path: "internal/cli/module/flags", level: 66},
		{path: "internal/cli/module/key", level: 66},
		{path: "internal/cli/module/open", level: 66},
		{path: "internal/cli/module/summary", level: 66},
		{path: "internal/cli/module/verify", level: 66},
		{path: "internal/cli/module/create", level: 67},
		{path: "internal/cli/module/enable", level: 67},
		{path: "internal/cli/module/inspect", level: 67},
		{path: "internal/cli/module/list", level: 67},
		{path: "internal/cli/module/promote", level: 67},
		{path: "internal/cli/module/sign", level: 67},
		{path: "internal/cli/module/template", level: 67},
		{path: "internal/cli/module/transfer", level: 67},
		{path: "internal/cli/install", level: 67},
		{path: "internal/cli/rollout", level: 67},
		{path: "internal/cli/kyma", level: 67},
		{path: "internal/cli/manifest", level: 67},
		{path: "internal/cli/controlplane", level: 67},
		{path: "internal/cli/version", level: 67},
		{path: "internal/cli/module", level: 68},
	}
}

// A library is an external module that only some directories may import.
type library struct {
	prefix  string
	allowed []string
	// tests is true if any test may import the library.
	tests bool
}

func libraries() []library {
	return []library{
		{prefix: "github.com/google/go-containerregistry", allowed: []string{"internal/oci", "cluster/images", "cluster/release", "test"}},
		{prefix: "helm.sh/helm", allowed: []string{"internal/render", "test"}},
		{prefix: "sigs.k8s.io/kustomize", allowed: []string{"internal/render", "test"}},
		{prefix: "github.com/gardener/component-spec", allowed: []string{"internal/ocm", "test"}},
		{prefix: "github.com/crossplane-contrib/provider-kubernetes", allowed: []string{"internal/target"}},
		{prefix: "github.com/prometheus/client_golang", allowed: []string{"internal/metrics"}, tests: true},
		// The engine and a connection to a target do not use the client of the control plane.
		{prefix: "sigs.k8s.io/controller-runtime", allowed: []string{
			"apis", "cmd", "internal/cli", "internal/controller", "internal/module", "examples", "cluster", "test",
		}},
		{prefix: "github.com/yuin/gopher-lua", allowed: []string{"internal/controller/gitopstest"}},
		{prefix: "github.com/google/licenseclassifier", allowed: []string{"hack/licenses"}},
		{prefix: "github.com/rhysd/actionlint", allowed: []string{"test/workflows"}},
		{prefix: "golang.org/x/vuln", allowed: []string{"hack/vulncheck"}},
		{prefix: "github.com/onsi/ginkgo", allowed: []string{"test"}},
		{prefix: "github.com/onsi/gomega", allowed: []string{"test"}},
		{prefix: "github.com/stretchr/testify"},
	}
}

// below reports whether a slash-separated path is a directory or below it.
func below(path, parent string) bool {
	return path == parent || strings.HasPrefix(path, parent+"/")
}

func belowAny(path string, parents []string) bool {
	for _, f := range parents {
		if below(path, f) {
			return true
		}
	}
	return false
}

// layerOf returns the layer of a package, given by its path in the module.
func layerOf(path string) (layer, bool) {
	var found layer
	for _, r := range layers() {
		if below(path, r.path) && len(r.path) > len(found.path) {
			found = r
		}
	}
	return found, found.path != ""
}

// allows reports whether a package may import the library. test is true for an import in a test file.
func (l *library) allows(from string, test bool) bool {
	return belowAny(from, l.allowed) || test && l.tests
}

// fault returns what is wrong with an import, or an empty string. from is a path in
// the module, to is an import path. A test may also start the local control plane,
// and use the tools to build what it runs.
func fault(from, to string, test bool) string {
	for _, l := range libraries() {
		if below(to, l.prefix) && !l.allows(from, test) {
			return "only " + strings.Join(append(l.allowed, "no one else"), ", ") + " may import it"
		}
	}
	if !below(to, module) {
		return ""
	}
	to = strings.TrimPrefix(strings.TrimPrefix(to, module), "/")
	target, ok := layerOf(to)
	if !ok {
		return "it is in no layer: see layers.go"
	}
	own, ok := layerOf(from)
	switch {
	case !ok:
		return "the importing package is in no layer: see layers.go"
	case test && forTests(from, to, target.path):
		return ""
	case belowAny(to, own.forbidden):
		return own.path + " must not know " + target.path
	case own.path == target.path, target.level < own.level:
		return ""
	}
	return own.path + " is a lower layer than " + target.path + ", or beside it"
}

// forTests reports whether a test may import a package of a higher layer: the servers that it starts, the tools that build
// them, the command line for a test of a command, and the public packages, which examples combine. Tests below internal/target,
// like its code, must not know what is installed through a connection.
func forTests(from, to, layer string) bool {
	if to == "internal/cli" {
		return below(from, "internal/cli")
	}
	return layer == "test/controlplane" || layer == "cluster/tools" || below(to, "pkg") && !below(from, "internal/target")
}
