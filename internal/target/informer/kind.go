// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/panics"
	"github.com/crossplane-contrib/provider-kyma/internal/target/transport"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
)

// These are the minimum delays before a request for the kind retries a failing watch.
const (
	retryAfter        = 2 * time.Second
	retryDeniedAfter  = 30 * time.Second
	retryTooManyAfter = deniedPause
)

// A kind is the store of the objects of one kind, which are watched in one version. A watcher fills it.
type kind struct {
	cache *Cache
	gk    schema.GroupKind
	// examined is true if states contain a hash of the whole object.
	examined atomic.Bool

	mu      sync.Mutex
	objects objects
	// gvk is the watched version, or empty if there is no watch. mu guards it and all fields below.
	gvk schema.GroupVersionKind
	// synced is true from the first successful list until the data is no longer valid.
	synced bool
	// err is the error of the last attempt to list or to watch, or nil if that succeeded.
	err error
	// attempt counts the attempts, including the current one. failed is the number of the attempt that returned err.
	attempt, failed int
	// tried is the start of the last attempt, and used is the time of the last request for the kind.
	tried, used time.Time
	// changed is closed and set to nil when one of the fields above changes. The next caller that waits creates it.
	changed chan struct{}
	// waiting contains the functions to call when the first list is no longer in progress.
	waiting []func()
	// listed releases the slot of the first list. It is nil if the kind has no slot. queued is true while the kind waits for one.
	listed func()
	queued bool
	// resting is the current pause between two requests, or nil. requested is true if the next one must be skipped.
	resting   *rest
	requested bool
	// life is that of the current watcher, or nil.
	life *lifetime
	// parked is true after Park has removed the kind from the cache.
	parked bool
	// counted is the size of the objects as counted in the size of the cache.
	counted atomic.Int64
}

func newKind(c *Cache, gk schema.GroupKind) *kind {
	return &kind{cache: c, gk: gk, objects: newObjects(), used: time.Now()}
}

// watches reports whether a version needs no new watch, because it or another version that the cluster serves is watched.
func (k *kind) watches(version string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.used = time.Now()
	if k.gvk.Empty() {
		return false
	}
	return k.gvk.Version == version || !isNoKind(k.err)
}

// start starts a watch and ends the previous one, if any. The caller holds the lock of the cache.
func (k *kind) start(gvk schema.GroupVersionKind, r Resource) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.gvk == gvk {
		return
	}
	k.life.end()
	k.gvk, k.err, k.synced, k.parked = gvk, nil, false, false
	k.attempt++
	k.tried = time.Now()
	w := &watcher{kind: k, resource: r}
	k.life = &w.life
	k.cache.running.Add(1) // The watcher subtracts it when it ends.
	go w.run()
}

// end ends the watch and returns true if the kind has no known objects, was not requested since the given time, and no caller waits for it.
func (k *kind) end(since time.Time) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.used.Before(since) || len(k.objects.known) > 0 || len(k.waiting) > 0 {
		return false
	}
	k.life.end()
	k.gvk = schema.GroupVersionKind{}
	return true
}

// retry starts a new attempt if the last one failed and did not begin just now.
func (k *kind) retry() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.err == nil || k.failed < k.attempt || panics.Is(k.err) {
		return
	}
	pause := retryAfter
	if apierrors.IsForbidden(k.err) || apierrors.IsUnauthorized(k.err) {
		pause = retryDeniedAfter
	}
	if isTooMany(k.err) {
		pause = retryTooManyAfter
	}
	if time.Since(k.tried) < pause {
		return
	}
	// Count the new attempt now, so that callers wait for it instead of returning the previous error.
	k.attempt++
	k.tried = time.Now()
	k.endRest()
}

// retrySoon ends the pause after a failed attempt. It reports whether another attempt follows or is in progress.
func (k *kind) retrySoon() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.err == nil {
		return false
	}
	if k.failed >= k.attempt {
		k.attempt++
		k.tried = time.Now()
		k.endRest()
	}
	return true
}

// endRest ends the current pause, or the next one if there is none. The caller holds the lock.
func (k *kind) endRest() {
	if k.requested = k.resting == nil; !k.requested {
		go k.resting.end()
		k.resting = nil
	}
}

// wait waits until the kind is in sync, or until an attempt that began after this call has failed.
func (k *kind) wait(ctx context.Context) error {
	for {
		k.mu.Lock()
		if k.changed == nil {
			k.changed = make(chan struct{})
		}
		err, changed := k.err, k.changed
		synced, failed := k.synced && err == nil, err != nil && k.failed >= k.attempt
		k.mu.Unlock()
		if synced {
			return nil
		}
		if failed {
			return err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return k.late(context.Cause(ctx))
		case <-k.cache.root.Done():
			return k.cache.root.Err()
		}
	}
}

// begin records the start of an attempt, unless retry has counted it already.
func (k *kind) begin() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.failed >= k.attempt {
		k.attempt++
	}
	k.tried = time.Now()
}

// wentWell records that a request succeeded.
func (k *kind) wentWell() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.err = nil
	k.broadcast()
}

// fail records a failed attempt. If the cluster no longer serves the kind, fail removes all its objects; otherwise they
// stay.
func (k *kind) fail(err error) {
	k.mu.Lock()
	k.err, k.failed = transport.Kept(err), k.attempt
	var changes []change
	if isNoKind(err) {
		k.synced = false
		changes = k.objects.clear()
		k.count()
	}
	k.broadcast()
	k.mu.Unlock()
	k.notify(changes)
}

