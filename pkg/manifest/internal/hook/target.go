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

// A Target is where a Runner creates and deletes objects.
type Target interface {
	// Create an object, and return its UID. The error is a conflict where the object exists.
	Create(ctx context.Context, o *object.Desired) (string, error)

	// Metadata returns the metadata of an object; nil where it does not exist.
	Metadata(ctx context.Context, gvk schema.GroupVersionKind, r cluster.ObjectRef) (*metav1.PartialObjectMetadata, error)

	// State returns the state of an object; false where it does not exist. With a UID, State does not trust a cache that has an
	// object of another UID.
	State(ctx context.Context, o *object.Desired, uid string) (cluster.ObjectState, bool, error)

	// Delete an object that has a UID, and return the state of one that waits for its finalizers; nil where none is left. The
	// error is a conflict where the object has another UID.
	Delete(ctx context.Context, o *object.Desired, uid string) (*cluster.ObjectState, error)
}

// A Cluster is the Target of hooks that really run.
type Cluster struct {
	Client *ssa.Client
	Cache  cluster.Cache
	// Track kinds, and return those that the cache does not have in sync, with the reason.
	Track func(ctx context.Context, gvks []schema.GroupVersionKind) map[schema.GroupVersionKind]error
}

// Create an object.
func (c *Cluster) Create(ctx context.Context, o *object.Desired) (string, error) {
	s, _, err := c.Client.Apply(ctx, o, ssa.Create)
	return s.UID, err
}

// Metadata of an object.
func (c *Cluster) Metadata(ctx context.Context, gvk schema.GroupVersionKind, r cluster.ObjectRef) (*metav1.PartialObjectMetadata, error) {
	return c.Client.Metadata(ctx, gvk, r)
}

// State of an object. A request confirms that it does not exist, or that it is another one than expected.
func (c *Cluster) State(ctx context.Context, o *object.Desired, uid string) (cluster.ObjectState, bool, error) {
	s, exists, err := c.seen(ctx, o)
	if err != nil || !exists || uid == "" || s.UID == uid {
		return s, exists, err
	}
	return c.Client.State(ctx, o.GVK(), o.Ref)
}

// seen returns the state of an object in the cache, else in the answer to a request.
func (c *Cluster) seen(ctx context.Context, o *object.Desired) (cluster.ObjectState, bool, error) {
	if unsynced := c.Track(ctx, []schema.GroupVersionKind{o.GVK()}); len(unsynced) == 0 {
		if s, ok := c.Cache.Get(o.Ref); ok {
			return s, true, nil
		}
	}
	return c.Client.State(ctx, o.GVK(), o.Ref)
}

// Delete an object.
func (c *Cluster) Delete(ctx context.Context, o *object.Desired, uid string) (*cluster.ObjectState, error) {
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
