// SPDX-License-Identifier: Apache-2.0

package requeue

import (
	"context"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// A pass is a pass over a Manifest that is running.
type pass struct {
	// changes counts the changes in the cluster since the pass began. seen is their number when the pass last began to observe its cluster.
	changes, seen int
	// complete is true if nothing is left to do according to what the pass observed then.
	complete bool
}

// isDone reports whether another pass would find nothing to do.
func (p *pass) isDone() bool { return p.changes == 0 || p.complete && p.changes == p.seen }

// Holding returns a reconciler during whose passes changes in a cluster don't queue the Manifest. Most of these changes are the
// writes of the pass itself, which the watch shows before their responses arrive. After the pass, the Manifest is queued if its cluster has
// changed, unless the pass observed after the change that nothing is left to do.
func (r *Requeuer) Holding(inner reconcile.Reconciler) reconcile.Reconciler {
	return reconcile.Func(func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
		r.begin(req.NamespacedName)
		defer r.end(req.NamespacedName)
		return inner.Reconcile(ctx, req)
	})
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
	if p != nil && !p.isDone() {
		r.pace(nn)
	}
}

// A Watcher reports what a pass over a Manifest observes. A nil Watcher reports nothing.
type Watcher struct {
	requeuer *Requeuer
	name     types.NamespacedName
}

// WatcherOf returns the Watcher of the passes over a Manifest.
func (r *Requeuer) WatcherOf(nn types.NamespacedName) *Watcher {
	return &Watcher{requeuer: r, name: nn}
}

// Observing must be called when a pass begins to observe its cluster.
func (w *Watcher) Observing() {
	w.record(func(running *pass, _ *pace) { running.seen, running.complete = running.changes, false })
}

// Complete must be called if nothing is left to do according to what the pass has observed.
func (w *Watcher) Complete() {
	w.record(func(running *pass, p *pace) {
		running.complete = true
		if p != nil && running.isDone() {
			p.observed = true
		}
	})
}

// record calls a function with the running pass and with the pace of the Manifest, which can be nil, unless no pass is running.
func (w *Watcher) record(f func(*pass, *pace)) {
	if w == nil {
		return
	}
	w.requeuer.mu.Lock()
	defer w.requeuer.mu.Unlock()
	if p := w.requeuer.passes[w.name]; p != nil {
		f(p, w.requeuer.pacesOf[w.name])
	}
}
