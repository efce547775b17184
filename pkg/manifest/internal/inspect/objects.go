// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"context"
	"slices"
	"time"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
)

// SyncTimeout is how long Track waits for the initial list of a kind, unless the cache does not wait. After that, objects of the kind
// are read one by one.
const SyncTimeout = 5 * time.Second

// A Reader reads objects. *ssa.Client implements it.
type Reader interface {
	// Get returns an object, or nil if the object or its kind does not exist.
	Get(ctx context.Context, gvk schema.GroupVersionKind, r cluster.ObjectRef) (*unstructured.Unstructured, error)
	// Metadata returns the metadata of an object, or nil if the object or its kind does not exist.
	Metadata(ctx context.Context, gvk schema.GroupVersionKind, r cluster.ObjectRef) (*metav1.PartialObjectMetadata, error)
	// State returns the state of an object, and false if the object or its kind does not exist.
	State(ctx context.Context, gvk schema.GroupVersionKind, r cluster.ObjectRef) (cluster.ObjectState, bool, error)
}

// Objects holds the live state of the objects of an inventory.
type Objects struct {
	// States holds the states of the objects that exist.
	States map[cluster.ObjectRef]cluster.ObjectState
	// Asked contains the objects that were read one by one because their kind cannot be watched. It may be nil.
	Asked map[cluster.ObjectRef]bool
	// Denied holds the errors for the objects that the credentials may not read. It may be nil.
	Denied map[cluster.ObjectRef]error
	// TooMany contains a message for each kind that isn't watched because the cluster has too many objects of it, sorted.
	TooMany []string
}

// FindObjects returns the live state of all objects of an inventory, from the cache or, if a kind cannot be watched, by reading its
// objects one by one. It returns a *cluster.ListingError if kinds are being listed: in this case, nothing is known about their
// objects.
func FindObjects(ctx context.Context, c cluster.Cache, r Reader, inv *inventory.Inventory) (Objects, error) {
	unsynced := Track(ctx, c, inv.Kinds())
	if err := listing(unsynced); err != nil {
		return Objects{}, err
	}
	out := Objects{States: make(map[cluster.ObjectRef]cluster.ObjectState, len(inv.Objects)), TooMany: tooMany(unsynced)}
	for i := range inv.Objects {
		en := &inv.Objects[i]
		_, blind := unsynced[en.GVK()]
		s, ok := c.Get(en.Ref())
		// A watch may not show a CRD of another owner, which can have another value of the label.
		if blind || !ok && en.IsUsed() {
			if err := out.ask(ctx, r, en); err != nil {
				return Objects{}, err
			}
			continue
		}
		if ok {
			out.States[en.Ref()] = s
		}
	}
	return out, nil
}

// AwaitLists returns a *cluster.ListingError if kinds of an inventory are being listed.
func AwaitLists(ctx context.Context, c cluster.Cache, inv *inventory.Inventory) error {
	return listing(Track(ctx, c, inv.Kinds()))
}

// listing returns the *cluster.ListingError among errors, or nil if there is none.
func listing(unsynced map[schema.GroupVersionKind]error) error {
	for _, err := range unsynced {
		if e := (*cluster.ListingError)(nil); errors.As(err, &e) {
			return e
		}
	}
	return nil
}

// tooMany returns a message for each kind that has too many objects.
func tooMany(unsynced map[schema.GroupVersionKind]error) (out []string) {
	for _, err := range unsynced {
		if e := (*cluster.TooManyError)(nil); errors.As(err, &e) {
			out = append(out, e.Error())
		}
	}
	slices.Sort(out)
	return out
}

// ask reads one object and records its state, or the error if the credentials may not read it.
func (o *Objects) ask(ctx context.Context, r Reader, en *inventory.Entry) error {
	k := en.Ref()
	if o.Asked == nil {
		o.Asked = map[cluster.ObjectRef]bool{}
	}
	o.Asked[k] = true
	s, ok, err := r.State(ctx, en.GVK(), k)
	if kerrors.IsForbidden(err) {
		if o.Denied == nil {
			o.Denied = map[cluster.ObjectRef]error{}
		}
		o.Denied[k] = err
		return nil
	}
	if ok && err == nil {
		o.States[k] = s
	}
	return err
}

// Track starts watching kinds in a cache and waits up to SyncTimeout for their initial lists. It returns the kinds that are not
// in sync, with the reason, which is a *cluster.ListingError if the cache does not wait.
func Track(ctx context.Context, c cluster.Cache, gvks []schema.GroupVersionKind) map[schema.GroupVersionKind]error {
	ctx, cancel := context.WithTimeout(ctx, SyncTimeout)
	defer cancel()
	return c.Track(ctx, gvks)
}

// Prepare starts watching kinds for a later call of Track, if this needs no request now. It does not wait.
func Prepare(ctx context.Context, c cluster.Cache, gvks []schema.GroupVersionKind) {
	ctx, cancel := context.WithCancel(ctx)
	cancel()
	c.Track(ctx, gvks)
}
