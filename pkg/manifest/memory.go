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

// A bundleKey identifies a bundle among all clusters. The owner is part of the key, so that two owners of bundles of the same name
// share nothing. A connection that does not prove which cluster it reaches has an Identity of its own, and shares nothing either.
type bundleKey struct {
	cluster, name, owner string
}

func keyOf(c cluster.Cluster, b *Bundle) bundleKey {
	return bundleKey{cluster: c.Identity(), name: b.Name, owner: b.Owner}
}

// A place is where the inventory of a bundle is. Bundles of all owners that have its name meet there.
type place struct {
	cluster, name string
}

func placeOf(c cluster.Cluster, b *Bundle) place {
	return place{cluster: c.Identity(), name: b.Name}
}

// A memory is what the engine knows of a bundle between two calls. It can be lost at any time.
type memory struct {
	// stored is the inventory as it is in the cluster.
	stored inventory.Stored
	// last says why the last step of this process went no further, in the form in which the inventory keeps it; nil for no reason. The
	// inventory may have it in the words of an earlier step.
	last *inventory.Reasons
	// evaluations of rules on objects.
	evaluations inspect.Evaluations
	// contention counts the repairs of fields that other managers change again and again.
	contention ownership.Contention
	// reports on objects that differ and are left as they are.
	reports inspect.Reports
	// settled has the UIDs of objects to delete that a request did not find, or found not to belong to the bundle.
	settled map[cluster.ObjectRef]string
	// plan is the last one; nil for none.
	plan *keptPlan
}

// conclude remembers why a call went no further, nil for no reason, and which inventory it left.
func (m *memory) conclude(inv *inventory.Inventory, why *inventory.Reasons) {
	m.last = why
	m.forgetGone(inv)
	m.plan = nil // It was made before this call.
}

// forgetGone forgets objects that an inventory no longer has, if more objects are remembered than the inventory has.
func (m *memory) forgetGone(inv *inventory.Inventory) {
	most := len(inv.Objects)
	if len(m.evaluations) <= most && len(m.reports) <= most && len(m.settled) <= most && m.contention.Len() <= most {
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
	m.contention.ForgetIf(gone)
}

// turns let one call at a time work at a place.
type turns struct {
	mu sync.Mutex
	by map[place]*turn
}

// A turn is held by the call that has put something into the channel; calls counts that one and those that wait for it.
type turn struct {
	held  chan struct{}
	calls int
}

// take waits for the turn at a place, as long as the context lasts. The caller must call back when it is done.
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
