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
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ownership"
)

// component returns the component of a part with some objects.
func component(p bundle.Part, refs ...cluster.ObjectRef) *compose.Component {
	c := &compose.Component{Part: &p, Purpose: compose.Advance}
	for _, ref := range refs {
		c.Objects = append(c.Objects, desired(p.Name, ref))
	}
	return c
}

func TestIntend(t *testing.T) {
	ref := configMap("a")
	legitimate, contended := ownership.Ceded{Path: "f:a", Manager: "hpa"}, ownership.Ceded{Path: "f:b", Manager: "other", Since: 1}
	if legitimate.Contended() || !contended.Contended() {
		t.Fatal("the table needs one field of each sort")
	}
	record := inventory.Part{Digest: "1", Namespace: "apps"}
	known := map[object.PartID]inventory.Part{"web": record}
	with := func(part object.PartID, change func(en *inventory.Entry)) inventory.Entry {
		en := applied(part, ref)
		change(&en)
		return en
	}
	both := []ownership.Ceded{legitimate, contended}
	o := desired("web", ref)
	type want struct {
		Entry     inventory.Entry
		Restarted map[cluster.ObjectRef]bool
		Save      bool
	}
	none := map[cluster.ObjectRef]bool{}
	cases := map[string]struct {
		reason  string
		was     map[object.PartID]inventory.Part
		entries []inventory.Entry
		record  inventory.Part
		purpose compose.Purpose
		want    want
	}{
		"First": {
			reason: "A part without a record is saved first.", entries: []inventory.Entry{applied("web", ref)}, record: record,
			want: want{Entry: applied("web", ref), Restarted: none, Save: true},
		},
		"NewObject": {
			reason: "An object gets an entry before it is created.", was: known, record: record,
			want: want{Entry: inventory.EntryOf(&o), Restarted: none, Save: true},
		},
		"Known": {
			reason: "A repair of known objects needs no save.", was: known, entries: []inventory.Entry{applied("web", ref)}, record: record,
			purpose: compose.Repair, want: want{Entry: applied("web", ref), Restarted: none},
		},
		"OtherInputs": {
			reason: "The recorded inputs are no longer in the cluster.", was: known, entries: []inventory.Entry{applied("web", ref)},
			record: inventory.Part{Namespace: "apps"}, want: want{Entry: applied("web", ref), Restarted: none, Save: true},
		},
		"OtherObject": {
			reason: "It is unknown which form of a changed object the cluster has until its outcome is saved, even if the part was already changing.",
			was:    map[object.PartID]inventory.Part{"web": {}}, purpose: compose.Advance,
			entries: []inventory.Entry{with("web", func(en *inventory.Entry) { en.Intent = "old" })},
			want:    want{Entry: with("web", func(en *inventory.Entry) { en.Intent = inventory.IntentUnknown }), Restarted: none, Save: true},
		},
		"OtherObjectAgain": {
			reason: "A call that continues needs no save.", was: map[object.PartID]inventory.Part{"web": {}}, purpose: compose.Advance,
			entries: []inventory.Entry{with("web", func(en *inventory.Entry) { en.Intent = inventory.IntentUnknown })},
			want:    want{Entry: with("web", func(en *inventory.Entry) { en.Intent = inventory.IntentUnknown }), Restarted: none},
		},
		"Moved": {
			reason: "The new place of a release is saved first.", was: known, entries: []inventory.Entry{applied("web", ref)},
			record: inventory.Part{Digest: "1", Namespace: "other"}, want: want{Entry: applied("web", ref), Restarted: none, Save: true},
		},
		"FromOtherPart": {
			reason: "An object that another part no longer contains belongs to the part that contains it now.", was: known, record: record,
			entries: []inventory.Entry{with("db", func(en *inventory.Entry) { en.Pruned = true })},
			want:    want{Entry: applied("web", ref), Restarted: none},
		},
		"Contended": {
			reason: "Other inputs end a contention. Legitimately ceded fields stay ceded.", purpose: compose.Advance, was: map[object.PartID]inventory.Part{"web": {}},
			entries: []inventory.Entry{with("web", func(en *inventory.Entry) { en.Ceded = both })},
			want: want{
				Entry:     with("web", func(en *inventory.Entry) { en.Ceded, en.Intent = []ownership.Ceded{legitimate}, "" }),
				Restarted: map[cluster.ObjectRef]bool{ref: true},
			},
		},
		"Repair": {
			reason: "A repair continues a contention.", was: known, record: record, purpose: compose.Repair,
			entries: []inventory.Entry{with("web", func(en *inventory.Entry) { en.Ceded = both })},
			want:    want{Entry: with("web", func(en *inventory.Entry) { en.Ceded = both }), Restarted: none},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := component(install("web", "1"), ref)
			c.Record, c.Purpose = tc.record, tc.purpose
			was := &inventory.Inventory{Parts: tc.was, Objects: tc.entries}
			inv := was.Clone()
			var got want
			got.Restarted, got.Save = Intend(inv, []*compose.Component{c})
			got.Entry = *inv.Find(ref)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nIntend(...): -want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.record, inv.Parts["web"]); diff != "" {
				t.Errorf("\n%s\nrecord: -want, +got:\n%s", tc.reason, diff)
			}
			if len(both) != 2 || both[1] != contended {
				t.Errorf("\n%s\nIntend(...) changed what a copy of the inventory shares: %+v", tc.reason, both)
			}
		})
	}
}
