// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/bundle"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/compose"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

func TestAwaited(t *testing.T) {
	parts := []bundle.Part{{Name: object.PartCRDs, Digest: "1"}, install("web", "1"), install("db", "1"), install("ui", "1")}
	// planned returns the component of an install whose config says whether the following parts wait for it.
	planned := func(part int, wait bool) *compose.Component {
		return &compose.Component{Part: &parts[part], Record: inventory.Part{Wait: wait}}
	}
	applied, waits := inventory.Part{Digest: "1"}, inventory.Part{Digest: "1", Wait: true}
	type want struct {
		Ask  []object.PartID
		Hold *Hold
	}
	cases := map[string]struct {
		reason  string
		draft   Draft
		records map[object.PartID]inventory.Part
		want    want
	}{
		"None": {
			reason: "Without a config, nothing waits.", records: map[object.PartID]inventory.Part{"web": applied, "db": applied, "ui": applied},
		},
		"Recorded": {
			reason:  "Until the config is read, its recorded value counts.",
			records: map[object.PartID]inventory.Part{"web": waits, "db": applied, "ui": waits}, want: want{Ask: []object.PartID{"web", "ui"}},
		},
		"Config": {
			reason: "Once the config is read, it counts.", draft: Draft{waits: map[object.PartID]bool{"web": false, "db": true}},
			records: map[object.PartID]inventory.Part{"web": waits, "db": applied, "ui": applied}, want: want{Ask: []object.PartID{"db"}},
		},
		"Component": {
			reason:  "The config of a composed component takes precedence.",
			draft:   Draft{Components: []*compose.Component{planned(1, true), planned(2, false)}, waits: map[object.PartID]bool{"web": false, "db": true}},
			records: map[object.PartID]inventory.Part{"web": applied, "db": applied, "ui": applied}, want: want{Ask: []object.PartID{"web"}},
		},
		"Applying": {
			reason:  "An install that is being applied is not ready, so the following ones do not matter.",
			records: map[object.PartID]inventory.Part{"web": waits, "db": {Digest: "0", Wait: true}, "ui": waits},
			want:    want{Ask: []object.PartID{"web"}, Hold: &Hold{Install: "db", Reason: "still being applied"}},
		},
		"Failed": {
			reason:  "A failed install is not ready.",
			draft:   Draft{Decisions: Decisions{{Part: "web", Hindrance: Failed, Reason: "hook failed"}}},
			records: map[object.PartID]inventory.Part{"web": {Wait: true}, "db": waits, "ui": waits}, want: want{Hold: &Hold{Install: "web", Reason: "hook failed"}},
		},
		"FailedUnawaited": {
			reason:  "A failed install does not hold parts that do not wait for it.",
			draft:   Draft{Decisions: Decisions{{Part: "web", Hindrance: Failed, Reason: "hook failed"}}},
			records: map[object.PartID]inventory.Part{"web": {}, "db": waits, "ui": applied}, want: want{Ask: []object.PartID{"db"}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := tc.draft
			d.Selection = &Selection{Input: Input{Parts: parts, Inventory: &inventory.Inventory{Parts: tc.records}}}
			got := want{}
			got.Ask, got.Hold = d.Awaited()
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nAwaited(): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestHeldBack(t *testing.T) {
	parts := []bundle.Part{install("web", "1"), install("db", "1"), install("ui", "1")}
	reason := "waits until install db is ready, because the config layer sets Wait: it starts"
	held := Decisions{{Part: "ui", Hindrance: Held, Reason: reason}}
	cases := map[string]struct {
		reason string
		hold   *Hold
		record inventory.Part
		want   Decisions
	}{
		"None":    {reason: "All installs are ready."},
		"After":   {reason: "Only the parts after the install wait.", hold: &Hold{Install: "db", Reason: "it starts"}, want: held},
		"Upgrade": {reason: "An upgrade waits, too.", hold: &Hold{Install: "db", Reason: "it starts"}, record: inventory.Part{Digest: "0"}, want: held},
		"Repair":  {reason: "A repair does not wait.", hold: &Hold{Install: "db", Reason: "it starts"}, record: inventory.Part{Digest: "1"}},
		"Last":    {reason: "No part follows the last one.", hold: &Hold{Install: "ui", Reason: "it starts"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			// Only the last install has a component.
			c := &compose.Component{Part: &parts[2], Purpose: compose.PurposeOf(&parts[2], &tc.record)}
			inv := &inventory.Inventory{Parts: map[object.PartID]inventory.Part{"ui": tc.record}}
			d := &Draft{Selection: &Selection{Input: Input{Parts: parts, Inventory: inv}}, Components: []*compose.Component{c}}
			if diff := cmp.Diff(tc.want, d.heldBack(tc.hold)); diff != "" {
				t.Errorf("\n%s\nheldBack(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
