// SPDX-License-Identifier: Apache-2.0

package share

import (
	"context"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// A Gate is a priority.Gate for the queue of Manifests. A Manifest that has to wait for a worker waits in the Shares instead, so no
// reconcile begins that would have to end at once.
type Gate struct {
	shares    *Shares
	manifests client.Reader
	owns      func(context.Context, client.Object) bool
}

// Gate returns the Gate of the Shares. manifests reads Manifests from a cache, and owns reports whether this replica reconciles one.
func (s *Shares) Gate(manifests client.Reader, owns func(context.Context, client.Object) bool) *Gate {
	return &Gate{shares: s, manifests: manifests, owns: owns}
}

// Admit reports whether a pass over a Manifest can begin, and keeps a worker for it then. If not, the Manifest is woken when a worker is
// free. A Manifest that cannot be read, or that another replica reconciles, needs no worker.
func (g *Gate) Admit(nn types.NamespacedName) bool {
	ctx, mr := context.Background(), &v1alpha1.Manifest{}
	if err := g.manifests.Get(ctx, nn, mr, client.UnsafeDisableDeepCopy); err != nil || !g.owns(ctx, mr) {
		return true
	}
	return g.shares.keep(configOf(mr), nn)
}

// Done returns the worker of a Manifest whose pass did not acquire it, for example because the Manifest is paused.
func (g *Gate) Done(nn types.NamespacedName) { g.shares.giveUp(nn) }

// keep is like Acquire, but keeps the worker until the pass acquires it.
func (s *Shares) keep(config string, nn types.NamespacedName) bool {
	w := s.worker(config, nn)
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.admit(w) {
		return false
	}
	s.turns[nn] = w
	return true
}

// giveUp returns the worker that is kept for a Manifest, if there is one, and wakes other Manifests.
func (s *Shares) giveUp(nn types.NamespacedName) {
	s.mu.Lock()
	var woken []*Worker
	if s.endTurn(nn) != nil {
		woken = s.turnsAt(s.now())
	}
	s.mu.Unlock()
	s.wakeAll(woken)
}
