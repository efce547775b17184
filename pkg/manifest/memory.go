// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"
	"maps"
	"sync"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ownership"
)

// setKey identifies a set among all clusters. Its owner is part of it, so that two owners of one name share nothing, and
// the cluster as far as that can be proved, so that a connection which only claims the same address shares nothing either.
type setKey struct {
	cluster, name, owner string
}

func keyOfSet(c cluster.Cluster, s *Set) setKey {
	k := setKey{cluster: c.Config().Host, name: s.Name, owner: s.Owner}
	if i, ok := c.(interface{ Identity() string }); ok {
		k.cluster = i.Identity()
	}
	return k
}

// A memory is what the engine knows of a set between two calls. It can be lost at any time.
type memory struct {
	// inv is the inventory as it is in the cluster at version. It is never changed, only replaced.
	inv     *inventory.Inventory
	version string
	// owner that inv names.
	owner string
	// size of the inventory as it is stored, in bytes.
	size int
	// failed are the parts that could not be applied, with the digest of the inputs that failed.
	failed map[string]failure
	// waiting is what the last step waited for.
	waiting string
	// held are the parts that wait for an install before them, and why.
	held map[string]string
	// judged are verdicts on objects that rules are for.
	judged map[cluster.ObjectRef]verdict
	// contention about fields that others take again and again.
	contention ownership.Contention
	// reported is what was found of objects that differ and are left as they are.
	reported map[cluster.ObjectRef]reportedDrift
	// settled are objects that are to go and that a request did not find, or found to be nothing of the set, by their UID.
	settled map[cluster.ObjectRef]string
	// plan is the last one; nil for none.
	plan *keptPlan
}

// A failure of a part.
type failure struct {
	digest string
	err    error
}

// A verdict of a rule about one version of an object.
type verdict struct {
	resourceVersion string
	rule            string
	state           State
	message         string
}

// forgetGone forgets objects that an inventory no longer has, once it knows of more than there are.
func (m *memory) forgetGone(inv *inventory.Inventory) {
	most := len(inv.Objects)
	if len(m.judged) <= most && len(m.reported) <= most && len(m.settled) <= most && m.contention.Len() <= most {
		return
	}
	idx := inv.Index()
	gone := func(k cluster.ObjectRef) bool { return idx[k] == nil }
	maps.DeleteFunc(m.judged, func(k cluster.ObjectRef, _ verdict) bool { return gone(k) })
	maps.DeleteFunc(m.settled, func(k cluster.ObjectRef, _ string) bool { return gone(k) })
	maps.DeleteFunc(m.reported, func(k cluster.ObjectRef, _ reportedDrift) bool { return gone(k) })
	m.contention.ForgetIf(gone)
}

func (e *Engine) memoryOf(c cluster.Cluster, s *Set) *memory {
	k := keyOfSet(c, s)
	e.mu.Lock()
	defer e.mu.Unlock()
	if m, ok := e.sets.Get(k); ok {
		return m.(*memory) //nolint:forcetypeassert // Only memories are put in.
	}
	m := &memory{failed: map[string]failure{}, judged: map[cluster.ObjectRef]verdict{}}
	e.sets.Add(k, m)
	return m
}

// Forget what is known of a set.
func (e *Engine) Forget(c cluster.Cluster, s *Set) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.sets.Remove(keyOfSet(c, s))
}

// turns let one call at a time work on a set.
type turns struct {
	mu sync.Mutex
	by map[setKey]*turn
}

// A turn is held by the call that has put something into the channel; calls counts that one and those that wait for it.
type turn struct {
	held  chan struct{}
	calls int
}

// take a turn at a set, which is to be given back. Others that have it are waited for as long as the context lasts.
func (t *turns) take(ctx context.Context, k setKey) (back func(), err error) {
	t.mu.Lock()
	if t.by == nil {
		t.by = map[setKey]*turn{}
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
