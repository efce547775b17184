// SPDX-License-Identifier: Apache-2.0

package noopupdate

import (
	"context"
	"reflect"

	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// A Writer is a client that knows its own writes.
type Writer interface {
	client.Client
	// IsCurrent reports whether an object is known to be no older than the last write of the client.
	IsCurrent(obj client.Object) bool
}

// A Client suppresses updates that would change nothing. It does so for updates of a ProviderConfig or a
// ClusterProviderConfig, and for updates of the status of these, of a Kyma, a Manifest, a ModuleTemplate or a KymaSet.
type Client struct {
	Writer

	// cache contains the objects to compare with.
	cache client.Reader
}

// New returns a client that writes an object through w if it differs from the object in a cache.
func New(w Writer, cache client.Reader) *Client {
	return &Client{Writer: w, cache: cache}
}

// Update updates an object. It suppresses an update of a config that would change nothing, but no update of another kind.
func (c *Client) Update(ctx context.Context, obj client.Object, opts ...client.UpdateOption) error {
	switch obj.(type) {
	case *v1alpha1.ProviderConfig, *v1alpha1.ClusterProviderConfig:
		if have := c.cached(ctx, obj); have != nil && sameConfig(have, obj) {
			return nil
		}
	}
	return c.Writer.Update(ctx, obj, opts...)
}

// Status returns a writer that suppresses updates that would change nothing.
func (c *Client) Status() client.SubResourceWriter {
	return &writer{SubResourceWriter: c.Writer.Status(), client: c}
}

// A writer suppresses updates of a status that would change nothing.
type writer struct {
	client.SubResourceWriter

	client *Client
}

// Update updates the status, unless that would change nothing.
func (w *writer) Update(ctx context.Context, obj client.Object, opts ...client.SubResourceUpdateOption) error {
	if want := statusOf(obj); want != nil {
		if have := w.client.cached(ctx, obj); have != nil && equality.Semantic.DeepEqual(statusOf(have), want) {
			return nil
		}
	}
	return w.SubResourceWriter.Update(ctx, obj, opts...)
}

// cached returns an object from the cache to compare with. It returns nil if the cache has another version than the object,
// or if this client has written a version that neither has. In that case, the update is sent, and the API server decides.
func (c *Client) cached(ctx context.Context, obj client.Object) client.Object {
	if !c.IsCurrent(obj) {
		return nil
	}
	have, ok := reflect.New(reflect.TypeOf(obj).Elem()).Interface().(client.Object)
	if !ok {
		return nil
	}
	if err := c.cache.Get(ctx, client.ObjectKeyFromObject(obj), have); err != nil || have.GetResourceVersion() != obj.GetResourceVersion() {
		return nil
	}
	return have
}

// statusOf returns the status of an object, or nil for kinds whose updates are never suppressed.
func statusOf(obj client.Object) any {
	switch obj := obj.(type) {
	case *v1alpha1.Kyma:
		return obj.Status
	case *v1alpha1.Manifest:
		return obj.Status
	case *v1alpha1.ModuleTemplate:
		return obj.Status
	case *v1alpha1.KymaSet:
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
