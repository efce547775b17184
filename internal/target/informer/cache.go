// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"

	"github.com/crossplane-contrib/provider-kyma/internal/target/slots"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
)

const (
	// idleAfter is how long a watch without objects is kept after the last request for its kind.
	idleAfter = 10 * time.Minute
	// idleCheckEvery is the shortest time between two searches for idle watches.
	idleCheckEvery = time.Minute
	// slotTime is the maximum time that a first list holds its slot.
	slotTime = 3 * time.Second
	// ownSlots is the maximum number of slots of one cache, so that a cluster with many kinds doesn't use all of them.
	ownSlots = 8
)

// A Resource identifies what a watch returns.
type Resource struct {
	schema.GroupVersionResource

	// MetadataOnly selects PartialObjectMetadata instead of unstructured objects.
	MetadataOnly bool
}

// A Client lists and watches the objects of all namespaces.
type Client interface {
	List(ctx context.Context, r Resource, o metav1.ListOptions) (runtime.Object, error)
	Watch(ctx context.Context, r Resource, o metav1.ListOptions) (Stream, error)
	// Served reports whether the cluster serves a kind. The cache calls it after a 404 response to a list or a watch,
	// which may come from a proxy between the provider and the cluster.
	Served(ctx context.Context, gvk schema.GroupVersionKind) (bool, error)
}

// A Stream returns the events of a watch.
type Stream interface {
	// Next waits for the next event and returns it. At the end of the watch, it returns io.EOF.
	Next() (watch.Event, error)
	// Idle returns false if Next might return immediately, or if Next is the only way to wait for an event. Otherwise, it wakes the waiter
	// when an event arrives or the watch ends. Until then, the watch needs no goroutine.
	Idle(w Waiter) bool
	// Detached returns a function that ends the watch from another goroutine, without blocking and at any time. It returns nil if the watch ends with
	// the context of its request.
	Detached() func()
	// Stop ends the watch. The server may be informed later.
	Stop()
}

// A Waiter waits for the next event of an idle stream.
type Waiter interface {
	// Wake is called once, in a new goroutine, when Next might return.
	Wake()
	// Bookmark can be called before that, with the version of a bookmark that Next will not return. It must return soon, and must not use
	// the stream.
	Bookmark(version string)
	// Patience returns how long the stream may be idle without a bookmark, or 0 for any time. After that, it may end.
	Patience() time.Duration
}

// A MapFunc returns the mapping of a kind. The error is a *cluster.NoKindError for a kind that the cluster does not serve.
type MapFunc func(ctx context.Context, gvk schema.GroupVersionKind) (cluster.Mapping, error)

// A ChangeFunc is called when another client has changed an object of a set: old is nil for a new object, and now is nil
// for a deleted one. A change from one set to another is reported to both. The goroutine of the watch calls the function
// without locks. The function must return soon and must not close the cache.
type ChangeFunc func(set string, key cluster.ObjectRef, old, now *cluster.ObjectState)

// A Cache watches one cluster. It is safe for concurrent use.
type Cache struct {
	client  Client
	mapping MapFunc
	// interpreter determines what to watch, and what to keep of it.
	interpreter cluster.Interpreter
	change      ChangeFunc
	relisted    func()
	log         logging.Logger
	line        *slots.Line
	// impatient makes Track return an error for kinds that are being listed, instead of waiting.
	impatient bool
	// limits contains the limits of the cache. size is the size of all objects of all kinds.
	limits Limits
	size   atomic.Int64
	// budget is shared with other caches. It is nil if there is none.
	budget *Budget
	// sighting is the last known version of the cluster.
	sighting sighting

	// root is canceled by Close, which also ends the watches that are independent of it; running counts the watchers.
	root    context.Context //nolint:containedctx // It is the lifetime of the cache.
	stop    context.CancelFunc
	running sync.WaitGroup

	// mu guards kinds and idleChecked, but not the fields of each kind.
	mu          sync.RWMutex
	kinds       map[schema.GroupKind]*kind
	idleChecked time.Time
}

var _ cluster.Cache = &Cache{}

// An Option configures a cache.
type Option func(*Cache)

// WithChange sets the function that is called when other clients change objects.
func WithChange(f ChangeFunc) Option {
	return func(c *Cache) { c.change = f }
}

// WithRelisted sets a function that is called before the objects of a kind are replaced by those of another list, because a watch
// that could not be resumed might have led to a different cluster. The goroutine of a watch calls the function without holding locks.
func WithRelisted(f func()) Option {
	return func(c *Cache) { c.relisted = f }
}

// WithLogger sets the logger of failing watches, which are logged at debug level.
func WithLogger(l logging.Logger) Option {
	return func(c *Cache) { c.log = l }
}

// WithSlots limits the number of kinds that all caches with the same slots list for the first time at the same time. A list that takes
// more than three seconds no longer counts.
func WithSlots(s *slots.Slots) Option {
	return func(c *Cache) { c.line = s.NewLine(ownSlots) }
}

// WithoutWaiting makes Track return a *cluster.ListingError for kinds whose first list is in progress, instead of waiting for it.
func WithoutWaiting() Option {
	return func(c *Cache) { c.impatient = true }
}

