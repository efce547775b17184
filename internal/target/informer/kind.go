// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
)

// How long to wait at least before a failing watch is tried again because someone asks for it.
const (
	retryAfter       = 2 * time.Second
	retryDeniedAfter = 30 * time.Second
)

// A kind is watched in one version. It is the store that the reflector fills.
type kind struct {
	cache *Cache
	gk    schema.GroupKind

	mu      sync.Mutex
	objects objects
	// gvk that is watched; empty if none is. Guarded by mu, as all below.
	gvk schema.GroupVersionKind
	// synced is true once the kind was listed, and for as long as what is known can be believed.
	synced bool
	// err of the last attempt to list or to watch; nil while it goes well.
	err error
	// attempt counts the attempts, the running one included; failed is the one that err is from.
	attempt, failed int
	// tried is when the last attempt began, used when someone last asked.
	tried, used time.Time
	// changed is closed, and made again, when one of the above changes.
	changed chan struct{}
	// retryNow ends the pause between two attempts; stop ends the watch.
	retryNow chan struct{}
	stop     context.CancelFunc
}

func newKind(c *Cache, gk schema.GroupKind) *kind {
	return &kind{
		cache: c, gk: gk, objects: newObjects(), used: time.Now(),
		changed: make(chan struct{}), retryNow: make(chan struct{}, 1), stop: func() {},
	}
}

// watches says whether a version needs no new watch: its own is running, or that of another version that goes well.
func (k *kind) watches(version string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.used = time.Now()
	if k.gvk.Empty() {
		return false
	}
	return k.gvk.Version == version || !isNoKind(k.err)
}

// start a watch instead of the one that is there, if any. The lock of the cache is held.
func (k *kind) start(gvk schema.GroupVersionKind, r Resource) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.gvk == gvk {
		return
	}
	k.stop()
	ctx, stop := context.WithCancel(k.cache.root)
	k.gvk, k.stop, k.err, k.synced = gvk, stop, nil, false
	k.attempt++
	k.tried = time.Now()
	k.cache.running.Go(func() { k.run(ctx, r) })
}

// end the watch if no one asked for the kind since a time, and nothing of it is known.
func (k *kind) end(since time.Time) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.used.Before(since) || len(k.objects.known) > 0 {
		return false
	}
	k.stop()
	k.gvk = schema.GroupVersionKind{}
	return true
}

// retry a watch that failed, unless it was tried just now.
func (k *kind) retry() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.err == nil || k.failed < k.attempt {
		return
	}
	pause := retryAfter
	if apierrors.IsForbidden(k.err) || apierrors.IsUnauthorized(k.err) {
		pause = retryDeniedAfter
	}
	if time.Since(k.tried) < pause {
		return
	}
	// From here on the error is that of an attempt before the running one, so that waiters wait.
	k.attempt++
	k.tried = time.Now()
	select {
	case k.retryNow <- struct{}{}:
	default:
	}
}

// wait waits until the kind is in sync, or until an attempt that began after this call has failed.
func (k *kind) wait(ctx context.Context) error {
	for {
		k.mu.Lock()
		err, changed := k.err, k.changed
		synced, settled := k.synced && err == nil, err != nil && k.failed >= k.attempt
		k.mu.Unlock()
		if synced {
			return nil
		}
		if settled {
			return err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return errors.Wrapf(context.Cause(ctx), "the objects of kind %s were not listed in time", k.gk.Kind)
		case <-k.cache.root.Done():
			return k.cache.root.Err()
		}
	}
}

// begin an attempt, unless retry announced it already.
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

// fail an attempt. If the kind is no longer served, nothing of it exists any more; any other failure leaves what is known.
func (k *kind) fail(err error) {
	k.mu.Lock()
	k.err, k.failed = err, k.attempt
	var changes []change
	if isNoKind(err) {
		k.synced = false
		changes = k.objects.replaced(nil, "")
	}
	k.broadcast()
	k.mu.Unlock()
	k.notify(changes)
}

func (k *kind) broadcast() {
	close(k.changed)
	k.changed = make(chan struct{})
}

func (k *kind) get(n name) (cluster.ObjectState, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	s, ok := k.objects.known[n]
	return s, ok
}

func (k *kind) put(n name, s cluster.ObjectState) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.objects.put(n, s)
}

func (k *kind) forget(n name) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.objects.forget(n)
}

var _ cache.TransformingStore = &kind{}

// Transformer of objects that the reflector collects before it replaces ours.
func (k *kind) Transformer() cache.TransformFunc { return shrink(k.cache.interpreter) }

// Add an object that the watch brings.
func (k *kind) Add(obj any) error {
	n, s, err := summarize(k.cache.interpreter, obj)
	if err != nil {
		return err
	}
	k.mu.Lock()
	c, ok := k.objects.seen(n, s)
	k.mu.Unlock()
	if ok {
		k.notify([]change{c})
	}
	return nil
}

// Update an object that the watch brings.
func (k *kind) Update(obj any) error { return k.Add(obj) }

// Delete an object that the watch says is gone.
func (k *kind) Delete(obj any) error {
	n, s, err := summarize(k.cache.interpreter, obj)
	if err != nil {
		return err
	}
	k.mu.Lock()
	c, ok := k.objects.deleted(n, s)
	k.mu.Unlock()
	if ok {
		k.notify([]change{c})
	}
	return nil
}

// Replace all objects by those of a listing.
func (k *kind) Replace(items []any, resourceVersion string) error {
	list := make(map[name]cluster.ObjectState, len(items))
	for _, item := range items {
		n, s, err := summarize(k.cache.interpreter, item)
		if err != nil {
			return err
		}
		list[n] = s
	}
	k.mu.Lock()
	changes := k.objects.replaced(list, resourceVersion)
	if !k.synced {
		// What a first listing finds is news to no one.
		changes = slices.DeleteFunc(changes, func(c change) bool { return c.old == nil })
	}
	k.synced, k.err = true, nil
	k.broadcast()
	k.mu.Unlock()
	k.notify(changes)
	return nil
}

// Resync is not used.
func (k *kind) Resync() error { return nil }

// notify of changes, in the order of names. No lock is held.
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
			k.cache.change(c.old.Set, key, c.old, c.now)
		}
		if c.now != nil && (c.old == nil || c.old.Set != c.now.Set) {
			k.cache.change(c.now.Set, key, c.old, c.now)
		}
	}
}

func isNoKind(err error) bool {
	e := (*cluster.NoKindError)(nil)
	return errors.As(err, &e)
}
