// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"sync"
	"sync/atomic"
	"time"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/uuid"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/test/fleet/apiserver/kinds"
	"github.com/crossplane-contrib/provider-kyma/test/fleet/apiserver/record"
)

// Options are the options of a cluster. The zero value is valid.
type Options struct {
	// History is how many changes are remembered for watches and pages. The default is 100.
	History int
	// NoControllers leaves out all controllers except the one for CRDs, which is a part of a real API server.
	NoControllers bool
	// Delay is the time after which controllers react. The default is 50 ms, so that clients get their responses first. If it is
	// negative, controllers react during the request, and the response does not show it.
	Delay time.Duration
}

// A Cluster is the state of a simulated cluster. It is safe for concurrent use. It needs no goroutine.
type Cluster struct {
	options Options
	store   *record.Store
	kinds   atomic.Pointer[kinds.Set]

	// mu is held during a write and the work of the controllers.
	mu sync.Mutex
	// changed has the objects that the controllers have to process.
	changed []changed
	// waiting is true while a timer runs that starts the controllers.
	waiting bool
	// observe is called with each object that is stored, unless it is nil.
	observe func(record.Key, map[string]any)
}

// A changed is an object that changed. UID is set if it was deleted.
type changed struct {
	record.Key

	uid string
}

// New returns a cluster with the namespaces that every cluster has.
func New(o Options) (*Cluster, error) {
	if o.History == 0 {
		o.History = 100
	}
	if o.Delay == 0 {
		o.Delay = 50 * time.Millisecond
	}
	c := &Cluster{options: o, store: record.NewStore(o.History)}
	c.kinds.Store(kinds.Builtin())
	for _, name := range []string{metav1.NamespaceSystem, metav1.NamespaceDefault, metav1.NamespacePublic, "kube-node-lease"} {
		object := map[string]any{"metadata": map[string]any{"name": name}}
		if _, err := c.Create(Target{Kind: c.kindOf("", "namespaces"), Name: name}, object, Write{Manager: "kube-apiserver"}); err != nil {
			return nil, errors.Wrapf(err, "cannot create namespace %s", name)
		}
	}
	c.runControllers()
	c.store.Expire()
	return c, nil
}

// Kinds returns the kinds that the cluster serves.
func (c *Cluster) Kinds() *kinds.Set { return c.kinds.Load() }

// Store returns the objects of the cluster. Only read it.
func (c *Cluster) Store() *record.Store { return c.store }

// Observe calls a function with all objects, and from now on with each object that is stored, so that it misses no state of an object.
// The function must not change the object, or call the cluster. It replaces the previous one, and can be nil.
func (c *Cluster) Observe(f func(record.Key, map[string]any)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.observe = f
	if f == nil {
		return
	}
	for _, k := range c.store.All() {
		if r := c.store.Get(k); r != nil {
			f(k, r.Object())
		}
	}
}

// kindOf returns a kind that the cluster serves, or nil.
func (c *Cluster) kindOf(group, resource string) *kinds.Kind {
	return c.Kinds().Of(schema.GroupResource{Group: group, Resource: resource})
}

// A Target is the subject of a request.
type Target struct {
	Kind *kinds.Kind
	// Name is empty for a collection, and Namespace for all namespaces.
	Namespace, Name, Subresource string
}

func (t Target) key() record.Key {
	return record.Key{GroupResource: t.Kind.GroupResource(), Namespace: t.Namespace, Name: t.Name}
}

func (t Target) notFound() error { return kerrors.NewNotFound(t.Kind.GroupResource(), t.Name) }

// view returns an object in the version of the target.
func (t Target) view(r *record.Record) map[string]any {
	out := r.Object()
	out["apiVersion"] = t.Kind.GroupVersion().String()
	return out
}

// Get returns an object.
func (c *Cluster) Get(t Target) (map[string]any, error) {
	r := c.store.Get(t.key())
	if r == nil {
		return nil, t.notFound()
	}
	return t.view(r), nil
}

// put stores an object with the next version, and returns it.
func (c *Cluster) put(t Target, object map[string]any) (map[string]any, error) {
	r, err := c.store.Put(t.key(), func(version uint64) (*record.Record, error) {
		setVersion(object, version)
		return record.New(object)
	})
	if err != nil {
		return nil, err
	}
	if c.observe != nil {
		c.observe(t.key(), r.Object())
	}
	c.enqueue(t.key(), "")
	return t.view(r), nil
}

// enqueue records that an object changed or, with a UID, that it was deleted.
func (c *Cluster) enqueue(k record.Key, uid string) {
	c.changed = append(c.changed, changed{Key: k, uid: uid})
}

// unlockAndReconcile lets the controllers react to what changed, at once or later, and unlocks the cluster.
func (c *Cluster) unlockAndReconcile() {
	defer c.mu.Unlock()
	if len(c.changed) == 0 || c.waiting {
		return
	}
	if c.options.Delay < 0 {
		controller{c}.run()
		return
	}
	c.waiting = true
	time.AfterFunc(c.options.Delay, c.runControllers)
}

// runControllers lets the controllers react to what changed.
func (c *Cluster) runControllers() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waiting = false
	controller{c}.run()
}

// remove deletes an object from the store.
func (c *Cluster) remove(t Target, uid string) uint64 {
	version := c.store.Delete(t.key())
	c.enqueue(t.key(), uid)
	return version
}

func newUID() string { return string(uuid.NewUUID()) }

func now() string { return time.Now().UTC().Format(time.RFC3339) }

// MetadataView returns metadata as a client sees it that requests only metadata. It can change its argument. An annotation that API
// servers add when they convert a DaemonSet is missing.
func MetadataView(k *kinds.Kind, metadata map[string]any) map[string]any {
	annotations, ok := metadata["annotations"].(map[string]any)
	if !ok || k.GroupResource().String() != "daemonsets.apps" {
		return metadata
	}
	if delete(annotations, templateGeneration); len(annotations) == 0 {
		delete(metadata, "annotations")
	}
	return metadata
}
