// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
)

// Limits limits the memory that a cache uses for its cluster. A kind that exceeds one of the limits isn't watched. Zero values
// select the defaults.
type Limits struct {
	// Objects is the maximum number of objects of one kind. The default is 20,000.
	Objects int
	// Bytes is the maximum size of the states of one kind, and Total is the maximum size for all kinds of the cluster. The
	// defaults are 16 MiB and 64 MiB.
	Bytes, Total int64
}

// mostVersion is the maximum size of a resource version in bytes. That of an API server has at most 20.
const mostVersion = 1 << 10

// versionOf returns the resource version of an object or a list. It returns an error if it is too long to be kept and sent again.
func versionOf(m interface{ GetResourceVersion() string }) (string, error) {
	version := m.GetResourceVersion()
	if len(version) > mostVersion {
		return "", errors.Errorf("the API server returned a resource version of more than %d bytes", mostVersion)
	}
	return version, nil
}

// overhead is the size of a state without its texts, in bytes.
const overhead = 256

func (l Limits) withDefaults() Limits {
	if l.Objects == 0 {
		l.Objects = 20_000
	}
	if l.Bytes == 0 {
		l.Bytes = 16 << 20
	}
	if l.Total == 0 {
		l.Total = 64 << 20
	}
	return l
}

// WithLimits sets the limits of the cache.
func WithLimits(l Limits) Option {
	return func(c *Cache) { c.limits = l.withDefaults() }
}

// sizeOf returns the size of a state in memory, in bytes.
func sizeOf(n name, s *cluster.ObjectState) int64 {
	return overhead + int64(len(n.namespace)+len(n.name)+len(s.UID)+len(s.ResourceVersion)+len(s.Set)+len(s.Owned)+len(s.Message)+len(s.Reason))
}

// A tally contains the states of one list while it arrives.
type tally struct {
	kind    *kind
	states  map[name]cluster.ObjectState
	version string
	bytes   int64
}

func (k *kind) newTally() *tally { return &tally{kind: k, states: map[name]cluster.ObjectState{}} }

// add adds a state. It returns an error if the list contains too many.
func (t *tally) add(n name, s *cluster.ObjectState) error {
	t.remove(n)
	t.states[n] = *s
	t.bytes += sizeOf(n, s)
	return t.kind.tooMany(len(t.states), t.bytes, t.kind.cache.size.Load()-t.kind.counted.Load()+t.bytes)
}

// remove removes a state, if the list contains it.
func (t *tally) remove(n name) {
	if s, ok := t.states[n]; ok {
		t.bytes -= sizeOf(n, &s)
		delete(t.states, n)
	}
}

// tooMany returns a *cluster.TooManyError if a number of objects, their size or the size of all kinds exceeds the limits, or the size
// of all kinds exceeds what the budget has left.
func (k *kind) tooMany(objects int, bytes, total int64) error {
	l, b := k.cache.limits, k.cache.budget
	switch {
	case objects > l.Objects || bytes > l.Bytes || total > l.Total:
		return &cluster.TooManyError{Kind: k.gk.Kind, Selector: k.cache.interpreter.Selector(), Objects: l.Objects, Bytes: l.Bytes}
	case b.exceeds(k.cache, total):
		return &cluster.TooManyError{Kind: k.gk.Kind, Selector: k.cache.interpreter.Selector(), Bytes: b.most, Shared: true}
	}
	return nil
}

// bound counts the objects of the kind after a change. If they exceed the limits, it drops them, ends the watch, and returns
// the changes to report. The caller holds the lock.
func (k *kind) bound() []change {
	k.count()
	err := k.tooMany(len(k.objects.known), k.objects.size, k.cache.size.Load())
	if err == nil {
		return nil
	}
	return k.drop(err)
}

// drop removes all objects of a kind with too many objects, and ends the watch. It returns one change for each set. The caller
// holds the lock.
func (k *kind) drop(err error) []change {
	k.err, k.failed, k.synced = err, k.attempt, false
	sets := map[string]bool{}
	var changes []change
	for _, c := range k.objects.clear() {
		if !sets[c.old.Set] {
			sets[c.old.Set] = true
			changes = append(changes, c)
		}
	}
	k.count()
	k.life.abort()
	k.broadcast()
	return changes
}

// exceeded handles a list that is too large.
func (k *kind) exceeded(err error) {
	k.mu.Lock()
	changes := k.drop(err)
	k.mu.Unlock()
	k.notify(changes)
}

// count updates the size of all kinds. The caller holds the lock.
func (k *kind) count() {
	k.cache.budget.set(k.cache, k.cache.size.Add(k.objects.size-k.counted.Swap(k.objects.size)))
}
