// SPDX-License-Identifier: Apache-2.0

package hook

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/health"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ssa"
)

// A Target creates, reads and deletes the objects of hooks.
type Target interface {
	// Create creates an object and returns its UID. If the object exists, the error is a conflict.
	Create(ctx context.Context, o *object.Desired) (string, error)

	// Metadata returns the metadata of an object, or nil if it does not exist.
	Metadata(ctx context.Context, gvk schema.GroupVersionKind, r cluster.ObjectRef) (*metav1.PartialObjectMetadata, error)

	// State returns the state of an object, and false if it does not exist. If you pass a UID, State does not trust a cache that
	// has an object with another UID.
	State(ctx context.Context, o *object.Desired, uid string) (cluster.ObjectState, bool, error)

	// Delete deletes the object with a UID. It returns the state of an object that is waiting for its finalizers, and nil if the
	// object is gone. If the object has another UID, the error is a conflict.
	Delete(ctx context.Context, o *object.Desired, uid string) (*cluster.ObjectState, error)
}

// A LiveTarget is the Target of a real run. A dry run uses another Target.
type LiveTarget struct {
	Client *ssa.Client
	Cache  cluster.Cache
	// Track watches kinds. It returns the kinds that are not in sync in the cache, with the reason.
	Track func(ctx context.Context, gvks []schema.GroupVersionKind) map[schema.GroupVersionKind]error
}

// Create creates an object. It implements Target.
func (c *LiveTarget) Create(ctx context.Context, o *object.Desired) (string, error) {
	s, _, err := c.Client.Apply(ctx, o, ssa.Create)
	return s.UID, err
}

// Metadata returns the metadata of an object. It implements Target.
func (c *LiveTarget) Metadata(ctx context.Context, gvk schema.GroupVersionKind, r cluster.ObjectRef) (*metav1.PartialObjectMetadata, error) {
	return c.Client.Metadata(ctx, gvk, r)
}

// State returns the state of an object. It sends a request to confirm that the object does not exist or has a UID other than the
// expected UID.
func (c *LiveTarget) State(ctx context.Context, o *object.Desired, uid string) (cluster.ObjectState, bool, error) {
	s, exists, err := c.seen(ctx, o)
	if err != nil || !exists || uid == "" || s.UID == uid {
		return s, exists, err
	}
	return c.Client.State(ctx, o.GVK(), o.Ref)
}

// seen returns the state of an object from the cache, or from the API server if the cache does not have it.
func (c *LiveTarget) seen(ctx context.Context, o *object.Desired) (cluster.ObjectState, bool, error) {
	if unsynced := c.Track(ctx, []schema.GroupVersionKind{o.GVK()}); len(unsynced) == 0 {
		if s, ok := c.Cache.Get(o.Ref); ok {
			return s, true, nil
		}
	}
	return c.Client.State(ctx, o.GVK(), o.Ref)
}

// Delete deletes an object. It implements Target.
func (c *LiveTarget) Delete(ctx context.Context, o *object.Desired, uid string) (*cluster.ObjectState, error) {
	left, err := c.Client.Delete(ctx, o.GVK(), o.Ref, uid)
	if err != nil {
		return nil, err
	}
	if left == nil {
		return nil, nil //nolint:nilnil // Nothing is left, as documented.
	}
	s := health.MetadataStateOf(c.Client.FieldManager, left)
	return &s, nil
}
