// SPDX-License-Identifier: Apache-2.0

package record

import "helm.sh/helm/v3/pkg/release"

// A Hook is an object that Helm creates at a point in the lifecycle of a release. Test hooks are included.
type Hook struct {
	Name           string
	Kind           string
	Path           string // path of the template, e.g. mychart/templates/hook.yaml
	Manifest       string
	Events         []string // e.g. pre-install
	Weight         int
	DeletePolicies []string // e.g. before-hook-creation
}

func hooksOf(rel *release.Release) []Hook {
	var out []Hook
	for _, h := range rel.Hooks {
		if h != nil {
			out = append(out, newHook(h))
		}
	}
	return out
}

func newHook(h *release.Hook) Hook {
	out := Hook{Name: h.Name, Kind: h.Kind, Path: h.Path, Manifest: h.Manifest, Weight: h.Weight}
	for _, e := range h.Events {
		out.Events = append(out.Events, string(e))
	}
	for _, p := range h.DeletePolicies {
		out.DeletePolicies = append(out.DeletePolicies, string(p))
	}
	return out
}
