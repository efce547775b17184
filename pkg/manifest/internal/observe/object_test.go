// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/bundle"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/health"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

func TestFindDrift(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(w *world)
		gone   bool
		want   Drift
		found  bool
	}{
		"Same":        {reason: "What is as it was applied does not differ.", change: func(*world) {}},
		"Changed":     {reason: "Fields that are no longer ours are.", change: func(w *world) { w.obj.Owned = "theirs" }, want: Drift{Key: ref}, found: true},
		"Deleted":     {reason: "A missing object does.", change: func(*world) {}, gone: true, want: Drift{Key: ref, Kind: DriftDeleted}, found: true},
		"Replaced":    {reason: "So does another one in its place.", change: func(w *world) { w.obj.UID = "2" }, want: Drift{Key: ref, Kind: DriftReplaced}, found: true},
		"Terminating": {reason: "An object that is being deleted comes back once it is gone.", change: func(w *world) { w.obj.Status, w.obj.UID = cluster.Terminating, "2" }},
		"Resource":    {reason: "The custom resource belongs to its users.", change: func(w *world) { w.en.Stage = object.StageResource }, gone: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			tc.change(w)
			got, found := FindDrift(&w.en, w.obj, !tc.gone)
			if diff := cmp.Diff(tc.want, got); diff != "" || found != tc.found {
				t.Errorf("\n%s\nfound %v, -want, +got:\n%s", tc.reason, found, diff)
			}
		})
	}
}

// An asked answers what Gather asks, and counts.
type asked struct {
	difference             Difference
	err                    error
	compared, evaluated    int
	applies, failsEvaluate bool
}

func (a *asked) Applies(*inventory.Entry) bool { return a.applies }

func (a *asked) Evaluate(context.Context, *inventory.Entry, cluster.ObjectState) (health.State, string, error) {
	a.evaluated++
	if a.failsEvaluate {
		return "", "", errors.New("cannot be read")
	}
	return health.Warning, "slow", nil
}

func (a *asked) Compare(context.Context, *inventory.Entry, Drift, cluster.ObjectState) (Difference, error) {
	a.compared++
	return a.difference, a.err
}

func TestGather(t *testing.T) {
	drifted := func(w *world) { w.obj.Owned = "theirs" }
	changed := Difference{Drift: Drift{Key: ref, Fields: []string{"data.k"}}, Differs: true}
	type want struct {
		Compared, Evaluated int
		Health, Differences int
		Failed              bool
	}
	cases := map[string]struct {
		reason string
		policy bundle.DriftPolicy
		change func(w *world)
		gone   bool
		asked  asked
		want   want
	}{
		"NoRule":      {reason: "Without a rule nothing is asked.", change: func(*world) {}},
		"Rule":        {reason: "A rule is evaluated.", change: func(*world) {}, asked: asked{applies: true}, want: want{Evaluated: 1, Health: 1}},
		"Terminating": {reason: "Of an object that is being deleted no rule says anything.", change: func(w *world) { w.obj.Status = cluster.Terminating }, asked: asked{applies: true}},
		"Unreadable":  {reason: "What cannot be read is an error.", change: func(*world) {}, asked: asked{applies: true, failsEvaluate: true}, want: want{Evaluated: 1, Failed: true}},
		"Repair":      {reason: "What is about to be repaired costs no request.", change: drifted, asked: asked{applies: true}},
		"Ignore":      {reason: "A change that is ignored is not compared.", policy: bundle.DriftIgnore, change: drifted, asked: asked{applies: true}, want: want{Evaluated: 1, Health: 1}},
		"IgnoreGone":  {reason: "What is missing has no health.", policy: bundle.DriftIgnore, change: func(*world) {}, gone: true, asked: asked{applies: true}},
		"Report":      {reason: "A change that is reported is compared.", policy: bundle.DriftReport, change: drifted, asked: asked{applies: true, difference: changed}, want: want{Compared: 1, Evaluated: 1, Health: 1, Differences: 1}},
		"ReportGone": {
			reason: "What is not there for the part has no health.", policy: bundle.DriftReport, change: func(*world) {}, gone: true,
			asked: asked{applies: true, difference: Difference{Drift: Drift{Key: ref, Kind: DriftDeleted}, Differs: true}}, want: want{Compared: 1, Differences: 1},
		},
		"ReportFails": {reason: "Where that cannot be asked, it is an error.", policy: bundle.DriftReport, change: drifted, asked: asked{err: errors.New("no")}, want: want{Compared: 1, Failed: true}},
		"Pruned":      {reason: "Nothing is asked about an object on its way out.", change: func(w *world) { w.en.Pruned = true }, asked: asked{applies: true}},
		"Pending":     {reason: "Nor about one that was not applied yet.", change: func(w *world) { w.en.UID = "" }, asked: asked{applies: true}},
		"Leaving":     {reason: "Nor about one of a part that the bundle no longer has.", change: func(w *world) { w.en.Part = "old" }, asked: asked{applies: true}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			tc.change(w)
			in := w.input()
			in.Drift = tc.policy
			if tc.gone {
				in.Objects = nil
			}
			err := in.Gather(t.Context(), &tc.asked, &tc.asked)
			got := want{
				Compared: tc.asked.compared, Evaluated: tc.asked.evaluated, Health: len(in.Health), Differences: len(in.Differences), Failed: err != nil,
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\n%v\n-want, +got:\n%s", tc.reason, err, diff)
			}
		})
	}
}
