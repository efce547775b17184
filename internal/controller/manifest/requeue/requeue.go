// SPDX-License-Identifier: Apache-2.0

package requeue

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

const (
	// eventBuffer is the capacity of the channel. The controller moves events to its queue immediately, so the channel rarely
	// contains many events.
	eventBuffer = 1024
	// cacheDelay is the time that the cache needs to receive a write. A pass that begins earlier uses an old Manifest, ends
	// in a conflict, and is retried with the delay of a failure.
	cacheDelay = 250 * time.Millisecond
	// spacing is the minimum time between two passes over a Manifest that are caused by changes in its cluster. spacingReady is
	// the minimum time for a Manifest that is Ready. Otherwise, an operator that constantly updates a status would cause a pass
	// for each update.
	spacing      = time.Second
	spacingReady = 5 * time.Second
)

// A Requeuer adds Manifests to the queue of the controller. It knows the Manifests of each bundle, and receives the changes
// of bundles in target clusters. It is safe for concurrent use.
type Requeuer struct {
	// done is closed when the controller stops and no longer reads the events.
	done   <-chan struct{}
	events chan event.GenericEvent
	ready  func(types.NamespacedName) bool

	mu sync.Mutex
	// manifestsOf contains slices, because nearly every bundle has one Manifest.
	manifestsOf map[place][]types.NamespacedName
	bundleOf    map[types.NamespacedName]place
	// sharersIn holds, by cluster, the Manifests that use CRDs of other owners.
	sharersIn map[string]map[types.NamespacedName]bool
	// buckets limits the passes that changes in each cluster cause.
	buckets buckets
	// pacesOf contains the time at which changes last queued each Manifest.
	pacesOf map[types.NamespacedName]*pace
	// passes contains the passes that are running.
	passes map[types.NamespacedName]*pass
}

// A place is the ID of a bundle and the identity of its cluster.
type place struct{ id, cluster string }

// A pace is the state of the spacing of one Manifest.
type pace struct {
	// last is the time of the last pass that a change caused. pending is true if a timer for the next pass is running.
	last    time.Time
	pending bool
	// observed is true if another pass has observed since the last change that nothing is left to do.
	observed bool
}

// An Option configures a Requeuer.
type Option func(*Requeuer)

// WithReady sets a function that reports whether a Manifest is Ready. Without it, no Manifest counts as Ready.
func WithReady(f func(types.NamespacedName) bool) Option {
	return func(r *Requeuer) { r.ready = f }
}

// ReadyIn returns a function for WithReady that reads Manifests with a client.
func ReadyIn(ctx context.Context, c client.Reader) func(types.NamespacedName) bool {
	return func(nn types.NamespacedName) bool {
		mr := &v1alpha1.Manifest{}
		err := c.Get(ctx, nn, mr)
		return err == nil && mr.GetCondition(xpv2.TypeReady).Status == corev1.ConditionTrue
	}
}

// New returns a Requeuer without Manifests. done is closed when the controller stops.
func New(done <-chan struct{}, o ...Option) *Requeuer {
	r := &Requeuer{
		done:        done,
		events:      make(chan event.GenericEvent, eventBuffer),
		ready:       func(types.NamespacedName) bool { return false },
		manifestsOf: map[place][]types.NamespacedName{},
		bundleOf:    map[types.NamespacedName]place{},
		sharersIn:   map[string]map[types.NamespacedName]bool{},
		buckets:     buckets{},
		pacesOf:     map[types.NamespacedName]*pace{},
		passes:      map[types.NamespacedName]*pass{},
	}
	for _, f := range o {
		f(r)
	}
	return r
}

// Events returns the channel from which the controller receives the Manifests to queue.
func (r *Requeuer) Events() chan event.GenericEvent { return r.events }

// Add registers a Manifest with the ID of its bundle and the identity of its cluster. They replace the previous values of the
// Manifest.
func (r *Requeuer) Add(id, cluster string, nn types.NamespacedName) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := place{id: id, cluster: cluster}
	if r.bundleOf[nn] == now {
		return
	}
	r.drop(nn)
	r.bundleOf[nn] = now
	r.manifestsOf[now] = append(r.manifestsOf[now], nn)
}

// Remove removes a Manifest.
func (r *Requeuer) Remove(nn types.NamespacedName) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.drop(nn)
	delete(r.pacesOf, nn)
}

// RemoveFromBundle removes a Manifest from its bundle, which belongs to another owner, until the Manifest is registered again.
func (r *Requeuer) RemoveFromBundle(nn types.NamespacedName) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.drop(nn)
}

// Has reports whether a Manifest is registered.
func (r *Requeuer) Has(nn types.NamespacedName) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, ok := r.bundleOf[nn]
	return ok
}

func (r *Requeuer) drop(nn types.NamespacedName) {
	was, ok := r.bundleOf[nn]
	if !ok {
		return
	}
	delete(r.bundleOf, nn)
	r.share(was.cluster, nn, false)
	left := slices.DeleteFunc(r.manifestsOf[was], func(other types.NamespacedName) bool { return other == nn })
	if r.manifestsOf[was] = left; len(left) == 0 {
		delete(r.manifestsOf, was)
	}
}

