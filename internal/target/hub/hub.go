// SPDX-License-Identifier: Apache-2.0

package hub

import (
	"context"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
)

const (
	// idleAfter is how long a watch without objects is kept when nobody asks for it.
	idleAfter = 10 * time.Minute
	// sweepEvery bounds how often idle watches are looked for.
	sweepEvery = time.Minute
)

// A Resource is what a watch is for.
type Resource struct {
	schema.GroupVersionResource

	// MetadataOnly asks for PartialObjectMetadata instead of unstructured objects.
	MetadataOnly bool
}

// A Client lists and watches the objects of all namespaces.
type Client interface {
	List(ctx context.Context, r Resource, o metav1.ListOptions) (runtime.Object, error)
	Watch(ctx context.Context, r Resource, o metav1.ListOptions) (watch.Interface, error)
	// Served asks the cluster whether it serves a kind. It is asked where a list or a watch is not found, as that alone may
	// be the answer of anything between us and the cluster.
	Served(ctx context.Context, gvk schema.GroupVersionKind) (bool, error)
}

// A MapFunc maps a kind. The error of a kind that does not exist is a *cluster.NoKindError.
type MapFunc func(ctx context.Context, gvk schema.GroupVersionKind) (cluster.Mapping, error)

// A ChangeFunc is told that somebody else changed an object of a set: old is nil if it is new, and now is nil if it is
// gone. An object that moved from one set to another is reported to both. It is called by the goroutine of the watch,
// without locks, and should return soon; it must not close the hub.
type ChangeFunc func(set string, key cluster.ObjectRef, old, now *cluster.ObjectState)

// A Hub watches one cluster. It is safe for concurrent use.
type Hub struct {
	client  Client
	mapping MapFunc
	// interpreter says what to watch, and what to keep of it.
	interpreter cluster.Interpreter
	change      ChangeFunc
	log         logging.Logger

	// root ends with Close, and with it all watches, which running counts.
	root    context.Context //nolint:containedctx // It is the lifetime of the hub.
	stop    context.CancelFunc
	running sync.WaitGroup

	// mu guards the map and the time, not the kinds.
	mu    sync.RWMutex
	kinds map[schema.GroupKind]*kind
	swept time.Time
}

var _ cluster.Cache = &Hub{}

// An Option of a hub.
type Option func(*Hub)

// WithChange has f called when others change our objects.
func WithChange(f ChangeFunc) Option {
	return func(h *Hub) { h.change = f }
}

// WithLogger logs failing watches at debug level.
func WithLogger(l logging.Logger) Option {
	return func(h *Hub) { h.log = l }
}

// New hub, which watches nothing yet.
func New(c Client, m MapFunc, i cluster.Interpreter, o ...Option) *Hub {
	h := &Hub{
		client:      c,
		mapping:     m,
		interpreter: i,
		change:      func(string, cluster.ObjectRef, *cluster.ObjectState, *cluster.ObjectState) {},
		log:         logging.NewNopLogger(),
		kinds:       map[schema.GroupKind]*kind{},
		swept:       time.Now(),
	}
	h.root, h.stop = context.WithCancel(context.Background())
	for _, f := range o {
		f(h)
	}
	return h
}

// Track watches kinds and waits for their first listing. The reason of a kind that the cluster does not serve is a
// *cluster.NoKindError, that of one that may not be watched is from the API server, and that of one that was not listed
// in time is the error of the context. A watch that fails is tried again when it is tracked, though not in each second.
func (h *Hub) Track(ctx context.Context, gvks []schema.GroupVersionKind) map[schema.GroupVersionKind]error {
	h.sweep()
	failed := map[schema.GroupVersionKind]error{}
	started := make(map[schema.GroupVersionKind]*kind, len(gvks))
	for _, gvk := range gvks {
		k, err := h.start(ctx, gvk)
		if err != nil {
			failed[gvk] = err
			continue
		}
		started[gvk] = k
		k.retry()
	}
	for gvk, k := range started {
		if err := k.wait(ctx); err != nil {
			failed[gvk] = err
		}
	}
	return failed
}

// Get what is known of an object.
func (h *Hub) Get(key cluster.ObjectRef) (cluster.ObjectState, bool) {
	h.mu.RLock()
	k := h.kinds[key.GroupKind()]
	h.mu.RUnlock()
	if k == nil {
		return cluster.ObjectState{}, false
	}
	return k.get(nameOf(key))
}

// Put what the answer to a write of ours says of an object.
func (h *Hub) Put(key cluster.ObjectRef, s cluster.ObjectState) {
	h.kind(key.GroupKind()).put(nameOf(key), s)
}

// Forget an object that is gone.
func (h *Hub) Forget(key cluster.ObjectRef) {
	h.kind(key.GroupKind()).forget(nameOf(key))
}

// Close all watches, and wait until they have ended.
func (h *Hub) Close() {
	// Under the lock, so that no watch starts after this.
	h.mu.Lock()
	h.stop()
	h.mu.Unlock()
	h.running.Wait()
}

// kind that is known, or a new one that is not watched.
func (h *Hub) kind(gk schema.GroupKind) *kind {
	h.mu.Lock()
	defer h.mu.Unlock()
	k := h.kinds[gk]
	if k == nil {
		k = newKind(h, gk)
		h.kinds[gk] = k
	}
	return k
}

// start to watch a kind, if it is not watched yet. A version that the cluster no longer serves is left for another one.
func (h *Hub) start(ctx context.Context, gvk schema.GroupVersionKind) (*kind, error) {
	k := h.kind(gvk.GroupKind())
	if k.watches(gvk.Version) {
		return k, nil
	}
	m, err := h.mapping(ctx, gvk)
	if err != nil {
		return nil, err
	}
	r := Resource{
		GroupVersionResource: gvk.GroupVersion().WithResource(m.Resource),
		MetadataOnly:         !h.interpreter.NeedsStatus(gvk.GroupKind()),
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := h.root.Err(); err != nil {
		return nil, err
	}
	// The kind may have been swept while the mapping was asked for.
	if now := h.kinds[gvk.GroupKind()]; now != nil {
		k = now
	}
	h.kinds[gvk.GroupKind()] = k
	k.start(gvk, r) //nolint:contextcheck // The watch outlives the call; it ends with the hub.
	return k, nil
}

// sweep ends watches that nobody asked for lately and that found nothing.
func (h *Hub) sweep() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if time.Since(h.swept) < sweepEvery {
		return
	}
	h.swept = time.Now()
	for gk, k := range h.kinds {
		if k.end(h.swept.Add(-idleAfter)) {
			delete(h.kinds, gk)
		}
	}
}
