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

// pending is how many events wait for the queue. The queue takes them at once, so that few ever do.
const pending = 1024

// routes lead from the ID of a bundle to the Manifests that it is of. Changes in target clusters come this way.
type routes struct {
	events chan event.GenericEvent

	mu     sync.Mutex
	byID   map[string]map[types.NamespacedName]bool
	byName map[types.NamespacedName]string
}

func newRoutes() *routes {
	return &routes{
		events: make(chan event.GenericEvent, pending),
		byID:   map[string]map[types.NamespacedName]bool{},
		byName: map[types.NamespacedName]string{},
	}
}

// add a route.
func (r *routes) add(id string, nn types.NamespacedName) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.byName[nn] == id {
		return
	}
	r.drop(nn)
	r.byName[nn] = id
	if r.byID[id] == nil {
		r.byID[id] = map[types.NamespacedName]bool{}
	}
	r.byID[id][nn] = true
}

// remove the route of a Manifest.
func (r *routes) remove(nn types.NamespacedName) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.drop(nn)
}

func (r *routes) drop(nn types.NamespacedName) {
	id, ok := r.byName[nn]
	if !ok {
		return
	}
	delete(r.byName, nn)
	delete(r.byID[id], nn)
	if len(r.byID[id]) == 0 {
		delete(r.byID, id)
	}
}

// changed says that something of a bundle changed in its cluster.
func (r *routes) changed(id string) {
	r.mu.Lock()
	var names []types.NamespacedName
	for nn := range r.byID[id] {
		names = append(names, nn)
	}
	r.mu.Unlock()
	for _, nn := range names {
		r.send(nn)
	}
}

// soon is how long it takes until the cache shows what was just written. A pass that begins before works on an old
// Manifest: it ends in a conflict, and then waits as if it had failed.
const soon = 250 * time.Millisecond

// again sends a Manifest to the queue once its last write is in the cache.
func (r *routes) again(nn types.NamespacedName) {
	time.AfterFunc(soon, func() { r.send(nn) })
}

// send a Manifest to the queue.
func (r *routes) send(nn types.NamespacedName) {
	r.events <- event.GenericEvent{Object: &v1alpha1.Manifest{ObjectMeta: metav1.ObjectMeta{Namespace: nn.Namespace, Name: nn.Name}}}
}
