// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/bundle"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/compose"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

func TestPrunes(t *testing.T) {
	a, b, c := configMap("a"), configMap("b"), crd("as.g")
	marked := func(part object.PartID, ref cluster.ObjectRef) inventory.Entry {
		en := applied(part, ref)
		en.Pruned = true
		return en
	}
	web, db := install("web", "1"), install("db", "1")
	shares := map[object.PartID]inventory.Part{"db": {Shared: []string{"as.g"}}}
	cases := map[string]struct {
		reason     string
		parts      []bundle.Part
		records    map[object.PartID]inventory.Part
		entries    []inventory.Entry
		components []*compose.Component
		want       []ObjectAction
	}{
		"AtRest": {reason: "The objects of parts at rest stay.", parts: []bundle.Part{web}, entries: []inventory.Entry{applied("web", a)}},
		"Wanted": {reason: "The objects of a component stay.", parts: []bundle.Part{web}, entries: []inventory.Entry{applied("web", a)}, components: []*compose.Component{component(web, a)}},
		"Outgrown": {
			reason: "Objects that a component dropped are pruned.", parts: []bundle.Part{web, db},
			entries: []inventory.Entry{applied("web", a), applied("web", b), applied("db", configMap("c"))}, components: []*compose.Component{component(web, a)},
			want: []ObjectAction{{Part: "web", Ref: b, Verb: Prune}},
		},
		"AllOutgrown": {
			reason: "A component may have dropped all its objects.", parts: []bundle.Part{web}, entries: []inventory.Entry{applied("web", a)},
			components: []*compose.Component{component(web)}, want: []ObjectAction{{Part: "web", Ref: a, Verb: Prune}},
		},
		"PartLeft": {
			reason: "The objects of a part that left the bundle are pruned.", parts: []bundle.Part{web},
			entries: []inventory.Entry{applied("web", a), applied("db", b)}, want: []ObjectAction{{Part: "db", Ref: b, Verb: Prune}},
		},
		"Marked": {
			reason: "Objects that were marked as pruned are pruned, regardless of their part.", parts: []bundle.Part{web},
			entries: []inventory.Entry{marked("web", a), marked("db", b)},
			want:    []ObjectAction{{Part: "web", Ref: a, Verb: Prune}, {Part: "db", Ref: b, Verb: Prune}},
		},
		"HandedOver": {
			reason: "A CRD that another part shares belongs to that part once its own part leaves.", parts: []bundle.Part{db}, records: shares,
			entries: []inventory.Entry{applied("web", c)}, want: []ObjectAction{{Part: "web", Ref: c, Verb: HandOver, Heir: "db"}},
		},
		"HandedOverByComponent": {
			reason: "A CRD that its part drops belongs to the part that shares it, even if it was marked as pruned.", parts: []bundle.Part{web, db}, records: shares,
			entries: []inventory.Entry{marked("web", c)}, components: []*compose.Component{component(web)},
			want: []ObjectAction{{Part: "web", Ref: c, Verb: HandOver, Heir: "db"}},
		},
		"MarkedWithoutHeir": {
			reason: "A CRD that is marked as pruned is not handed over later.", parts: []bundle.Part{db}, records: shares,
			entries: []inventory.Entry{marked("web", c)}, want: []ObjectAction{{Part: "web", Ref: c, Verb: Prune}},
		},
		"OnlyCRDs": {
			reason: "Only CRDs have an heir.", parts: []bundle.Part{db}, records: map[object.PartID]inventory.Part{"db": {Shared: []string{"a"}}},
			entries: []inventory.Entry{applied("web", a)}, want: []ObjectAction{{Part: "web", Ref: a, Verb: Prune}},
		},
		"NotItsOwnHeir": {
			reason: "A part does not hand over a CRD to itself.", parts: []bundle.Part{db}, records: shares, components: []*compose.Component{component(db)},
			entries: []inventory.Entry{applied("db", c)}, want: []ObjectAction{{Part: "db", Ref: c, Verb: Prune}},
		},
		"ResourceLeft": {
			reason: "The custom resource belongs to its users once the bundle no longer has one.", parts: []bundle.Part{web},
			entries: []inventory.Entry{applied(object.PartResource, a)}, want: []ObjectAction{{Part: object.PartResource, Ref: a, Verb: Orphan}},
		},
		"OtherResource": {
			reason: "A custom resource that was replaced by another belongs to its users.", parts: []bundle.Part{{Name: object.PartResource}},
			entries: []inventory.Entry{applied(object.PartResource, a)}, components: []*compose.Component{component(bundle.Part{Name: object.PartResource}, b)},
			want: []ObjectAction{{Part: object.PartResource, Ref: a, Verb: Orphan}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := Prunes(tc.parts, &inventory.Inventory{Parts: tc.records, Objects: tc.entries}, tc.components...)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nPrunes(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
