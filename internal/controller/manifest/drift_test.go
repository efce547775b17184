// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	engine "github.com/crossplane-contrib/provider-kyma/pkg/manifest"
)

func TestDriftStatus(t *testing.T) {
	key := func(kind, name string) cluster.ObjectRef {
		return cluster.ObjectRef{Kind: kind, Namespace: "a", Name: name}
	}
	ref := func(kind, name string) v1alpha1.ObjectReference {
		return v1alpha1.ObjectReference{Kind: kind, Namespace: "a", Name: name}
	}
	many := make([]engine.Drift, 0, mostDrifted+3)
	for i := range mostDrifted + 3 {
		many = append(many, engine.Drift{Key: key("Secret", fmt.Sprintf("s%02d", i)), Kind: engine.DriftDeleted})
	}
	fields := make([]string, 0, mostFields+2)
	for i := range mostFields + 2 {
		fields = append(fields, fmt.Sprintf("data.f%02d", i))
	}
	firstMany := make([]v1alpha1.DriftedObject, 0, mostDrifted)
	for i := range mostDrifted {
		firstMany = append(firstMany, v1alpha1.DriftedObject{ObjectReference: ref("Secret", fmt.Sprintf("s%02d", i)), Change: "Deleted"})
	}
	cases := map[string]struct {
		reason string
		drift  []engine.Drift
		want   v1alpha1.DriftStatus
	}{
		"Sorted": {
			reason: "The order of objects and fields is always the same.",
			drift: []engine.Drift{
				{Key: key("Secret", "b"), Kind: engine.DriftReplaced}, {Key: key("Secret", "a"), Kind: engine.DriftForeign},
				{Key: key("Secret", "c"), Kind: engine.DriftTakenOver, Owner: "Manifest n/x"},
				{Key: cluster.ObjectRef{Group: "apps", Kind: "Deployment", Namespace: "a", Name: "web"}, Fields: []string{"spec.replicas", "metadata.labels"}},
			},
			want: v1alpha1.DriftStatus{Objects: []v1alpha1.DriftedObject{
				{
					ObjectReference: v1alpha1.ObjectReference{Group: "apps", Kind: "Deployment", Namespace: "a", Name: "web"}, Change: "Changed",
					Fields: []string{"metadata.labels", "spec.replicas"},
				},
				{ObjectReference: ref("Secret", "a"), Change: "ReplacedByOther"},
				{ObjectReference: ref("Secret", "b"), Change: "Replaced"},
				{ObjectReference: ref("Secret", "c"), Change: "TakenOver"},
			}},
		},
		"ManyObjects": {
			reason: "Objects that are not listed are counted.", drift: many,
			want: v1alpha1.DriftStatus{Objects: firstMany, OmittedObjects: 3},
		},
		"ManyFields": {
			reason: "Fields that are not listed are counted.", drift: []engine.Drift{{Key: key("Secret", "a"), Fields: fields}},
			want: v1alpha1.DriftStatus{Objects: []v1alpha1.DriftedObject{
				{ObjectReference: ref("Secret", "a"), Change: "Changed", Fields: fields[:mostFields], OmittedFields: 2},
			}},
		},
		"Long": {
			reason: "The API server accepts each path and each name.",
			drift:  []engine.Drift{{Key: key("Role", strings.Repeat("n", 300)), Fields: []string{strings.Repeat("p", 600)}}},
			want: v1alpha1.DriftStatus{Objects: []v1alpha1.DriftedObject{
				{ObjectReference: ref("Role", strings.Repeat("n", 250)+"…"), Change: "Changed", Fields: []string{strings.Repeat("p", 509) + "…"}},
			}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := (&reporter{}).driftStatus(tc.drift)
			if got.ObservedTime.IsZero() {
				t.Errorf("\n%s\ndriftStatus(...): no time", tc.reason)
			}
			got.ObservedTime = metav1.Time{}
			if diff := cmp.Diff(&tc.want, got); diff != "" {
				t.Errorf("\n%s\ndriftStatus(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestRecordDrift runs several passes, each of which reports drift and ends in a state.
func TestRecordDrift(t *testing.T) {
	changed := engine.Drift{Key: cluster.ObjectRef{Kind: "ConfigMap", Name: "a"}, Fields: []string{"data.k", "data.l"}}
	swapped := changed
	swapped.Fields = []string{"data.l", "data.k"}
	more := changed
	more.Fields = []string{"data.k", "data.l", "data.m"}
	gone := engine.Drift{Key: cluster.ObjectRef{Kind: "ConfigMap", Name: "b"}, Kind: engine.DriftDeleted}
	type pass struct {
		drift    []engine.Drift
		repaired bool
		state    v1alpha1.State
	}
	warning := func(drift ...engine.Drift) pass { return pass{drift: drift, state: v1alpha1.StateWarning} }
	repair := func(drift ...engine.Drift) pass {
		return pass{drift: drift, repaired: true, state: v1alpha1.StateReady}
	}
	type want struct {
		events  int
		moved   bool
		objects int
	}
	cases := map[string]struct {
		reason string
		passes []pass
		want   want
	}{
		"Same":     {"The same drift is reported once.", []pass{warning(changed), warning(changed), warning(changed)}, want{1, false, 1}},
		"Order":    {"The order does not matter.", []pass{warning(changed, gone), warning(gone, swapped)}, want{1, false, 2}},
		"Field":    {"Another field is another drift.", []pass{warning(changed), warning(more)}, want{2, true, 1}},
		"Object":   {"Drift of another object is another drift.", []pass{warning(changed), warning(changed, gone)}, want{2, true, 2}},
		"Less":     {"Drift of fewer objects is another drift.", []pass{warning(changed, gone), warning(changed)}, want{2, true, 1}},
		"Back":     {"A drift that comes back is reported again.", []pass{{drift: []engine.Drift{changed}, state: v1alpha1.StateReady}, warning(changed)}, want{2, true, 1}},
		"None":     {"The last drift stays when it is over.", []pass{warning(changed), warning()}, want{1, false, 1}},
		"Repaired": {"A repair is reported each time; the time is that of the first one.", []pass{repair(changed), repair(changed)}, want{2, false, 1}},
		"Repairs":  {"The repair of another drift has its own time.", []pass{repair(changed), repair(gone)}, want{2, true, 1}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := &recorded{}
			report, mr := &reporter{recorder: r}, &v1alpha1.Manifest{}
			first := metav1.NewTime(time.Unix(1_700_000_000, 0))
			for i, p := range tc.passes {
				if p.repaired {
					report.recordRepair(mr, engine.Result{Repaired: p.drift})
				} else {
					report.recordDrift(mr, engine.DriftReport, p.drift)
				}
				if mr.Status.AtProvider.State = p.state; i == 0 {
					mr.Status.AtProvider.Drift.ObservedTime = first
				}
			}
			at := mr.Status.AtProvider.Drift
			if diff := cmp.Diff(tc.want, want{len(r.events), !at.ObservedTime.Equal(&first), len(at.Objects)}, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("\n%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
