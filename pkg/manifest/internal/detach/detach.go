// SPDX-License-Identifier: Apache-2.0

package detach

import (
	"context"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/panics"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ssa"
)

// attempts is the number of attempts to change an object that other clients change at the same time.
const attempts = 5

// A Client reads and changes objects. *ssa.Client implements it.
type Client interface {
	Metadata(ctx context.Context, gvk schema.GroupVersionKind, r cluster.ObjectRef) (*metav1.PartialObjectMetadata, error)
	PatchMetadata(ctx context.Context, gvk schema.GroupVersionKind, r cluster.ObjectRef, metadata map[string]any, accept string) ([]byte, error)
}

// A Cluster is the part of cluster.Cluster that is used.
type Cluster interface {
	Cache() cluster.Cache
}

// A Marker marks CRDs as used. ssa.Marks implements it.
type Marker interface {
	Use(ctx context.Context, gvk schema.GroupVersionKind, r cluster.ObjectRef, uid string) (cluster.ObjectState, error)
}

// An Input holds everything that is needed to detach objects.
type Input struct {
	Client   Client
	Marks    Marker
	Cluster  Cluster
	Identity Identity
	Entries  []inventory.Entry
	// Concurrency limits the number of concurrent requests.
	Concurrency int
}

// Run detaches all objects.
func Run(ctx context.Context, in Input) error {
	return in.each(ctx, in.detach)
}

// errPending ends the search for an object that is not detached yet.
var errPending = errors.New("an object is not detached yet")

// IsDone reports whether all objects are detached. It reads them, because no watch shows a detached object.
func IsDone(ctx context.Context, in Input) (bool, error) {
	var pending atomic.Bool
	err := in.each(ctx, func(ctx context.Context, e *inventory.Entry) error {
		m, err := in.Client.Metadata(ctx, e.GVK(), e.Ref())
		if err != nil || Decide(e, m, in.Identity) == None {
			return err
		}
		pending.Store(true)
		return errPending
	})
	if pending.Load() {
		return false, nil
	}
	return err == nil, err
}

// each calls do for each entry, and returns the first error.
func (in *Input) each(ctx context.Context, do func(ctx context.Context, e *inventory.Entry) error) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(max(in.Concurrency, 1))
	for i := range in.Entries {
		e := &in.Entries[i]
		g.Go(func() (err error) {
			defer panics.Into(&err, e.Ref().String())
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return do(ctx, e)
		})
	}
	return g.Wait()
}

// detach detaches one object.
func (in *Input) detach(ctx context.Context, e *inventory.Entry) error {
	for try := 1; ; try++ {
		m, err := in.Client.Metadata(ctx, e.GVK(), e.Ref())
		if err != nil {
			return err
		}
		switch a := Decide(e, m, in.Identity); a {
		case None:
			return nil
		case Mark:
			if _, err = in.Marks.Use(ctx, e.GVK(), e.Ref(), string(m.UID)); err == nil && try < attempts {
				continue
			}
		case Detach, HandOver:
			err = in.patch(ctx, e, patchOf(a, m, in.Identity))
		}
		if !kerrors.IsConflict(err) || try == attempts {
			return err
		}
	}
}

// patch sends a merge patch of the metadata of an object. An object that is gone is not an error.
func (in *Input) patch(ctx context.Context, e *inventory.Entry, metadata map[string]any) error {
	k := e.Ref()
	if _, err := in.Client.PatchMetadata(ctx, e.GVK(), k, metadata, ssa.Metadata); err != nil {
		return errors.Wrapf(ssa.Explain(err), "%s: cannot detach the object", k)
	}
	// The watch shows neither an object without the label of the engine nor its deletion.
	in.Cluster.Cache().Forget(k)
	return nil
}
