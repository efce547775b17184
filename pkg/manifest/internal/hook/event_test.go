// SPDX-License-Identifier: Apache-2.0

package hook

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/internal/render/record"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
)

func TestOrder(t *testing.T) {
	h := func(name, kind string, weight int, events ...string) record.Hook {
		return record.Hook{Name: name, Kind: kind, Weight: weight, Events: events}
	}
	cases := map[string]struct {
		reason string
		hooks  []record.Hook
		event  inventory.Event
		want   []string
	}{
		"Weight": {
			reason: "Lower weights run first, including negative ones.",
			hooks:  []record.Hook{h("a", "Job", 5, "pre-install"), h("b", "Job", 0, "pre-install"), h("c", "Job", -5, "pre-install")},
			event:  inventory.PreInstall, want: []string{"c", "b", "a"},
		},
		"Name": {
			reason: "Hooks of equal weight are sorted by name, regardless of their kind.",
			hooks:  []record.Hook{h("b", "ConfigMap", 0, "pre-install"), h("a", "Job", 0, "pre-install")},
			event:  inventory.PreInstall, want: []string{"a", "b"},
		},
		"Kind": {
			reason: "Hooks with the same name keep the rendered order of their kinds.",
			hooks:  []record.Hook{h("a", "ServiceAccount", 0, "pre-install"), h("a", "Job", 0, "pre-install")},
			event:  inventory.PreInstall, want: []string{"a", "a"},
		},
		"Events": {
			reason: "A hook of several events runs at each of them. A hook of another event does not run.",
			hooks:  []record.Hook{h("a", "Job", 0, "pre-install", "post-upgrade"), h("b", "Job", 0, "pre-install")},
			event:  inventory.PostUpgrade, want: []string{"a"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, h := range order(tc.hooks, tc.event) {
				got = append(got, h.Name)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
