// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/bundle"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/compose"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

func TestCRDChanges(t *testing.T) {
	ref := crd("as.g")
	same, older := applied("web", ref), applied("web", ref)
	older.Intent = "old"
	o := desired("web", ref)
	added := inventory.EntryOf(&o)
	exists := map[cluster.ObjectRef]cluster.ObjectState{ref: live()}
	type want struct {
		Ref   cluster.ObjectRef
		Entry inventory.Entry
		Known bool
	}
	cases := map[string]struct {
		reason  string
		entries []inventory.Entry
		objects map[cluster.ObjectRef]cluster.ObjectState
		repairs map[cluster.ObjectRef]bool
		want    []want
	}{
		"New":         {reason: "A new CRD may exist already.", want: []want{{Ref: ref}}},
		"Unchanged":   {reason: "An unchanged CRD needs no check.", entries: []inventory.Entry{same}, objects: exists},
		"Changed":     {reason: "A changed CRD needs a check.", entries: []inventory.Entry{older}, objects: exists, want: []want{{ref, older, true}}},
		"Repaired":    {reason: "A repaired CRD needs a check.", entries: []inventory.Entry{same}, repairs: map[cluster.ObjectRef]bool{ref: true}, want: []want{{ref, same, true}}},
		"Interrupted": {reason: "An interrupted call created the CRD.", entries: []inventory.Entry{added}, objects: exists, want: []want{{ref, added, true}}},
		"NeverSent":   {reason: "An interrupted call may have created the CRD.", entries: []inventory.Entry{added}, want: []want{{Ref: ref, Entry: added}}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := &Draft{
				Selection:  &Selection{Input: Input{Inventory: &inventory.Inventory{Objects: tc.entries}, Objects: tc.objects}, Repairs: tc.repairs},
				Components: []*compose.Component{{Objects: []object.Desired{desired("web", configMap("a")), o}}},
			}
			var got []want
			for _, change := range d.CRDChanges() {
				got = append(got, want{Ref: change.Object.Ref, Entry: change.Entry, Known: change.Known})
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nCRDChanges(): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestRefusals(t *testing.T) {
	a, b := crd("as.g"), crd("bs.g")
	parts := []bundle.Part{install("web", "1"), install("db", "1"), install("ui", "1")}
	component := func(part int, purpose compose.Purpose, refs ...cluster.ObjectRef) *compose.Component {
		c := &compose.Component{Part: &parts[part], Purpose: purpose}
		for _, ref := range refs {
			c.Objects = append(c.Objects, desired(parts[part].Name, ref))
		}
		return c
	}
	invalid := map[cluster.ObjectRef]error{a: errors.New("invalid")}
	spared := Decision{Part: "web", Hindrance: Spared, Reason: "CustomResourceDefinition as.g: drift is not repaired: invalid"}
	type want struct {
		Decisions Decisions
		Blocks    bool
	}
	cases := map[string]struct {
		reason     string
		components []*compose.Component
		refused    map[cluster.ObjectRef]error
		used       []inventory.Entry
		want       want
	}{
		"None": {reason: "No CRD is refused.", components: []*compose.Component{component(0, compose.Advance, a)}},
		"Repair": {
			reason:     "A CRD that cannot be repaired is skipped and does not block anything.",
			components: []*compose.Component{component(0, compose.Repair, a), component(1, compose.Advance)}, refused: invalid,
			want: want{Decisions: Decisions{spared}},
		},
		"Used": {
			reason:     "A CRD of another owner that can no longer be used is not about a repair.",
			components: []*compose.Component{component(0, compose.Repair, a), component(1, compose.Advance)}, refused: invalid,
			used: []inventory.Entry{{Group: a.Group, Kind: a.Kind, Name: a.Name, Use: &inventory.Use{}}},
			want: want{Decisions: Decisions{{Part: "web", Hindrance: Spared, Reason: "CustomResourceDefinition as.g: invalid"}}},
		},
		"Advance": {
			reason:     "The other components wait, except repairs.",
			components: []*compose.Component{component(0, compose.Advance), component(1, compose.Advance, a), component(2, compose.Repair)}, refused: invalid,
			want: want{Blocks: true, Decisions: Decisions{
				{Part: "db", Hindrance: Dropped, Reason: "CustomResourceDefinition as.g: invalid"},
				{Part: "web", Hindrance: Blocked, Reason: "web is waiting for CustomResourceDefinition as.g of db to be applied"},
			}},
		},
		"Both": {
			reason:     "The others wait for the first refused CRD. Failed components do not wait.",
			components: []*compose.Component{component(0, compose.Repair, a), component(1, compose.Advance, b), component(2, compose.Advance, crd("cs.g"))},
			refused:    map[cluster.ObjectRef]error{a: errors.New("invalid"), b: errors.New("no version"), crd("cs.g"): errors.New("no scope")},
			want: want{Blocks: true, Decisions: Decisions{
				spared, {Part: "db", Hindrance: Dropped, Reason: "CustomResourceDefinition bs.g: no version"},
				{Part: "ui", Hindrance: Dropped, Reason: "CustomResourceDefinition cs.g: no scope"},
			}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := want{}
			got.Decisions, got.Blocks = (&Draft{
				Selection: &Selection{Input: Input{Inventory: &inventory.Inventory{Objects: tc.used}}}, Components: tc.components,
			}).refusals(tc.refused)
			if diff := cmp.Diff(tc.want, got, cmpopts.IgnoreFields(Decision{}, "Err")); diff != "" {
				t.Errorf("\n%s\nrefusals(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
