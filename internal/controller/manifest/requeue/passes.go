// SPDX-License-Identifier: Apache-2.0

package requeue

import (
	"context"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// A pass is a pass over a Manifest that is running.
type pass struct {
	// changed is true if the cluster has changed since the pass last observed it.
	changed bool
}

// Holding returns a reconciler during whose passes changes in a cluster don't queue the Manifest. Most of these changes are the
// writes of the pass itself, which the watch shows before their responses arrive. After the pass, the Manifest is queued if its cluster has
// changed since Observing was called last.
func (r *Requeuer) Holding(inner reconcile.Reconciler) reconcile.Reconciler {
	return reconcile.Func(func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
		r.begin(req.NamespacedName)
		defer r.end(req.NamespacedName)
		return inner.Reconcile(ctx, req)
	})
}

// Observing must be called when a pass over a Manifest begins to observe its cluster. The changes so far need no other pass, unless this one
// fails, in which case it is repeated.
func (r *Requeuer) Observing(nn types.NamespacedName) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if p := r.passes[nn]; p != nil {
		p.changed = false
	}
	if p := r.pacesOf[nn]; p != nil {
		p.observed = true
	}
}

func (r *Requeuer) begin(nn types.NamespacedName) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.passes[nn] = &pass{}
}

func (r *Requeuer) end(nn types.NamespacedName) {
	r.mu.Lock()
	p := r.passes[nn]
	delete(r.passes, nn)
	r.mu.Unlock()
	if p != nil && p.changed {
		r.pace(nn)
	}
}
