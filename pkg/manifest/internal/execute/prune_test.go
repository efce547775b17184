// SPDX-License-Identifier: Apache-2.0

package execute

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/bundle"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/plan"
)

func TestMarkLeaving(t *testing.T) {
	a, b, c := configMap("a"), configMap("b"), crd("as.g")
	type want struct {
		Entries []string
		Parts   []object.PartID
		// Left are the parts of the entries, and Digests those of the records.
		Left    map[string]object.PartID
		Digests map[object.PartID]string
	}
	cases := map[string]struct {
		reason  string
		parts   []bundle.Part
		records map[object.PartID]inventory.Part
		entries []inventory.Entry
		want    want
	}{
		"Nothing": {
			reason: "Objects that the parts of the bundle contain stay.",
			parts:  []bundle.Part{install("web", "1")}, records: map[object.PartID]inventory.Part{"web": {Digest: "1"}}, entries: []inventory.Entry{applied("web", a)},
			want: want{Left: map[string]object.PartID{a.String(): "web"}, Digests: map[object.PartID]string{"web": "1"}},
		},
		"PartLeft": {
			reason: "Objects of a part that the bundle no longer contains are pruned. The part is applied again if it comes back.",
			parts:  []bundle.Part{install("web", "1")}, records: map[object.PartID]inventory.Part{"web": {}, "db": {Digest: "1"}},
			entries: []inventory.Entry{applied("web", a), applied("db", b)},
			want: want{
				Entries: []string{b.String()}, Parts: []object.PartID{"db"}, Left: map[string]object.PartID{a.String(): "web", b.String(): "db"},
				Digests: map[object.PartID]string{"web": "", "db": ""},
			},
		},
		"HandedOver": {
			reason: "A CRD that another part also contains belongs to that part from then on, which is applied again.",
			parts:  []bundle.Part{install("web", "1")}, records: map[object.PartID]inventory.Part{"web": {Digest: "1", Shared: []string{"as.g"}}, "db": {Digest: "1"}},
			entries: []inventory.Entry{applied("db", c)},
			want:    want{Parts: []object.PartID{"db"}, Left: map[string]object.PartID{c.String(): "web"}, Digests: map[object.PartID]string{"web": "", "db": ""}},
		},
		"ResourceLeft": {
			reason: "The custom resource belongs to its users once the bundle has none.",
			parts:  []bundle.Part{install("web", "1")}, records: map[object.PartID]inventory.Part{"web": {Digest: "1"}, object.PartResource: {Digest: "1"}},
			entries: []inventory.Entry{applied(object.PartResource, a)},
			want:    want{Parts: []object.PartID{object.PartResource}, Left: map[string]object.PartID{}, Digests: map[object.PartID]string{"web": "1", object.PartResource: ""}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			p := newProgress(&plan.Plan{Parts: tc.parts, Inventory: &inventory.Inventory{Parts: tc.records, Objects: tc.entries}})
			p.markLeaving()
			what := p.doomed()
			got := want{Parts: what.Parts, Left: map[string]object.PartID{}, Digests: map[object.PartID]string{}}
			for i := range what.Entries {
				got.Entries = append(got.Entries, what.Entries[i].Ref().String())
			}
			for i := range p.inventory.Objects {
				got.Left[p.inventory.Objects[i].Ref().String()] = p.inventory.Objects[i].Part
			}
			for name, rec := range p.inventory.Parts {
				got.Digests[name] = rec.Digest
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nmarkLeaving(): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestMarkPruned(t *testing.T) {
	a, b := configMap("a"), configMap("b")
	p := begin([]inventory.Entry{applied("web", a), applied("web", b), applied("db", configMap("c"))}, component(install("web", "1"), a))
	p.markPruned(p.components[0])
	got := map[string]bool{}
	for i := range p.inventory.Objects {
		got[p.inventory.Objects[i].Name] = p.inventory.Objects[i].Pruned
	}
	if diff := cmp.Diff(map[string]bool{"a": false, "b": true, "c": false}, got); diff != "" {
		t.Errorf("markPruned(...): -want, +got:\n%s", diff)
	}
}
