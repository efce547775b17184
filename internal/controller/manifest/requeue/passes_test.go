// SPDX-License-Identifier: Apache-2.0

package requeue

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// TestHolding counts the passes that changes cause which happen during a pass or shortly before it.
func TestHolding(t *testing.T) {
	nn := key("n", "m")
	change := func(r *Requeuer) { r.Changed("c", "id") }
	cases := map[string]struct {
		reason string
		// before is called before the pass, and pass during it.
		before func(r *Requeuer)
		pass   func(r *Requeuer, w *Watcher)
		want   int
	}{
		"OwnWrites": {
			reason: "The pass observes the cluster after its writes.",
			pass:   func(r *Requeuer, w *Watcher) { w.Observing(); change(r); w.Observing(); w.Complete() },
		},
		"Later": {
			reason: "The cluster changed after the pass observed it.",
			pass:   func(r *Requeuer, w *Watcher) { w.Observing(); w.Complete(); change(r); change(r) }, want: 1,
		},
		"Between": {
			reason: "The cluster changed while the pass observed it.",
			pass:   func(r *Requeuer, w *Watcher) { w.Observing(); change(r); w.Complete() }, want: 1,
		},
		"Incomplete": {
			reason: "The change may be what the next step waits for, which an observation does not execute.",
			pass:   func(r *Requeuer, w *Watcher) { w.Observing(); change(r); w.Observing() }, want: 1,
		},
		"NoLongerComplete": {
			reason: "Only the last observation matters.",
			pass:   func(r *Requeuer, w *Watcher) { w.Observing(); w.Complete(); change(r); w.Observing() }, want: 1,
		},
		"NotObserved": {
			reason: "The pass ended before it observed the cluster.",
			pass:   func(r *Requeuer, _ *Watcher) { change(r) }, want: 1,
		},
		"NoChange": {reason: "Nothing changed.", pass: func(_ *Requeuer, w *Watcher) { w.Observing() }},
		"Spaced": {
			reason: "The first change queues the Manifest immediately, the second one after some time, but the pass observes it before.",
			before: func(r *Requeuer) { change(r); change(r) },
			pass:   func(_ *Requeuer, w *Watcher) { w.Observing(); w.Complete() }, want: 1,
		},
		"SpacedIncomplete": {
			reason: "A pass that has not completed does not stop the next one.",
			before: func(r *Requeuer) { change(r); change(r) },
			pass:   func(_ *Requeuer, w *Watcher) { w.Observing() }, want: 2,
		},
		"SpacedLater": {
			reason: "A change after the pass is not lost because of one before it.",
			before: func(r *Requeuer) { change(r); change(r) },
			pass:   func(r *Requeuer, w *Watcher) { w.Observing(); w.Complete(); change(r) }, want: 2,
		},
		"Other": {
			reason: "Other Manifests are queued during a pass.",
			pass:   func(r *Requeuer, w *Watcher) { r.Changed("c", "other"); w.Observing(); w.Complete() }, want: 1,
		},
		"NoCluster": {
			reason: "A pass without a cluster observes nothing.",
			pass:   func(*Requeuer, *Watcher) { (*Watcher)(nil).Observing(); (*Watcher)(nil).Complete() },
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := New(t.Context().Done())
				r.Add("id", "c", nn)
				r.Add("other", "c", key("n", "other"))
				if tc.before != nil {
					tc.before(r)
				}
				_, _ = r.Holding(reconcile.Func(func(context.Context, reconcile.Request) (reconcile.Result, error) {
					tc.pass(r, r.WatcherOf(nn))
					return reconcile.Result{}, nil
				})).Reconcile(t.Context(), reconcile.Request{NamespacedName: nn})
				time.Sleep(2 * spacingReady)
				if diff := cmp.Diff(tc.want, len(r.events)); diff != "" {
					t.Errorf("\n%s\npasses: -want, +got:\n%s", tc.reason, diff)
				}
				if len(r.passes) > 0 {
					t.Errorf("\n%s\na pass is left", tc.reason)
				}
			})
		})
	}
}
