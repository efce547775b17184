// SPDX-License-Identifier: Apache-2.0

package noopupdate

import (
	"cmp"
	"context"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/utils/lru"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// maxWritten is the number of objects whose last written version is kept.
const maxWritten = 50_000

// Bounds of the wait for the cache, which has a write within milliseconds.
const (
	attempts = 50
	pause    = 2 * time.Millisecond
)

// NewClient is a NewClient function for a manager. The client suppresses updates of a ProviderConfig or a ClusterProviderConfig,
// and updates of the status of these, of a Kyma, a Manifest or a ModuleTemplate, that would change nothing.
func NewClient(cfg *rest.Config, o client.Options) (client.Client, error) {
	c, err := client.New(cfg, o)
	if err != nil {
		return nil, err
	}
	return newClient(c), nil
}

// newClient returns a client that suppresses updates.
func newClient(c client.Client) *suppressingClient {
	return &suppressingClient{Client: c, written: lru.New(maxWritten)}
}

// A suppressingClient suppresses updates that would change nothing.
type suppressingClient struct {
	client.Client

	// written has the resource version of the last write of this client to each object, by UID.
	written *lru.Cache
}

// Get an object. It waits, up to 100 ms, until the cache has the last write of this client. Otherwise a reconcile that follows
// a write at once would begin with the state before it, and end in a conflict.
func (c *suppressingClient) Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	err := c.Client.Get(ctx, key, obj, opts...)
	for i := 0; i < attempts && err == nil && c.isStale(obj) && sleep(ctx); i++ {
		err = c.Client.Get(ctx, key, obj, opts...)
	}
	return err
}

// isStale reports whether an object is older than the last write of this client.
func (c *suppressingClient) isStale(obj client.Object) bool {
	if newObject(obj) == nil {
		return false
	}
	order, ok := c.compare(obj)
	return ok && order < 0
}

// compare the version of an object with that of the last write of this client. The result is negative for an older object, and
// positive for one that another client has written since. Versions that are not numbers cannot be compared, unless they are
// equal.
func (c *suppressingClient) compare(obj client.Object) (order int, ok bool) {
	last, known := c.written.Get(obj.GetUID())
	if !known || last == obj.GetResourceVersion() {
		return 0, true
	}
	written, _ := last.(string)
	want, err := strconv.ParseUint(written, 10, 64)
	if err != nil {
		return 0, false
	}
	have, err := strconv.ParseUint(obj.GetResourceVersion(), 10, 64)
	return cmp.Compare(have, want), err == nil
}

// sleep until the next attempt. It returns false where the context ends first.
func sleep(ctx context.Context) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(pause):
		return true
	}
}

// Update an object. An update of a config that would change nothing is suppressed; updates of other kinds are not.
func (c *suppressingClient) Update(ctx context.Context, obj client.Object, opts ...client.UpdateOption) error {
	switch obj.(type) {
	case *v1alpha1.ProviderConfig, *v1alpha1.ClusterProviderConfig:
		if have := c.cached(ctx, obj); have != nil && sameConfig(have, obj) {
			return nil
		}
	}
	err := c.Client.Update(ctx, obj, opts...)
	c.remember(obj, err)
	return err
}

// Apply an object.
func (c *suppressingClient) Apply(ctx context.Context, obj runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
	err := c.Client.Apply(ctx, obj, opts...)
	if o, ok := obj.(client.Object); ok && err == nil && o.GetObjectKind().GroupVersionKind().Group == v1alpha1.Group {
		c.written.Add(o.GetUID(), o.GetResourceVersion())
	}
	return err
}

// Patch an object.
func (c *suppressingClient) Patch(ctx context.Context, obj client.Object, p client.Patch, opts ...client.PatchOption) error {
	err := c.Client.Patch(ctx, obj, p, opts...)
	c.remember(obj, err)
	return err
}

// Status returns a writer that suppresses updates that would change nothing.
func (c *suppressingClient) Status() client.SubResourceWriter {
	return &writer{SubResourceWriter: c.Client.Status(), client: c}
}

// A writer suppresses updates of a status that would change nothing.
type writer struct {
	client.SubResourceWriter

	client *suppressingClient
}

// Update the status, unless that would change nothing.
func (w *writer) Update(ctx context.Context, obj client.Object, opts ...client.SubResourceUpdateOption) error {
	if have := w.client.cached(ctx, obj); have != nil && sameStatus(have, obj) {
		return nil
	}
	err := w.SubResourceWriter.Update(ctx, obj, opts...)
	w.client.remember(obj, err)
	return err
}

// remember the version of an object that was written.
func (c *suppressingClient) remember(obj client.Object, err error) {
	if err == nil && newObject(obj) != nil {
		c.written.Add(obj.GetUID(), obj.GetResourceVersion())
	}
}

// cached returns an object from the cache, where it can be compared with; nil otherwise. It cannot where the cache has another
// version than the object, or where this client has written a version that neither has. The update is sent then, and the API
// server decides.
func (c *suppressingClient) cached(ctx context.Context, obj client.Object) client.Object {
	have := newObject(obj)
	if have == nil {
		return nil
	}
	if order, ok := c.compare(obj); !ok || order < 0 {
		return nil
	}
	if err := c.Client.Get(ctx, client.ObjectKeyFromObject(obj), have); err != nil || have.GetResourceVersion() != obj.GetResourceVersion() {
		return nil
	}
	return have
}

// newObject returns an empty object of the same kind, or nil for kinds whose updates are never suppressed.
func newObject(obj client.Object) client.Object {
	switch obj.(type) {
	case *v1alpha1.Kyma:
		return &v1alpha1.Kyma{}
	case *v1alpha1.Manifest:
		return &v1alpha1.Manifest{}
	case *v1alpha1.ModuleTemplate:
		return &v1alpha1.ModuleTemplate{}
	case *v1alpha1.ProviderConfig:
		return &v1alpha1.ProviderConfig{}
	case *v1alpha1.ClusterProviderConfig:
		return &v1alpha1.ClusterProviderConfig{}
	}
	return nil
}

// sameStatus reports whether two objects have the same status.
func sameStatus(have, want client.Object) bool {
	return equality.Semantic.DeepEqual(status(have), status(want))
}

// status returns the status of an object.
func status(obj client.Object) any {
	switch obj := obj.(type) {
	case *v1alpha1.Kyma:
		return obj.Status
	case *v1alpha1.Manifest:
		return obj.Status
	case *v1alpha1.ModuleTemplate:
		return obj.Status
	case *v1alpha1.ProviderConfig:
		return obj.Status
	case *v1alpha1.ClusterProviderConfig:
		return obj.Status
	}
	return nil
}

// sameConfig reports whether two configs are the same, apart from their status.
func sameConfig(have, want client.Object) bool {
	switch want := want.(type) {
	case *v1alpha1.ProviderConfig:
		h, ok := have.(*v1alpha1.ProviderConfig)
		return ok && equality.Semantic.DeepEqual(h.ObjectMeta, want.ObjectMeta) && equality.Semantic.DeepEqual(h.Spec, want.Spec)
	case *v1alpha1.ClusterProviderConfig:
		h, ok := have.(*v1alpha1.ClusterProviderConfig)
		return ok && equality.Semantic.DeepEqual(h.ObjectMeta, want.ObjectMeta) && equality.Semantic.DeepEqual(h.Spec, want.Spec)
	}
	return false
}
