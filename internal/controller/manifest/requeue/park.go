// SPDX-License-Identifier: Apache-2.0

package requeue

import (
	"context"
	"sync/atomic"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// parkKey is the key of the *atomic.Bool in the context of a pass.
type parkKey struct{}

// Park ends the retries of the Manifest of a pass: what it waits for will queue it. The context must be the one of a reconciler that
// Parking returned, or be derived from it. Otherwise, Park does nothing.
func Park(ctx context.Context) {
	if parked, ok := ctx.Value(parkKey{}).(*atomic.Bool); ok {
		parked.Store(true)
	}
}

// Parking returns a reconciler that requeues a Manifest after poll, and not with the delay of a failure, if its pass called Park. If r
// returns an error, the Manifest is retried as usual.
func Parking(r reconcile.Reconciler, poll func() time.Duration) reconcile.Reconciler {
	return reconcile.Func(func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
		parked := &atomic.Bool{}
		res, err := r.Reconcile(context.WithValue(ctx, parkKey{}, parked), req)
		if err == nil && parked.Load() {
			return reconcile.Result{RequeueAfter: poll()}, nil
		}
		return res, err
	})
}