// New returns a cache that watches nothing yet.
func New(client Client, m MapFunc, i cluster.Interpreter, o ...Option) *Cache {
	c := &Cache{
		client:      client,
		mapping:     m,
		interpreter: i,
		change:      func(string, cluster.ObjectRef, *cluster.ObjectState, *cluster.ObjectState) {},
		relisted:    func() {},
		log:         logging.NewNopLogger(),
		limits:      Limits{}.withDefaults(),
		sighting:    sighting{asking: make(chan struct{}, 1)},
		kinds:       map[schema.GroupKind]*kind{},
		idleChecked: time.Now(),
	}
	c.root, c.stop = context.WithCancel(context.Background())
	for _, f := range o {
		f(c)
	}
	c.budget.join(c)
	return c
}

// Interpreter returns the interpreter of the cache.
func (c *Cache) Interpreter() cluster.Interpreter { return c.interpreter }

// Track starts watching kinds, waits until each has been listed, and returns an error for each kind that is not in sync: a
// *cluster.NoKindError for a kind that the cluster does not serve, the error of the API server for a kind that the credentials
// don't allow watching, a *cluster.TooManyError for a kind with more objects than the limits allow, and the error of the
// context for a kind that was not listed in time. Track retries a failed watch after a pause. With
// WithoutWaiting, it does not wait.
func (c *Cache) Track(ctx context.Context, gvks []schema.GroupVersionKind) map[schema.GroupVersionKind]error {
	c.stopIdle()
	failed := map[schema.GroupVersionKind]error{}
	started := make(map[schema.GroupVersionKind]*kind, len(gvks))
	for _, gvk := range gvks {
		k, err := c.start(ctx, gvk)
		if err != nil {
			failed[gvk] = err
			continue
		}
		started[gvk] = k
		k.retry() //nolint:contextcheck // The watcher that continues has a context of its own.
	}
	standing := func(k *kind) error { return k.wait(ctx) }
	if c.impatient {
		standing = (&listing{}).standing
	}
	for gvk, k := range started {
		if err := standing(k); err != nil {
			failed[gvk] = err
		}
	}
	return failed
}

// Examine makes each change of the objects of kinds a change of their state. Without it, an object that only a controller of its own
// changes, such as a frequently updated status, costs no hash and causes no call of the ChangeFunc.
func (c *Cache) Examine(gks []schema.GroupKind) {
	for _, gk := range gks {
		c.kind(gk).examined.Store(true)
	}
}

// Get returns the state of an object of a kind that is in sync. It returns false if the object does not exist, or its kind is not in
// sync.
func (c *Cache) Get(key cluster.ObjectRef) (cluster.ObjectState, bool) {
	c.mu.RLock()
	k := c.kinds[key.GroupKind()]
	c.mu.RUnlock()
	if k == nil {
		return cluster.ObjectState{}, false
	}
	return k.get(nameOf(key))
}

// Kinds returns the kinds that are in sync, in the watched versions, and whether the cache contains an object of a set.
func (c *Cache) Kinds(set string) map[schema.GroupVersionKind]bool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	out := make(map[schema.GroupVersionKind]bool, len(c.kinds))
	for _, k := range c.kinds {
		if gvk, members, synced := k.holds(set); synced {
			out[gvk] = members
		}
	}
	return out
}

// Put stores the state of an object from the response to a write of the engine.
func (c *Cache) Put(key cluster.ObjectRef, s cluster.ObjectState) {
	c.kind(key.GroupKind()).put(nameOf(key), s)
}

// Forget removes an object that no longer exists.
func (c *Cache) Forget(key cluster.ObjectRef) {
	c.kind(key.GroupKind()).forget(nameOf(key))
}

// SetPriority sets the priority with which the kinds get slots. A higher one comes first.
func (c *Cache) SetPriority(priority int) { c.line.SetPriority(priority) }

// Close ends all watches and waits for them.
func (c *Cache) Close() {
	// The lock ensures that no watch starts after this.
	c.mu.Lock()
	c.stop()
	for _, k := range c.kinds {
		k.mu.Lock()
		k.life.end()
		k.mu.Unlock()
	}
	c.mu.Unlock()
	c.running.Wait()
	c.budget.leave(c)
}

// kind returns a kind of the cache, or adds a kind without a watch.
func (c *Cache) kind(gk schema.GroupKind) *kind {
	c.mu.Lock()
	defer c.mu.Unlock()
	k := c.kinds[gk]
	if k == nil {
		k = newKind(c, gk)
		c.kinds[gk] = k
	}
	return k
}

// start starts watching a kind if necessary. If the cluster no longer serves the watched version, it switches to the
// requested version.
func (c *Cache) start(ctx context.Context, gvk schema.GroupVersionKind) (*kind, error) {
	k := c.kind(gvk.GroupKind())
	if k.watches(gvk.Version) {
		return k, nil
	}
	m, err := c.mapping(ctx, gvk)
	if err != nil {
		return nil, err
	}
	r := Resource{
		GroupVersionResource: gvk.GroupVersion().WithResource(m.Resource),
		MetadataOnly:         !c.interpreter.NeedsStatus(gvk.GroupKind()),
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.root.Err(); err != nil {
		return nil, err
	}
	// The kind may have been removed in the meantime.
	if now := c.kinds[gvk.GroupKind()]; now != nil {
		k = now
	}
	c.kinds[gvk.GroupKind()] = k
	k.start(gvk, r) //nolint:contextcheck // The watch outlives the call; it ends with the cache.
	return k, nil
}

// stopIdle ends watches that found no objects and were not requested recently.
func (c *Cache) stopIdle() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.idleChecked) < idleCheckEvery {
		return
	}
	c.idleChecked = time.Now()
	for gk, k := range c.kinds {
		if k.end(c.idleChecked.Add(-idleAfter)) {
			delete(c.kinds, gk)
		}
	}
}
