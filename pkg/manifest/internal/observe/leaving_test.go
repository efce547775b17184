// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/bundle"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

// A world is what a test case changes: a bundle of one install with one ConfigMap, which is applied and ready.
type world struct {
	in  Input
	rec inventory.Part
	en  inventory.Entry
	obj cluster.ObjectState
	// last is the reason why the last step stopped.
	last inventory.Reasons
}

var ref = cluster.ObjectRef{Kind: "ConfigMap", Namespace: "apps", Name: "web"}

func newWorld() *world {
	return &world{
		in:  Input{Parts: []bundle.Part{{Name: "web", Digest: "new"}}, Now: time.Unix(1_700_000_000, 0)},
		rec: inventory.Part{Digest: "new", Version: "1.0.0"},
		en:  inventory.Entry{Version: "v1", Kind: "ConfigMap", Namespace: "apps", Name: "web", Part: "web", UID: "1", Owned: "mine"},
		obj: cluster.ObjectState{UID: "1", Owned: "mine", Status: cluster.Current},
	}
}

// input returns the input of the observation. A function can remove the object.
func (w *world) input() Input {
	w.in.Inventory = &inventory.Inventory{Parts: map[object.PartID]inventory.Part{"web": w.rec}, Objects: []inventory.Entry{w.en}, Last: &w.last}
	w.in.Objects = map[cluster.ObjectRef]cluster.ObjectState{ref: w.obj}
	return w.in
}

func TestObserveLeaving(t *testing.T) {
	cases := map[string]struct {
		reason string
		run    *inventory.Run
		last   inventory.Reasons
		want   string
	}{
		"Removed": {reason: "A part that the bundle no longer contains is removed.", want: "Processing old: is being removed"},
		"Waiting": {reason: "The message says what the removal waits for.", last: inventory.Reasons{Waiting: "waits"}, want: "Processing old: waits"},
		"Refused": {reason: "A refused request is an error.", last: inventory.Reasons{Waiting: "waits", Pruning: "forbidden"}, want: "Error old: forbidden"},
		"Blocked": {reason: "A failed hook that blocks the removal takes precedence.", run: &inventory.Run{Event: "pre-delete", Over: true, Failed: "no"}, last: inventory.Reasons{Pruning: "forbidden"}, want: "Error old: no"},
		"Hook":    {reason: "A hook that runs before the removal failed.", run: &inventory.Run{Event: "pre-delete", Over: true, Failed: "no"}, want: "Error old: no"},
		"After":   {reason: "A hook that fails after the removal does not block it.", run: &inventory.Run{Event: "post-delete", Over: true, Failed: "no"}, want: "Processing old: is being removed"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			w.last = tc.last
			in := w.input()
			in.Inventory.Parts["old"] = inventory.Part{Digest: "x", Run: tc.run}
			in.Inventory.Parts["older"] = inventory.Part{Digest: "x"}
			in.Inventory.Objects = append(in.Inventory.Objects, inventory.Entry{Version: "v1", Kind: "ConfigMap", Name: "old", Part: "old", UID: "2"})
			got := Observe(in)
			if diff := cmp.Diff(tc.want, string(got.State)+" "+got.Message); diff != "" || got.UpToDate || got.Total != 1 || len(got.Parts) != 1 {
				t.Errorf("\n%s\n%+v\n-want, +got:\n%s", tc.reason, got, diff)
			}
		})
	}
}
