// SPDX-License-Identifier: Apache-2.0

package compose

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/internal/render"
	"github.com/crossplane-contrib/provider-kyma/internal/render/config"
	"github.com/crossplane-contrib/provider-kyma/internal/render/record"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/bundle"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/hook"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/release"
)

// TestHooks holds which hooks of a chart run, and which its record must know.
func TestHooks(t *testing.T) {
	type args struct {
		next     release.Next
		disabled bool
		events   []string
	}
	type want struct {
		Operation           hook.Operation
		Run                 bool
		DeleteHooks, Tested bool
	}
	install, upgrade := release.Next{Operation: hook.Install, State: release.Begins}, release.Next{Operation: hook.Upgrade, State: release.Begins}
	cases := map[string]struct {
		reason string
		args   args
		want   want
	}{
		"None":     {reason: "A chart without hooks runs none.", args: args{next: install}, want: want{Operation: hook.Install}},
		"Install":  {reason: "The hooks of an install run at it.", args: args{next: install, events: []string{"post-install"}}, want: want{Operation: hook.Install, Run: true}},
		"Upgrade":  {reason: "They do not run at an upgrade.", args: args{next: upgrade, events: []string{"post-install"}}, want: want{Operation: hook.Upgrade}},
		"Rollback": {reason: "A rollback has its own.", args: args{next: release.Next{Operation: hook.Rollback, State: release.Resumes}, events: []string{"pre-rollback"}}, want: want{Operation: hook.Rollback, Run: true}},
		"Repair":   {reason: "A repair runs none.", args: args{next: release.Next{Operation: hook.Install, State: release.Repairs}, events: []string{"pre-install"}}, want: want{Operation: hook.Install}},
		"Settled":  {reason: "Neither does a revision that is deployed.", args: args{next: release.Next{Operation: hook.Install, State: release.Settled}, events: []string{"pre-install"}}, want: want{Operation: hook.Install}},
		"Later":    {reason: "The record knows hooks that run without the chart.", args: args{next: install, events: []string{"pre-delete", "test"}}, want: want{Operation: hook.Install, DeleteHooks: true, Tested: true}},
		"Disabled": {reason: "The config can disable hooks, but not tests.", args: args{next: install, disabled: true, events: []string{"pre-install", "pre-delete", "test"}}, want: want{Operation: hook.Install, Tested: true}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := &Component{
				Installation: &Installation{Config: config.Settings{DisableHooks: tc.args.disabled}}, Next: tc.args.next,
				Rendered: &render.Rendered{Hooks: []record.Hook{{Events: tc.args.events}}},
			}
			var rec inventory.Part
			c.NoteHooks(&rec)
			got := want{Operation: c.Next.Operation, Run: c.hooksToRun() != nil, DeleteHooks: rec.DeleteHooks, Tested: rec.TestHooks}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestNeeds(t *testing.T) {
	c := &Component{Part: &bundle.Part{Name: "web"}, Objects: []object.Desired{{CRD: "widgets.example.org"}}}
	cases := map[string]struct {
		reason string
		crd    inventory.Entry
		want   bool
	}{
		"First":  {reason: "The CRDs of the bundle come before all.", crd: inventory.Entry{Part: object.PartCRDs, Name: "x"}, want: true},
		"Own":    {reason: "So do those of the part.", crd: inventory.Entry{Part: "web", Name: "x"}, want: true},
		"Used":   {reason: "And those of other parts that objects of this one are of.", crd: inventory.Entry{Part: "other", Name: "widgets.example.org"}, want: true},
		"Unused": {reason: "Others do not matter.", crd: inventory.Entry{Part: "other", Name: "x"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, c.Needs(&tc.crd)); diff != "" {
				t.Errorf("\n%s\nNeeds(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
