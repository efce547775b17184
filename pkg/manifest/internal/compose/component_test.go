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

// TestHooks checks which hooks of a chart run, and which ones its record must know.
func TestHooks(t *testing.T) {
	type args struct {
		next             release.Next
		disabled, random bool
		events           []string
	}
	type want struct {
		Operation           hook.Operation
		Run, Records        bool
		DeleteHooks, Tested bool
	}
	install, upgrade := release.Next{Operation: hook.Install, State: release.Begins}, release.Next{Operation: hook.Upgrade, State: release.Begins}
	cases := map[string]struct {
		reason string
		args   args
		want   want
	}{
		"None":            {reason: "A chart without hooks runs none.", args: args{next: install}, want: want{Operation: hook.Install}},
		"Install":         {reason: "The hooks of an install run during an install.", args: args{next: install, events: []string{"post-install"}}, want: want{Operation: hook.Install, Run: true, Records: true}},
		"Upgrade":         {reason: "The hooks of an install do not run during an upgrade.", args: args{next: upgrade, events: []string{"post-install"}}, want: want{Operation: hook.Upgrade}},
		"Rollback":        {reason: "A rollback has its own hooks.", args: args{next: release.Next{Operation: hook.Rollback, State: release.Resumes}, events: []string{"pre-rollback"}}, want: want{Operation: hook.Rollback, Run: true, Records: true}},
		"Repair":          {reason: "A repair runs no hooks.", args: args{next: release.Next{Operation: hook.Install, State: release.Repairs}, events: []string{"pre-install"}}, want: want{Operation: hook.Install}},
		"AlreadyDeployed": {reason: "A revision that is already deployed runs no hooks.", args: args{next: release.Next{Operation: hook.Install, State: release.AlreadyDeployed}, events: []string{"pre-install"}}, want: want{Operation: hook.Install}},
		"Later":           {reason: "The record knows which hooks run without the chart.", args: args{next: install, events: []string{"pre-delete", "test"}}, want: want{Operation: hook.Install, DeleteHooks: true, Tested: true}},
		"Random":          {reason: "A chart that renders differently each time is recorded before its objects are applied.", args: args{next: install, random: true, events: []string{"test"}}, want: want{Operation: hook.Install, Records: true, Tested: true}},
		"RandomDisabled":  {reason: "It is recorded also if no hook runs because the config disables them.", args: args{next: upgrade, random: true, disabled: true, events: []string{"pre-upgrade"}}, want: want{Operation: hook.Upgrade, Records: true}},
		"RandomRepair":    {reason: "A repair records no revision.", args: args{next: release.Next{Operation: hook.Install, State: release.Repairs}, random: true}, want: want{Operation: hook.Install}},
		"Disabled":        {reason: "The config can disable hooks, but not tests.", args: args{next: install, disabled: true, events: []string{"pre-install", "pre-delete", "test"}}, want: want{Operation: hook.Install, Tested: true}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := &Component{
				Installation: &Installation{Config: config.Settings{DisableHooks: tc.args.disabled}}, Next: tc.args.next,
				Rendered: &render.Rendered{Pure: !tc.args.random, Hooks: []record.Hook{{Events: tc.args.events}}},
			}
			var rec inventory.Part
			c.NoteHooks(&rec)
			got := want{Operation: c.Next.Operation, Run: len(c.hooksToRun()) > 0, Records: c.hooksToRun() != nil, DeleteHooks: rec.DeleteHooks, Tested: rec.TestHooks}
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
		"First":  {reason: "All parts need the CRDs of the bundle.", crd: inventory.Entry{Part: object.PartCRDs, Name: "x"}, want: true},
		"Own":    {reason: "A part needs its own CRDs.", crd: inventory.Entry{Part: "web", Name: "x"}, want: true},
		"Used":   {reason: "A part needs the CRDs of other parts if it has objects of their kinds.", crd: inventory.Entry{Part: "other", Name: "widgets.example.org"}, want: true},
		"Unused": {reason: "A part does not need the CRDs of other parts if it has no objects of their kinds.", crd: inventory.Entry{Part: "other", Name: "x"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, c.Needs(&tc.crd)); diff != "" {
				t.Errorf("\n%s\nNeeds(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
