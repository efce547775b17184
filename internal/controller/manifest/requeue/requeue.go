// SPDX-License-Identifier: Apache-2.0

package requeue

import (
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

const (
	// eventBuffer is the capacity of the channel. The controller moves events to its queue at once, so the channel rarely
	// contains many.
	eventBuffer = 1024
	// cacheDelay is the time that the cache needs to receive a write. A pass that begins earlier uses an old Manifest, ends
	// in a conflict, and is retried with the delay of a failure.
	cacheDelay = 250 * time.Millisecond
)

// A Requeuer adds Manifests to the queue of the controller. It knows the Manifests of each bundle, and receives the changes
// of bundles in target clusters. It is safe for concurrent use.
type Requeuer struct {
	// done is closed when the controller stops and no longer reads the events.
	done   <-chan struct{}
	events chan event.GenericEvent

	mu          sync.Mutex
	manifestsOf map[string]map[types.NamespacedName]bool
	bundleOf    map[types.NamespacedName]string
}

// New returns a Requeuer without Manifests. done is closed when the controller stops.
func New(done <-chan struct{}) *Requeuer {
	return &Requeuer{
		done:        done,
		events:      make(chan event.GenericEvent, eventBuffer),
		manifestsOf: map[string]map[types.NamespacedName]bool{},
		bundleOf:    map[types.NamespacedName]string{},
	}
}

// Events returns the channel from which the controller receives the Manifests to queue.
func (r *Requeuer) Events() chan event.GenericEvent { return r.events }

// Add registers a Manifest with the ID of its bundle, which replaces the bundle that the Manifest had before.
func (r *Requeuer) Add(id string, nn types.NamespacedName) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.bundleOf[nn] == id {
		return
	}
	r.drop(nn)
	r.bundleOf[nn] = id
	if r.manifestsOf[id] == nil {
		r.manifestsOf[id] = map[types.NamespacedName]bool{}
	}
	r.manifestsOf[id][nn] = true
}

// Remove removes a Manifest.
func (r *Requeuer) Remove(nn types.NamespacedName) {
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
	id, ok := r.bundleOf[nn]
	if !ok {
		return
	}
	delete(r.bundleOf, nn)
	delete(r.manifestsOf[id], nn)
	if len(r.manifestsOf[id]) == 0 {
		delete(r.manifestsOf, id)
	}
}

// Changed queues the Manifests of a bundle after an object of the bundle changed.
func (r *Requeuer) Changed(id string) {
	r.mu.Lock()
	var names []types.NamespacedName
	for nn := range r.manifestsOf[id] {
		names = append(names, nn)
	}
	r.mu.Unlock()
	for _, nn := range names {
		r.queue(nn)
	}
}

// Wake queues a Manifest, by its name as a consumer of a cluster: namespace/name.
func (r *Requeuer) Wake(consumer string) {
	namespace, name, _ := strings.Cut(consumer, string(types.Separator))
	r.queue(types.NamespacedName{Namespace: namespace, Name: name})
}

// Again queues a Manifest once its last write is in the cache.
func (r *Requeuer) Again(nn types.NamespacedName) { r.After(nn, cacheDelay) }

// After queues a Manifest after a delay.
func (r *Requeuer) After(nn types.NamespacedName, d time.Duration) {
	time.AfterFunc(d, func() { r.queue(nn) })
}

// queue queues a Manifest, unless the controller stops.
func (r *Requeuer) queue(nn types.NamespacedName) {
	e := event.GenericEvent{Object: &v1alpha1.Manifest{ObjectMeta: metav1.ObjectMeta{Namespace: nn.Namespace, Name: nn.Name}}}
	select {
	case r.events <- e:
	case <-r.done:
	}
}
