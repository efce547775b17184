// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/bundle"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

func TestSelect(t *testing.T) {
	a, b := configMap("a"), configMap("b")
	failed := func(event inventory.Event) inventory.Part {
		return inventory.Part{Run: &inventory.Run{Event: event, Inputs: "1", Recorded: true, Over: true, Failed: "hook failed"}}
	}
	inv := func(web inventory.Part, entries ...inventory.Entry) *inventory.Inventory {
		return &inventory.Inventory{Parts: map[object.PartID]inventory.Part{"web": web}, Objects: entries}
	}
	both := map[cluster.ObjectRef]cluster.ObjectState{a: live(), b: live()}
	pruned := applied("web", b)
	pruned.Pruned = true
	added := desired("web", b)
	type want struct {
		Due              []object.PartID
		HookFailures     map[object.PartID]string
		Drifted, Repairs map[cluster.ObjectRef]bool
	}
	cases := map[string]struct {
		reason string
		in     Input
		want   want
	}{
		"Nothing": {
			reason: "Without an inventory, all parts are due, in the order of the bundle.",
			in:     Input{Parts: []bundle.Part{install("web", "1"), install("db", "1")}},
			want:   want{Due: []object.PartID{"web", "db"}},
		},
		"AtRest": {
			reason: "A part that is as it was applied stays at rest.",
			in:     Input{Inventory: inv(inventory.Part{Digest: "1"}, applied("web", a)), Objects: both},
		},
		"OtherInputs": {
			reason: "Other inputs must be applied.",
			in:     Input{Inventory: inv(inventory.Part{Digest: "0"}, applied("web", a)), Objects: both},
			want:   want{Due: []object.PartID{"web"}},
		},
		"NeverApplied": {
			reason: "An interrupted call did not apply an object.",
			in:     Input{Inventory: inv(inventory.Part{Digest: "1"}, applied("web", a), inventory.EntryOf(&added)), Objects: both},
			want:   want{Due: []object.PartID{"web"}},
		},
		"Pruned": {
			reason: "A pruned object does not need a plan of its part, even if it no longer exists.",
			in: Input{
				Inventory: inv(inventory.Part{Digest: "1"}, applied("web", a), pruned), Objects: map[cluster.ObjectRef]cluster.ObjectState{a: live()},
			},
		},
		"Drift": {
			reason: "A missing object is repaired.",
			in:     Input{Inventory: inv(inventory.Part{Digest: "1"}, applied("web", a))},
			want:   want{Due: []object.PartID{"web"}, Drifted: map[cluster.ObjectRef]bool{a: true}, Repairs: map[cluster.ObjectRef]bool{a: true}},
		},
		"DriftReported": {
			reason: "The policy ignores drift.",
			in:     Input{Inventory: inv(inventory.Part{Digest: "1"}, applied("web", a)), Drift: bundle.DriftReport},
			want:   want{Drifted: map[cluster.ObjectRef]bool{a: true}},
		},
		"DriftPaused": {
			reason: "An object that is deleted repeatedly must wait, but the others do not.",
			in: Input{
				Inventory: inv(inventory.Part{Digest: "1"}, paused("web", a), applied("web", b)), Now: time.Unix(0, 0),
			},
			want: want{
				Due: []object.PartID{"web"}, Drifted: map[cluster.ObjectRef]bool{a: true, b: true}, Repairs: map[cluster.ObjectRef]bool{b: true},
			},
		},
		"Denied": {
			reason: "The state of an object that may not be read is unknown.",
			in: Input{
				Inventory: inv(inventory.Part{Digest: "1"}, applied("web", a)), Denied: map[cluster.ObjectRef]error{a: errors.New("forbidden")},
			},
		},
		"HookFailed": {
			reason: "A hook failed before the objects were applied.",
			in:     Input{Inventory: inv(failed("pre-install"))},
			want:   want{HookFailures: map[object.PartID]string{"web": "hook failed"}},
		},
		"HookFailedBefore": {
			reason: "Objects that were not applied before a hook failed do not count.",
			in:     Input{Inventory: inv(failed("pre-install"), applied("web", a))},
			want: want{
				HookFailures: map[object.PartID]string{"web": "hook failed"}, Drifted: map[cluster.ObjectRef]bool{a: true}, Repairs: map[cluster.ObjectRef]bool{a: true},
			},
		},
		"HookFailedAfter": {
			reason: "A hook failed after the objects were applied, and there is no drift.",
			in:     Input{Inventory: inv(failed("post-install"), applied("web", a)), Objects: both},
			want:   want{HookFailures: map[object.PartID]string{"web": "hook failed"}},
		},
		"HookFailedAndDrifted": {
			reason: "Drift is repaired if a hook failed after the objects were applied.",
			in:     Input{Inventory: inv(failed("post-install"), applied("web", a))},
			want:   want{Due: []object.PartID{"web"}, Drifted: map[cluster.ObjectRef]bool{a: true}, Repairs: map[cluster.ObjectRef]bool{a: true}},
		},
		"Retried": {
			reason: "Another retry token requests another attempt.",
			in:     Input{Inventory: inv(failed("pre-install")), Retry: "again"},
			want:   want{Due: []object.PartID{"web"}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			in := tc.in
			in.Now = time.Unix(0, 0)
			if in.Parts == nil {
				in.Parts = []bundle.Part{install("web", "1")}
			}
			s := Select(in)
			got := want{HookFailures: s.HookFailures, Drifted: s.Drifted, Repairs: s.Repairs}
			for _, d := range s.Due {
				got.Due = append(got.Due, d.Part.Name)
				if diff := cmp.Diff(s.Inventory.Parts[d.Part.Name], d.Record); diff != "" {
					t.Errorf("\n%s\nthe record of %s: -want, +got:\n%s", tc.reason, d.Part.Name, diff)
				}
			}
			if diff := cmp.Diff(tc.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("\n%s\nSelect(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
