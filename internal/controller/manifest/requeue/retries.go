// SPDX-License-Identifier: Apache-2.0

package requeue

import (
	"context"
	"sync/atomic"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// stopKey is the key of the *atomic.Bool in the context of a pass.
type stopKey struct{}

// StopRetries ends the retries of the Manifest of a pass: what it waits for will queue it. The context must be the one of a reconciler
// that WithStopRetries returned, or be derived from it. Otherwise, StopRetries does nothing.
func StopRetries(ctx context.Context) {
	if stopped, ok := ctx.Value(stopKey{}).(*atomic.Bool); ok {
		stopped.Store(true)
	}
}

// WithStopRetries returns a reconciler that requeues a Manifest after poll, and not with the delay of a failure, if its pass called
// StopRetries. If r returns an error, the Manifest is retried as usual.
func WithStopRetries(r reconcile.Reconciler, poll func() time.Duration) reconcile.Reconciler {
	return reconcile.Func(func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
		stopped := &atomic.Bool{}
		res, err := r.Reconcile(context.WithValue(ctx, stopKey{}, stopped), req)
		if err == nil && stopped.Load() {
			return reconcile.Result{RequeueAfter: poll()}, nil
		}
		return res, err
	})
}
