// SPDX-License-Identifier: Apache-2.0

package boundary

import "strings"

const module = "github.com/crossplane-contrib/provider-kyma"

// A room is a directory with what lies below it. A package belongs to the room
// with the longest matching path.
type room struct {
	path string
	// floor orders the rooms: a package imports rooms of a lower floor, or its own.
	floor int
	// unaware lists rooms that this one must not import although they are lower.
	unaware []string
}

// rooms are all rooms that the repository may have.
func rooms() []room {
	return append([]room{
		{path: "internal/version", floor: 0},
		{path: "internal/notfound", floor: 0},
		{path: "internal/yamlsize", floor: 0},
		{path: "internal/metrics", floor: 1, unaware: []string{"apis"}},
		{path: "package/crds", floor: 0},
		// What the engine and a connection to a cluster have in common.
		{path: "pkg/cluster", floor: 0},
		{path: "apis", floor: 10},
		{path: "internal/oci", floor: 20, unaware: []string{"apis"}},
		{path: "internal/ocm", floor: 20, unaware: []string{"apis"}},
		{path: "internal/render", floor: 20, unaware: []string{"apis"}},
		{path: "internal/crdcheck", floor: 20, unaware: []string{"apis"}},
		{path: "internal/cosign", floor: 30, unaware: []string{"apis"}},
		// The engine and the packages that build modules read directories in the same way.
		{path: "internal/pack", floor: 30, unaware: []string{"apis"}},
		// What identifies a source is the same for the provider and for users of the library.
		{path: "internal/source/digest", floor: 30, unaware: []string{"apis"}},
		// The engine in layers: fields, objects, and what is decided and sent by them.
		{path: "pkg/manifest/internal/advice", floor: 1, unaware: []string{"apis"}},
		{path: "pkg/manifest/internal/text", floor: 1, unaware: []string{"apis"}},
		{path: "pkg/manifest/internal/fieldset", floor: 1, unaware: []string{"apis"}},
		{path: "pkg/manifest/internal/immutable", floor: 2, unaware: []string{"apis"}},
		{path: "pkg/manifest/internal/unions", floor: 2, unaware: []string{"apis"}},
		{path: "pkg/manifest/internal/object", floor: 3, unaware: []string{"apis"}},
		{path: "pkg/manifest/internal/health", floor: 4, unaware: []string{"apis"}},
		{path: "pkg/manifest/internal/ownership", floor: 4, unaware: []string{"apis"}},
		{path: "pkg/manifest/internal/ssa", floor: 5, unaware: []string{"apis"}},
		{path: "pkg/manifest/internal/inventory", floor: 6, unaware: []string{"apis"}},
		{path: "pkg/manifest/source", floor: 32, unaware: []string{"apis"}},
		{path: "pkg/manifest/internal/bundle", floor: 34, unaware: []string{"apis"}},
		{path: "pkg/manifest/internal/hook", floor: 34, unaware: []string{"apis"}},
		{path: "pkg/manifest/internal/release", floor: 35, unaware: []string{"apis"}},
		{path: "pkg/manifest/internal/compose", floor: 36, unaware: []string{"apis"}},
		{path: "pkg/manifest/internal/observe", floor: 36, unaware: []string{"apis"}},
		{path: "pkg/manifest/internal/inspect", floor: 37, unaware: []string{"apis"}},
		{path: "pkg/manifest/internal/apply", floor: 36, unaware: []string{"apis"}},
		{path: "pkg/manifest/internal/plan", floor: 37, unaware: []string{"apis"}},
		{path: "pkg/manifest/internal/teardown", floor: 38, unaware: []string{"apis"}},
		{path: "pkg/manifest/internal/execute", floor: 39, unaware: []string{"apis"}},
		// The API server of tests, which no other code may import.
		{path: "pkg/manifest/internal/fakeapi", floor: 41, unaware: []string{"apis"}},
		// The engine is a public library and knows no custom resource of ours.
		{path: "pkg/manifest", floor: 40, unaware: []string{"apis"}},
		// A connection to a cluster knows nothing of what is installed through it.
		{path: "internal/target", floor: 50, unaware: []string{"pkg/manifest"}},
		{path: "internal/source", floor: 50},
		{path: "internal/module", floor: 60},
		{path: "pkg/cluster/connect", floor: 60, unaware: []string{"apis"}},
		{path: "internal/controller", floor: 70, unaware: []string{"internal/cli"}},
		{path: "internal/cli", floor: 70},
		{path: "cmd", floor: 80},
		// An operator of another client has the public packages only.
		{path: "examples/operator", floor: 80, unaware: []string{"apis", "internal"}},
	}, append(commandRooms(), testRooms()...)...)
}

