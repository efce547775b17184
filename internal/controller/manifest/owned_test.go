// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	ctrlevent "sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/manifest/checkpoint"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/manifest/requeue"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/priority"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	engine "github.com/crossplane-contrib/provider-kyma/pkg/manifest"
)

// TestInventoryOfOther checks a Manifest that refers to the inventory of another Manifest: its deletion leaves the inventory
// unchanged and reports this, and otherwise it has an error.
func TestInventoryOfOther(t *testing.T) {
	owned := errors.Wrap(&engine.OwnedError{Inventory: cluster.ObjectRef{Kind: "Secret", Namespace: "kyma-system", Name: "n.m"}, Owner: "Manifest n/m"}, "wrapped")
	others := func(mr *v1alpha1.Manifest) { mr.Finalizers = []string{"ours", "theirs"} }
	cases := map[string]struct {
		reason string
		mr     *v1alpha1.Manifest
		want   managed.ExternalObservation
		events []string
		err    bool
	}{
		"Deleted": {
			reason: "Nothing that belongs to the other Manifest is changed.", mr: named("n", "copy", deleted), want: managed.ExternalObservation{ResourceUpToDate: true},
			events: []string{"LeftBehind: Removed no objects: Secret kyma-system/n.m is the inventory of Manifest n/m"},
		},
		"Held":  {reason: "The event is recorded once while the Manifest has other finalizers.", mr: named("n", "copy", deleted, others), want: managed.ExternalObservation{ResourceUpToDate: true}},
		"Stays": {reason: "A Manifest that is not deleted reports that another one owns the inventory.", mr: named("n", "copy"), err: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			record := &recorded{}
			left := false
			e := externalOf(&mockEngine{observe: func() (engine.Observation, error) { return engine.Observation{}, owned }}, &engine.Bundle{}, record)
			e.removeFromBundle = func() { left = true }
			got, err := e.Observe(t.Context(), tc.mr)
			if !left {
				t.Errorf("%s\nchanges of the other one cause passes", tc.reason)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" || (err != nil) != tc.err {
				t.Errorf("%s\nObserve(...): %v, -want, +got:\n%s", tc.reason, err, diff)
			}
			if diff := cmp.Diff(tc.events, record.events); diff != "" {
				t.Errorf("%s\nevents: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestCreatedAgain checks that no state of a Manifest is kept if it was deleted and recreated, and the watch did not deliver
// the deletion.
func TestCreatedAgain(t *testing.T) {
	was, is := named("n", "m", func(m *v1alpha1.Manifest) { m.UID = "1" }), named("n", "m", func(m *v1alpha1.Manifest) { m.UID = "2" })
	q := priorityqueue.New[reconcile.Request]("again")
	defer q.ShutDown()
	w := &watches{priorities: priority.NewTracker(), requeuer: requeue.New(t.Context().Done()), memory: &checkpoint.Memory{}, clusters: &mockClusters{}}
	w.requeuer.Add("id", "c", key("n", "m"))
	w.own().Update(t.Context(), ctrlevent.UpdateEvent{ObjectOld: was, ObjectNew: was}, q)
	if !w.requeuer.Has(key("n", "m")) {
		t.Error("a Manifest that stays must be remembered")
	}
	w.own().Update(t.Context(), ctrlevent.UpdateEvent{ObjectOld: was, ObjectNew: is}, q)
	if w.requeuer.Has(key("n", "m")) {
		t.Error("a Manifest that was created again must not be remembered")
	}
}
