// SPDX-License-Identifier: Apache-2.0

package tools

import (
	"slices"
	"strings"

	"golang.org/x/mod/semver"
)

// olderVersions are the versions of Kubernetes with which make test-matrix tests target clusters, in addition to KubernetesVersion.
func olderVersions() []string { return []string{"v1.34.4", "v1.35.4"} }

// olderCrossplane is the version of Crossplane that make test-matrix tests, in addition to CrossplaneVersion.
const olderCrossplane = "v2.3.0"

// Older returns the name of a server in an older minor version, such as kube-apiserver-1.34.
func Older(t Tool, minor string) Tool { return t + Tool("-"+minor) }

// older returns the modules of the servers of older versions. They are not part of All, because only make test-matrix needs them.
func older() []module {
	var out []module
	for _, version := range olderVersions() {
		minor := strings.TrimPrefix(semver.MajorMinor(version), "v")
		m := module{dir: "servers-" + minor, packages: map[Tool]string{}, ldflags: map[Tool]string{}, files: map[Tool]string{}, usually: map[Tool]string{}}
		for _, t := range []Tool{KubeAPIServer, KubeControllerManager, KubeScheduler} {
			name := Older(t, minor)
			m.order = append(m.order, name)
			m.packages[name] = "k8s.io/kubernetes/cmd/" + string(t)
			m.ldflags[name] = kubernetesVersion(version)
			m.files[name], m.usually[name] = string(t), servers().usually[t]
		}
		out = append(out, m)
	}
	minor := strings.TrimPrefix(semver.MajorMinor(olderCrossplane), "v")
	name := Older(Crossplane, minor)
	return append(out, module{
		dir: string(name), order: []Tool{name}, packages: map[Tool]string{name: crossplane().packages[Crossplane]},
		ldflags: map[Tool]string{name: crossplaneVersion + olderCrossplane}, usually: map[Tool]string{name: crossplane().usually[Crossplane]},
	})
}

// known returns all modules.
func known() []module { return slices.Concat(modules(), older()) }