// testRooms are the local control plane and the tests. They may import everything, and no other room imports them.
func testRooms() []room {
	return []room{
		{path: "hack", floor: 90},
		{path: "cluster/tools", floor: 90},
		{path: "test/controlplane", floor: 100},
		{path: "cluster/images", floor: 110},
		{path: "cluster/local", floor: 110},
		{path: "test", floor: 110},
	}
}

// commandRooms are those of kymactl: what all commands have in common, what a control plane has, waiting for it, and the commands.
func commandRooms() []room {
	return []room{
		{path: "internal/cli/command", floor: 61},
		{path: "internal/cli/lookup", floor: 62},
		{path: "internal/cli/argument", floor: 62},
		{path: "internal/cli/catalog", floor: 63},
		{path: "internal/cli/await", floor: 64},
		{path: "internal/cli/complete", floor: 64},
		{path: "internal/cli/module/file", floor: 65},
		{path: "internal/cli/module/flags", floor: 65},
		{path: "internal/cli/module/key", floor: 65},
		{path: "internal/cli/module/open", floor: 65},
		{path: "internal/cli/module/summary", floor: 65},
		{path: "internal/cli/module/verify", floor: 65},
		{path: "internal/cli/module/create", floor: 66},
		{path: "internal/cli/module/enable", floor: 66},
		{path: "internal/cli/module/inspect", floor: 66},
		{path: "internal/cli/module/list", floor: 66},
		{path: "internal/cli/module/sign", floor: 66},
		{path: "internal/cli/module/template", floor: 66},
		{path: "internal/cli/module/transfer", floor: 66},
		{path: "internal/cli/kyma", floor: 66},
		{path: "internal/cli/manifest", floor: 66},
		{path: "internal/cli/controlplane", floor: 66},
		{path: "internal/cli/version", floor: 66},
		{path: "internal/cli/module", floor: 67},
	}
}

// A library may be imported below some directories only.
type library struct {
	prefix  string
	allowed []string
	// tests may import it anywhere.
	tests bool
}

func libraries() []library {
	return []library{
		{prefix: "github.com/google/go-containerregistry", allowed: []string{"internal/oci", "cluster/images", "test"}},
		{prefix: "helm.sh/helm", allowed: []string{"internal/render", "test"}},
		{prefix: "sigs.k8s.io/kustomize", allowed: []string{"internal/render", "test"}},
		{prefix: "github.com/gardener/component-spec", allowed: []string{"internal/ocm", "test"}},
		{prefix: "github.com/prometheus/client_golang", allowed: []string{"internal/metrics"}, tests: true},
		{prefix: "github.com/onsi/ginkgo", allowed: []string{"test"}},
		{prefix: "github.com/onsi/gomega", allowed: []string{"test"}},
		{prefix: "github.com/stretchr/testify"},
	}
}

// below says whether a slash-separated path is a directory or lies in it.
func below(path, folder string) bool {
	return path == folder || strings.HasPrefix(path, folder+"/")
}

func belowAny(path string, folders []string) bool {
	for _, f := range folders {
		if below(path, f) {
			return true
		}
	}
	return false
}

// roomOf returns the room of a package, given by its path in the module.
func roomOf(path string) (room, bool) {
	var found room
	for _, r := range rooms() {
		if below(path, r.path) && len(r.path) > len(found.path) {
			found = r
		}
	}
	return found, found.path != ""
}

// allows reports whether a package may import the library.
func (l *library) allows(from string, test bool) bool {
	return belowAny(from, l.allowed) || test && l.tests
}

// fault says what is wrong with an import, or nothing. from is a path in the
// module, to is an import path. A test may also start the local control plane,
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
	target, ok := roomOf(to)
	if !ok {
		return "it is in no room: see rooms.go"
	}
	own, ok := roomOf(from)
	switch {
	case !ok:
		return "the importing package is in no room: see rooms.go"
	case test && forTests(from, to, target.path):
		return ""
	case belowAny(to, own.unaware):
		return own.path + " must not know " + target.path
	case own.path == target.path, target.floor < own.floor:
		return ""
	}
	return own.path + " is a lower room than " + target.path + ", or beside it"
}

// forTests reports whether a test may import a package of a higher room: the servers that it starts, the tools that build
// them, the command line for a test of a command, and the public packages, which examples show together and which make what a
// connection is tested with.
func forTests(from, to, room string) bool {
	if to == "internal/cli" {
		return below(from, "internal/cli")
	}
	return room == "test/controlplane" || room == "cluster/tools" || below(to, "pkg")
}
