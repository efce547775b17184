// SPDX-License-Identifier: Apache-2.0

package manifest

import (
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

// A requeuer adds Manifests to the queue of the controller. It knows the Manifests of each bundle, and receives the changes
// of bundles in target clusters.
type requeuer struct {
	// done is closed when the controller stops and no longer reads the events.
	done   <-chan struct{}
	events chan event.GenericEvent

	mu          sync.Mutex
	manifestsOf map[string]map[types.NamespacedName]bool
	bundleOf    map[types.NamespacedName]string
}

func newRequeuer(done <-chan struct{}) *requeuer {
	return &requeuer{
		done:        done,
		events:      make(chan event.GenericEvent, eventBuffer),
		manifestsOf: map[string]map[types.NamespacedName]bool{},
		bundleOf:    map[types.NamespacedName]string{},
	}
}

// add registers a Manifest with the ID of its bundle, which replaces the bundle that the Manifest had before.
func (r *requeuer) add(id string, nn types.NamespacedName) {
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

// remove removes a Manifest.
func (r *requeuer) remove(nn types.NamespacedName) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.drop(nn)
}

func (r *requeuer) drop(nn types.NamespacedName) {
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

// changed queues the Manifests of a bundle after an object of the bundle changed.
func (r *requeuer) changed(id string) {
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

// again queues a Manifest once its last write is in the cache.
func (r *requeuer) again(nn types.NamespacedName) {
	time.AfterFunc(cacheDelay, func() { r.queue(nn) })
}

// queue queues a Manifest, unless the controller stops.
func (r *requeuer) queue(nn types.NamespacedName) {
	e := event.GenericEvent{Object: &v1alpha1.Manifest{ObjectMeta: metav1.ObjectMeta{Namespace: nn.Namespace, Name: nn.Name}}}
	select {
	case r.events <- e:
	case <-r.done:
	}
}