// broadcast tells those who wait for the kind that its state changed. The caller holds the lock.
func (k *kind) broadcast() {
	if k.changed != nil {
		close(k.changed)
		k.changed = nil
	}
	if k.isListing() {
		return
	}
	for _, f := range k.waiting {
		go f()
	}
	k.waiting = nil
}

// get returns the state of an object. It returns false if the kind is not in sync, because its known state could be outdated.
func (k *kind) get(n name) (cluster.ObjectState, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.synced || k.err != nil {
		return cluster.ObjectState{}, false
	}
	return k.objects.state(n)
}

// holds returns the watched version, and whether there are objects of a set. It returns false if the kind is not in sync.
func (k *kind) holds(set string) (gvk schema.GroupVersionKind, members, synced bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.gvk, k.objects.members[set] > 0, k.synced && k.err == nil
}

// listBegins records that a list is about to begin.
func (k *kind) listBegins() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.objects.begin()
}

func (k *kind) put(n name, s cluster.ObjectState) {
	k.mu.Lock()
	if k.parked {
		k.mu.Unlock()
		return
	}
	k.objects.put(n, s)
	changes := k.bound()
	k.mu.Unlock()
	k.notify(changes)
}

func (k *kind) forget(n name) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.objects.forget(n)
	k.count()
}

// event stores an event of a watch. It returns the version of the object, and false if it cannot be read.
func (k *kind) event(e watch.Event) (version string, ok bool) {
	m, err := meta.Accessor(e.Object)
	if err != nil {
		return "", false
	}
	switch e.Type {
	case watch.Added, watch.Modified:
		err = k.seen(e.Object)
	case watch.Deleted:
		err = k.deleted(e.Object)
	case watch.Bookmark, watch.Error:
	}
	if err != nil {
		k.cache.log.Debug("Cannot read an event of a watch", "kind", k.gk.String(), "error", err.Error())
	}
	return m.GetResourceVersion(), true
}

// seen stores an object of an event.
func (k *kind) seen(obj runtime.Object) error {
	n, s, err := k.summarize(obj)
	if err != nil {
		return err
	}
	k.mu.Lock()
	if k.parked || isTooMany(k.err) {
		k.mu.Unlock()
		return nil
	}
	var changes []change
	if c, ok := k.objects.seen(n, s); ok {
		changes = append(changes, c)
	}
	changes = append(changes, k.bound()...)
	k.mu.Unlock()
	k.notify(changes)
	return nil
}

// deleted removes an object of a deletion event.
func (k *kind) deleted(obj runtime.Object) error {
	n, s, err := k.summarize(obj)
	if err != nil {
		return err
	}
	k.mu.Lock()
	c, ok := k.objects.deleted(n, s)
	k.count()
	k.mu.Unlock()
	if ok {
		k.notify([]change{c})
	}
	return nil
}

// replace replaces all objects with those of a list.
func (k *kind) replace(list map[name]cluster.ObjectState, resourceVersion string) error {
	k.mu.Lock()
	again := k.objects.newest != ""
	k.mu.Unlock()
	if again {
		panics.Log(k.subject(), k.cache.relisted)
	}
	k.mu.Lock()
	if err := k.err; k.parked || isTooMany(err) {
		k.mu.Unlock()
		return err
	}
	changes, rewritten := k.objects.replaced(list, resourceVersion)
	if !k.synced {
		// Objects in the first list are not changes.
		changes = slices.DeleteFunc(changes, func(c change) bool { return c.old == nil })
	}
	k.synced, k.err = true, nil
	changes = append(changes, k.bound()...)
	k.broadcast()
	k.mu.Unlock()
	k.returnSlot()
	if rewritten {
		k.cache.log.Info("The resource versions of a cluster went backwards, dropping all cached objects", "kind", k.gk.String())
	}
	k.notify(changes)
	return nil
}

// notify reports changes, sorted by name. The caller holds no locks.
func (k *kind) notify(changes []change) {
	slices.SortFunc(changes, func(a, b change) int {
		if c := strings.Compare(a.name.namespace, b.name.namespace); c != 0 {
			return c
		}
		return strings.Compare(a.name.name, b.name.name)
	})
	for _, c := range changes {
		key := cluster.ObjectRef{Group: k.gk.Group, Kind: k.gk.Kind, Namespace: c.name.namespace, Name: c.name.name}
		if c.old != nil {
			k.report(c.old.Set, key, c)
		}
		if c.now != nil && (c.old == nil || c.old.Set != c.now.Set) {
			k.report(c.now.Set, key, c)
		}
	}
}

// report reports a change to a set. If one receiver panics, the others still receive their changes.
func (k *kind) report(set string, key cluster.ObjectRef, c change) {
	panics.Log(key.String(), func() { k.cache.change(set, key, c.old, c.now) })
}

// subject returns the name of the kind for the error of a panic.
func (k *kind) subject() string { return "the objects of kind " + k.gk.Kind }

func isNoKind(err error) bool {
	e := (*cluster.NoKindError)(nil)
	return errors.As(err, &e)
}

func isTooMany(err error) bool {
	e := (*cluster.TooManyError)(nil)
	return errors.As(err, &e)
}
