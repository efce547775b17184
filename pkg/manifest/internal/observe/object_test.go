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
		"Same":        {reason: "An object that is as it was applied has not drifted.", change: func(*world) {}},
		"Changed":     {reason: "The owned fields changed.", change: func(w *world) { w.obj.Owned = "theirs" }, want: Drift{Key: ref}, found: true},
		"Deleted":     {reason: "The object is missing.", change: func(*world) {}, gone: true, want: Drift{Key: ref, Kind: DriftDeleted}, found: true},
		"Replaced":    {reason: "Another object has its name.", change: func(w *world) { w.obj.UID = "2" }, want: Drift{Key: ref, Kind: DriftReplaced}, found: true},
		"Terminating": {reason: "An object that is being deleted is recreated once it is gone.", change: func(w *world) { w.obj.Status, w.obj.UID = cluster.Terminating, "2" }},
		"TakenOver":   {reason: "Another bundle owns the object.", change: func(w *world) { w.obj.Set = "other" }, want: Drift{Key: ref, Kind: DriftTakenOver}, found: true},
		"Exchanged":   {reason: "Another bundle replaced the object.", change: func(w *world) { w.obj.Set, w.obj.UID = "other", "2" }, want: Drift{Key: ref, Kind: DriftTakenOver}, found: true},
		"Stripped":    {reason: "An object that lost its label is still of the bundle.", change: func(w *world) { w.obj.Set = "" }},
		"Expired":     {reason: "A Job was deleted because it has finished.", change: func(w *world) { w.en.Expires = true }, gone: true},
		"Unexpired":   {reason: "A Job that has not expired drifts like other objects.", change: func(w *world) { w.en.Expires, w.obj.UID = true, "2" }, want: Drift{Key: ref, Kind: DriftReplaced}, found: true},
		"Resource":    {reason: "The custom resource belongs to its users.", change: func(w *world) { w.en.Stage = object.StageResource }, gone: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			tc.change(w)
			got, found := FindDrift(&w.en, w.obj, !tc.gone, "set")
			if diff := cmp.Diff(tc.want, got); diff != "" || found != tc.found {
				t.Errorf("\n%s\nfound %v, -want, +got:\n%s", tc.reason, found, diff)
			}
		})
	}
}

// An asked answers the questions of Gather and counts them.
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
		return "", "", errors.New("cannot be decoded")
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
		"NoRule":      {reason: "Without a rule, no request is sent.", change: func(*world) {}},
		"Rule":        {reason: "A rule is evaluated.", change: func(*world) {}, asked: asked{applies: true}, want: want{Evaluated: 1, Health: 1}},
		"Terminating": {reason: "No rule is evaluated for an object that is being deleted.", change: func(w *world) { w.obj.Status = cluster.Terminating }, asked: asked{applies: true}},
		"Unreadable":  {reason: "A failure to read the object is an error.", change: func(*world) {}, asked: asked{applies: true, failsEvaluate: true}, want: want{Evaluated: 1, Failed: true}},
		"Repair":      {reason: "No request is sent for an object that is about to be repaired.", change: drifted, asked: asked{applies: true}},
		"Ignore":      {reason: "An ignored change is not compared.", policy: bundle.DriftIgnore, change: drifted, asked: asked{applies: true}, want: want{Evaluated: 1, Health: 1}},
		"IgnoreGone":  {reason: "A missing object has no health.", policy: bundle.DriftIgnore, change: func(*world) {}, gone: true, asked: asked{applies: true}},
		"Report":      {reason: "A reported change is compared.", policy: bundle.DriftReport, change: drifted, asked: asked{applies: true, difference: changed}, want: want{Compared: 1, Evaluated: 1, Health: 1, Differences: 1}},
		"ReportGone": {
			reason: "An object that the part lacks has no health.", policy: bundle.DriftReport, change: func(*world) {}, gone: true,
			asked: asked{applies: true, difference: Difference{Drift: Drift{Key: ref, Kind: DriftDeleted}, Differs: true}}, want: want{Compared: 1, Differences: 1},
		},
		"ReportFails": {reason: "A failed comparison is an error.", policy: bundle.DriftReport, change: drifted, asked: asked{err: errors.New("no")}, want: want{Compared: 1, Failed: true}},
		"Pruned":      {reason: "No request is sent for a pruned object.", change: func(w *world) { w.en.Pruned = true }, asked: asked{applies: true}},
		"Pending":     {reason: "No request is sent for an object that is not applied yet.", change: func(w *world) { w.en.UID = "" }, asked: asked{applies: true}},
		"Leaving":     {reason: "No request is sent for an object of a part that the bundle no longer contains.", change: func(w *world) { w.en.Part = "old" }, asked: asked{applies: true}},
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
