// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"
	"maps"
	"sync"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inspect"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ownership"
)

// A bundleKey identifies a bundle across clusters. It includes the owner, so that bundles with the same name and different owners
// share nothing. A connection that does not prove which cluster it reaches has an Identity of its own, and shares nothing either.
type bundleKey struct {
	cluster, name, owner string
}

func keyOf(c cluster.Cluster, b *Bundle) bundleKey {
	return bundleKey{cluster: c.Identity(), name: b.Name, owner: b.Owner}
}

// A place is where the inventory of a bundle is. Bundles that have the same name share it, whatever their owners.
type place struct {
	cluster, name string
}

func placeOf(c cluster.Cluster, b *Bundle) place {
	return place{cluster: c.Identity(), name: b.Name}
}

// A memory is what the engine remembers about a bundle between calls. It can be lost at any time.
type memory struct {
	// stored is the inventory as stored in the cluster.
	stored inventory.Stored
	// evaluations are results of readiness rules.
	evaluations inspect.Evaluations
	// repairs count the repairs of fields, by object, that other managers change repeatedly.
	repairs map[cluster.ObjectRef]ownership.Repairs
	// reports are about objects that drifted and are left as they are.
	reports inspect.Reports
	// settled has the UIDs of objects to delete which, according to a request, are gone or do not belong to the bundle.
	settled map[cluster.ObjectRef]string
	// plan is the last plan; nil if there is none.
	plan *keptPlan
}

// conclude forgets what a call made obsolete that left an inventory.
func (m *memory) conclude(inv *inventory.Inventory) {
	m.forgetGone(inv)
	m.plan = nil // It was made before this call.
}

// forgetGone forgets objects that the inventory no longer has, if more objects are remembered than it has.
func (m *memory) forgetGone(inv *inventory.Inventory) {
	most := len(inv.Objects)
	if len(m.evaluations) <= most && len(m.reports) <= most && len(m.settled) <= most && len(m.repairs) <= most {
		return
	}
	idx := inv.Index()
	gone := func(k cluster.ObjectRef) bool { return idx[k] == nil }
	for k := range m.evaluations {
		if gone(k) {
			delete(m.evaluations, k)
		}
	}
	for k := range m.reports {
		if gone(k) {
			delete(m.reports, k)
		}
	}
	maps.DeleteFunc(m.settled, func(k cluster.ObjectRef, _ string) bool { return gone(k) })
	maps.DeleteFunc(m.repairs, func(k cluster.ObjectRef, _ ownership.Repairs) bool { return gone(k) })
}

// turns allow one call at a time to work at a place.
type turns struct {
	mu sync.Mutex
	by map[place]*turn
}

// A turn is held by the call that sent a value to the channel. Calls counts that call and those that wait for it.
type turn struct {
	held  chan struct{}
	calls int
}

// take waits for the turn at a place until the context ends. The caller must call the returned function to end the turn.
func (t *turns) take(ctx context.Context, k place) (back func(), err error) {
	t.mu.Lock()
	if t.by == nil {
		t.by = map[place]*turn{}
	}
	own := t.by[k]
	if own == nil {
		own = &turn{held: make(chan struct{}, 1)}
		t.by[k] = own
	}
	own.calls++
	t.mu.Unlock()
	leave := func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if own.calls--; own.calls == 0 {
			delete(t.by, k)
		}
	}
	select {
	case own.held <- struct{}{}:
		return func() { <-own.held; leave() }, nil
	case <-ctx.Done():
		leave()
		return nil, errors.Wrapf(ctx.Err(), "another call works on set %s", k.name)
	}
}