// A Sharer is a Manifest in a cluster whose bundles can use the same CRDs. A nil *Sharer does nothing.
type Sharer struct {
	requeuer *Requeuer
	cluster  string
	name     types.NamespacedName
}

// SharerOf returns the Sharer of a Manifest.
func (r *Requeuer) SharerOf(cluster string, nn types.NamespacedName) *Sharer {
	return &Sharer{requeuer: r, cluster: cluster, name: nn}
}

// Share registers whether the Manifest uses CRDs of other owners.
func (s *Sharer) Share(shares bool) {
	if s != nil {
		s.requeuer.Share(s.name, shares)
	}
}

// Changed queues the Manifests that may use a CRD, if this Manifest changed one: a watch does not report what this process changes.
func (s *Sharer) Changed(changed bool) {
	if s != nil && changed {
		s.requeuer.ChangedCRD(s.cluster)
	}
}

// Share registers whether a Manifest uses CRDs of other owners in its cluster.
func (r *Requeuer) Share(nn types.NamespacedName, shares bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if of, ok := r.bundleOf[nn]; ok {
		r.share(of.cluster, nn, shares)
	}
}

func (r *Requeuer) share(cluster string, nn types.NamespacedName, shares bool) {
	switch {
	case !shares:
		delete(r.sharersIn[cluster], nn)
		if len(r.sharersIn[cluster]) == 0 {
			delete(r.sharersIn, cluster)
		}
		return
	case r.sharersIn[cluster] == nil:
		r.sharersIn[cluster] = map[types.NamespacedName]bool{}
	}
	r.sharersIn[cluster][nn] = true
}

// ChangedCRD queues the Manifests that use CRDs of other owners in a cluster, after a CRD changed there. They may be the ones that use it.
func (r *Requeuer) ChangedCRD(cluster string) {
	r.mu.Lock()
	names := slices.Collect(maps.Keys(r.sharersIn[cluster]))
	r.mu.Unlock()
	for _, nn := range names {
		r.pace(nn)
	}
}

// Changed queues the Manifests of a bundle in a cluster after an object of the bundle changed there: immediately, or later if
// the last change was very recent. A pass begins after each change. Bundles in other clusters can have the same ID.
func (r *Requeuer) Changed(cluster, id string) {
	r.mu.Lock()
	names := slices.Clone(r.manifestsOf[place{id: id, cluster: cluster}])
	r.mu.Unlock()
	for _, nn := range names {
		r.pace(nn)
	}
}

// pace queues a Manifest immediately, or when its spacing is over and it is the turn of its cluster, but not during a pass.
func (r *Requeuer) pace(nn types.NamespacedName) {
	r.mu.Lock()
	if running := r.passes[nn]; running != nil {
		running.changes++
		r.mu.Unlock()
		return
	}
	p := r.pacesOf[nn]
	if p == nil {
		p = &pace{}
		r.pacesOf[nn] = p
	}
	p.observed = false
	if p.pending {
		r.mu.Unlock()
		return
	}
	p.pending = true
	last := p.last
	r.mu.Unlock()
	if time.Since(last) >= spacingReady {
		r.take(nn, p)
		return
	}
	// The lock is not held, because the function reads a cache.
	distance := spacing
	if r.ready(nn) {
		distance = spacingReady
	}
	time.AfterFunc(time.Until(last.Add(distance)), func() { r.take(nn, p) })
}

// take queues a Manifest whose spacing is over, immediately or when it is the turn of its cluster.
func (r *Requeuer) take(nn types.NamespacedName, p *pace) {
	r.mu.Lock()
	if p.observed {
		p.pending = false
		r.mu.Unlock()
		return
	}
	wait := r.buckets.take(r.bundleOf[nn].cluster, time.Now())
	r.mu.Unlock()
	queue := func() {
		r.mu.Lock()
		p.pending, p.last = false, time.Now()
		r.mu.Unlock()
		r.Queue(nn)
	}
	if wait == 0 {
		queue()
		return
	}
	time.AfterFunc(wait, queue)
}

// Wake queues a Manifest. The parameter is its name as a consumer of a cluster, namespace/name.
func (r *Requeuer) Wake(consumer string) {
	namespace, name, _ := strings.Cut(consumer, string(types.Separator))
	r.Queue(types.NamespacedName{Namespace: namespace, Name: name})
}

// Again queues a Manifest once its last write is in the cache.
func (r *Requeuer) Again(nn types.NamespacedName) { r.After(nn, cacheDelay) }

// After queues a Manifest after a delay.
func (r *Requeuer) After(nn types.NamespacedName, d time.Duration) {
	time.AfterFunc(d, func() { r.Queue(nn) })
}

// Queue queues a Manifest, unless the controller stops.
func (r *Requeuer) Queue(nn types.NamespacedName) {
	e := event.GenericEvent{Object: &v1alpha1.Manifest{ObjectMeta: metav1.ObjectMeta{Namespace: nn.Namespace, Name: nn.Name}}}
	select {
	case r.events <- e:
	case <-r.done:
	}
}
