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
	cases := map[string]struct {
		reason string
		// before is called before the pass, and pass during it.
		before, pass func(r *Requeuer)
		want         int
	}{
		"OwnWrites": {
			reason: "The pass observes the cluster after its writes.",
			pass:   func(r *Requeuer) { r.Changed("c", "id"); r.Observing(nn) },
		},
		"Later": {
			reason: "The cluster changed after the pass observed it.",
			pass:   func(r *Requeuer) { r.Observing(nn); r.Changed("c", "id"); r.Changed("c", "id") }, want: 1,
		},
		"NotObserved": {
			reason: "The pass ended before it observed the cluster.",
			pass:   func(r *Requeuer) { r.Changed("c", "id") }, want: 1,
		},
		"ObservedTwice": {
			reason: "Only the last observation matters.",
			pass:   func(r *Requeuer) { r.Observing(nn); r.Changed("c", "id"); r.Observing(nn) },
		},
		"Spaced": {
			reason: "The first change queues the Manifest immediately, the second one after some time, in which the pass observes it.",
			before: func(r *Requeuer) { r.Changed("c", "id"); r.Changed("c", "id") },
			pass:   func(r *Requeuer) { r.Observing(nn) }, want: 1,
		},
		"SpacedLater": {
			reason: "A change after the pass is not lost because of one before it.",
			before: func(r *Requeuer) { r.Changed("c", "id"); r.Changed("c", "id") },
			pass:   func(r *Requeuer) { r.Observing(nn); r.Changed("c", "id") }, want: 2,
		},
		"Other": {
			reason: "Other Manifests are queued during a pass.",
			pass:   func(r *Requeuer) { r.Changed("c", "other"); r.Observing(nn) }, want: 1,
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
					tc.pass(r)
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
