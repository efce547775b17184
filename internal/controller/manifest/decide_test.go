// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/manifest/checkpoint"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/manifest/rollback"
	engine "github.com/crossplane-contrib/provider-kyma/pkg/manifest"
)

func TestOutcomeOf(t *testing.T) {
	cases := map[string]struct {
		reason  string
		o       engine.Observation
		changed bool
		want    rollback.Outcome
	}{
		"Ready":        {reason: "The module works.", o: engine.Observation{State: engine.Ready}, want: rollback.Ready},
		"ChangedReady": {reason: "A changed module can be Ready immediately.", o: engine.Observation{State: engine.Ready}, changed: true, want: rollback.Ready},
		"Works":        {reason: "A module with a warning can work.", o: engine.Observation{State: engine.Warning, Works: true}, want: rollback.Ready},
		"Warning":      {reason: "A module with a warning does not always work.", o: engine.Observation{State: engine.Warning}, want: rollback.NotReady},
		"Processing":   {reason: "The module may still become Ready.", o: engine.Observation{State: engine.Processing}, want: rollback.NotReady},
		"Changed":      {reason: "A module that was just changed is not expected to be Ready.", o: engine.Observation{State: engine.Processing}, changed: true, want: rollback.Pending},
		"Failed":       {reason: "The module failed.", o: engine.Observation{State: engine.Error}, want: rollback.Failed},
		"ChangedError": {reason: "A changed module can fail immediately.", o: engine.Observation{State: engine.Error}, changed: true, want: rollback.Failed},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := outcomeOf(&tc.o, tc.changed); got != tc.want {
				t.Errorf("\n%s\noutcomeOf(...): want %s, got %s", tc.reason, tc.want, got)
			}
		})
	}
}

func TestDecide(t *testing.T) {
	sealed := func(version string) *checkpoint.Snapshot {
		s, err := checkpoint.New(named("n", "m", func(m *v1alpha1.Manifest) { m.Spec.ForProvider.Version = version }), &engine.Bundle{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	one, two := sealed("1.0.0"), sealed("2.0.0")
	asks := func(m *v1alpha1.Manifest) { m.Spec.ForProvider.Rollback = &v1alpha1.Rollback{} }
	rolledBack := func(m *v1alpha1.Manifest) {
		m.Status.AtProvider.Rollback = &v1alpha1.RollbackStatus{Desired: two.Digest, RolledBack: true}
	}
	type want struct {
		action    rollback.Action
		keep      []byte
		described bool
	}
	cases := map[string]struct {
		reason string
		mr     *v1alpha1.Manifest
		cp     checkpoint.State
		want   want
	}{
		"NoRollback": {reason: "Without a rollback no snapshot is made.", mr: named("n", "m"), cp: checkpoint.State{Data: one.Data}, want: want{action: rollback.Install}},
		"NoUpdate": {
			reason: "A module that must not be changed is not rolled back.", cp: checkpoint.State{Data: one.Data},
			mr: named("n", "m", asks, rolledBack, withPolicies(xpv2.ManagementActionObserve)), want: want{action: rollback.Install},
		},
		"First":      {reason: "The desired revision is kept.", mr: named("n", "m", asks), want: want{action: rollback.InstallAndKeep, keep: two.Data, described: true}},
		"Atomic":     {reason: "An install can ask for a rollback.", mr: named("n", "m"), cp: checkpoint.State{Atomic: time.Minute}, want: want{action: rollback.InstallAndKeep, keep: two.Data, described: true}},
		"RolledBack": {reason: "A restored revision stays the checkpoint.", mr: named("n", "m", asks, rolledBack), cp: checkpoint.State{Data: one.Data}, want: want{action: rollback.BringBack, keep: one.Data, described: true}},
		"Unreadable": {reason: "A snapshot that cannot be read is none.", mr: named("n", "m", asks, rolledBack), cp: checkpoint.State{Data: []byte("x")}, want: want{action: rollback.InstallAndKeep, keep: two.Data, described: true}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := want{}
			d := &decider{report: &reporter{}, now: time.Now, desired: func() (*checkpoint.Snapshot, error) {
				got.described = true
				return two, nil
			}}
			c, err := d.decide(tc.mr, tc.cp)
			got.action, got.keep = c.decision.Action, c.keep
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(want{})); diff != "" || err != nil {
				t.Errorf("\n%s\ndecide(...): %v, -want, +got:\n%s", tc.reason, err, diff)
			}
		})
	}
}
