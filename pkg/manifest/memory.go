// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"
	"maps"
	"math"
	"runtime/debug"
	"sync"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/bytelru"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/apply"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/hook"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inspect"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ownership"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/teardown"
)

// A bundleKey identifies a bundle across clusters. It includes the owner and its UID, so that bundles with the same name and
// different owners share nothing. A connection that cannot identify its cluster has a unique Identity, so it shares nothing
// either.
type bundleKey struct {
	cluster, name, owner, uid string
}

func keyOf(c cluster.Cluster, b *Bundle) bundleKey {
	return bundleKey{cluster: c.Identity(), name: b.Name, owner: b.Owner, uid: b.OwnerUID}
}

// A place is the location of an inventory. Bundles that have the same name share it, even if their owners differ.
type place struct {
	cluster, name string
}

func placeOf(c cluster.Cluster, b *Bundle) place {
	return place{cluster: c.Identity(), name: b.Name}
}

// A memory is the state that the engine keeps about a bundle between calls. It can be lost at any time.
type memory struct {
	// stored is the inventory as stored in the cluster.
	stored inventory.Stored
	// evaluations contains results of readiness rules.
	evaluations inspect.Evaluations
	// repairs counts, by object, the repairs of fields that other managers change repeatedly.
	repairs map[cluster.ObjectRef]ownership.Repairs
	// reports contains reports about objects that drifted and are not repaired.
	reports inspect.Reports
	// nonMembers contains the objects to delete that a request found to be gone or not to belong to the bundle.
	nonMembers map[cluster.ObjectRef]teardown.NonMember
	// hooks measures how long hooks of the bundle run.
	hooks hook.Stopwatch
	// examined contains the progress of checks of CRDs.
	examined apply.Examined
	// removed is true if the bundle was removed completely, so that its inventory is not lost.
	removed bool
	// plan is the last plan, or nil if there is none.
	plan *keptPlan

	// measured and measuredPlan are the inventory and the plan whose sizes in bytes were measured last.
	measured     *inventory.Inventory
	measuredPlan *keptPlan
	measuredSize int64
}

// All memories together take at most memoryShare sixteenths of the memory limit of the process, or memoryDefault bytes if there is no limit.
// A dropped memory costs one additional request.
const (
	memoryShare   = 3
	memoryDefault = 1 << 30
)

func memoryLimit() int64 {
	if limit := debug.SetMemoryLimit(-1); limit < math.MaxInt64 {
		return limit / 16 * memoryShare
	}
	return memoryDefault
}

// An evaluation or a report takes at most about this many bytes, because texts are truncated.
const perResult = 1024

// size returns the approximate size of the memory in bytes. Inventories and plans are replaced, but never modified.
func (m *memory) size() int64 {
	if m.measured != m.stored.Inventory || m.measuredPlan != m.plan {
		m.measured, m.measuredPlan = m.stored.Inventory, m.plan
		m.measuredSize = bytelru.SizeOf(m.measured, memoryDefault) + bytelru.SizeOf(m.plan, memoryDefault)
	}
	results := len(m.evaluations) + len(m.reports) + len(m.repairs) + len(m.nonMembers)
	return perResult*int64(1+results) + m.measuredSize
}

// conclude forgets the state that a call made obsolete. The parameter inv is the inventory at the end of the call.
func (m *memory) conclude(inv *inventory.Inventory) {
	m.forgetGone(inv)
	m.plan = nil // It was made before this call.
}

// forgetReturned forgets what requests found about objects that the bundle contains again. The parameter inv is the inventory at the end of a run,
// or nil if nothing was applied.
func (m *memory) forgetReturned(inv *inventory.Inventory) {
	if inv == nil || len(m.nonMembers) == 0 {
		return
	}
	idx := inv.Index()
	maps.DeleteFunc(m.nonMembers, func(k cluster.ObjectRef, _ teardown.NonMember) bool { return idx[k] != nil && !idx[k].Pruned })
}

// forgetGone forgets objects that are not in the inventory, if the memory has more objects than the inventory.
func (m *memory) forgetGone(inv *inventory.Inventory) {
	most := len(inv.Objects)
	if len(m.evaluations) <= most && len(m.reports) <= most && len(m.nonMembers) <= most && len(m.repairs) <= most {
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
	maps.DeleteFunc(m.nonMembers, func(k cluster.ObjectRef, _ teardown.NonMember) bool { return gone(k) })
	maps.DeleteFunc(m.repairs, func(k cluster.ObjectRef, _ ownership.Repairs) bool { return gone(k) })
}

// turns lets one call at a time work at each place.
type turns struct {
	mu sync.Mutex
	by map[place]*turn
}

// A turn serializes calls. The call that sent a value to held has the turn; calls counts that call and the waiting calls.
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
	release := func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if own.calls--; own.calls == 0 {
			delete(t.by, k)
		}
	}
	select {
	case own.held <- struct{}{}:
		return func() { <-own.held; release() }, nil
	case <-ctx.Done():
		release()
		return nil, errors.Wrapf(ctx.Err(), "another call is in progress for set %s", k.name)
	}
}
