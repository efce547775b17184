// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/advice"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/health"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ssa"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/text"
)

// ErrExists is returned by Create where the inventory exists and the watch does not show it.
var ErrExists = errors.New("the inventory exists")

// A ChangedError is returned where another client changed the inventory, or deleted it, since it was read.
type ChangedError struct {
	// Inventory is the Secret.
	Inventory cluster.ObjectRef
}

// Error returns a message that names the Secret.
func (e *ChangedError) Error() string {
	return e.Inventory.String() + " was changed by another client while this call worked with it; the next call reads it again"
}

// An OwnedError is returned for an inventory that belongs to another owner than the bundle that has its name.
type OwnedError struct {
	// Inventory is the Secret, and Owner is the Bundle.Owner that it names.
	Inventory cluster.ObjectRef
	Owner     string
	// Messages say what to do to get another inventory, or to take this one over.
	Messages advice.Messages
}

// Error returns a message that names both, and what to do.
func (e *OwnedError) Error() string {
	return fmt.Sprintf("%s is the inventory of %s; %s, or %s to take over all that it lists", e.Inventory, text.OneLine(e.Owner),
		e.Messages.Rename, e.Messages.Adopt)
}

// A Client sends the requests of a Store.
type Client interface {
	Get(ctx context.Context, gvk schema.GroupVersionKind, r cluster.ObjectRef) (*unstructured.Unstructured, error)
	Apply(ctx context.Context, o *object.Desired, how ssa.Mode) (cluster.ObjectState, *metav1.FieldsV1, error)
	ApplyAt(ctx context.Context, o *object.Desired, uid, resourceVersion string) (cluster.ObjectState, error)
	DeleteAt(ctx context.Context, gvk schema.GroupVersionKind, r cluster.ObjectRef, uid, resourceVersion string) (*metav1.PartialObjectMetadata, error)
}

// A Stored is an inventory as it was in the cluster when it was read or written last. The zero value stands for none.
type Stored struct {
	// Inventory is never changed, only replaced; nil for none.
	Inventory *Inventory
	// UID and Version are the UID and the resource version of the parent. It is written and deleted as long as it has them only.
	UID, Version string
	// Owner that the parent names.
	Owner string
	// Size of the inventory as it is stored, in bytes.
	Size int
}

// A Store keeps the inventory of one bundle in the parent of its ApplySet. It has no state: what the caller knows is an argument
// and a result. A Stored that is returned with an error is valid, too.
type Store struct {
	Client Client
	Cache  cluster.Cache
	// SyncTimeout limits how long Load waits until the watch has listed Secrets.
	SyncTimeout time.Duration
	// Ref names the parent, and Set is the ID of the ApplySet.
	Ref cluster.ObjectRef
	Set string
	// Owner of the bundle; empty for none. With Adopt the inventory of another owner is loaded, too.
	Owner string
	Adopt bool
	// Identity of the engine.
	Identity object.Identity
	// Messages tell users what to do.
	Messages advice.Messages
}

// Load the inventory, if it is not the one that was stored last. Load believes the watch where it shows none.
func (s *Store) Load(ctx context.Context, last Stored) (Stored, error) {
	return s.load(ctx, last, false)
}

// LoadUnwatched loads the inventory, and asks for it where the watch shows none: watches do not show a parent that lost the label of
// the engine, and its objects would never be looked for again.
func (s *Store) LoadUnwatched(ctx context.Context, last Stored) (Stored, error) {
	return s.load(ctx, last, true)
}

func (s *Store) load(ctx context.Context, last Stored, unwatched bool) (Stored, error) {
	if s.isWatched(ctx) {
		state, ok := s.Cache.Get(s.Ref)
		if !ok && !unwatched {
			return Stored{}, nil
		}
		if ok && last.Inventory != nil && last.Version == state.ResourceVersion {
			return last, s.checkLoad(last)
		}
	}
	u, err := s.Client.Get(ctx, ssa.SecretKind, s.Ref)
	if err != nil {
		return last, err
	}
	if u == nil {
		return Stored{}, nil
	}
	if last, err = s.read(u, last); err != nil {
		return last, err
	}
	return last, s.checkLoad(last)
}

func (s *Store) isWatched(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, s.SyncTimeout)
	defer cancel()
	return len(s.Cache.Track(ctx, []schema.GroupVersionKind{ssa.SecretKind})) == 0
}

// read the inventory from a parent.
func (s *Store) read(u *unstructured.Unstructured, last Stored) (Stored, error) {
	if u.GetLabels()[object.LabelApplySetID] != s.Set {
		return last, s.foreign(u)
	}
	if last.Inventory != nil && last.Version == u.GetResourceVersion() {
		return last, nil
	}
	parent := &corev1.Secret{}
	b, err := u.MarshalJSON()
	if err != nil {
		return last, errors.Wrapf(err, "cannot read %s", s.Ref)
	}
	if err := json.Unmarshal(b, parent); err != nil {
		return last, errors.Wrapf(err, "cannot read %s", s.Ref)
	}
	inv, err := Unmarshal(parent.Data[Key])
	if err != nil {
		return last, errors.Wrapf(err, "%s is damaged; restore it, or delete it to have it written anew from what is installed", s.Ref)
	}
	inv.Good = parent.Data[GoodKey]
	// The watch never shows a parent without the label of the engine, and would not show either that it is gone.
	if u.GetLabels()[object.LabelManagedBy] == s.Identity.ManagedBy {
		s.Cache.Put(s.Ref, health.StateOf(s.Identity.FieldManager, u))
	}
	return Stored{
		Inventory: inv, UID: string(u.GetUID()), Version: u.GetResourceVersion(), Owner: parent.Annotations[object.AnnotationOwner],
		Size: len(parent.Data[Key]),
	}, nil
}

// Owns reports whether an inventory is that of the owner of the bundle. An inventory without owner belongs to every owner, and a
// bundle without one works with every inventory, and leaves its owner unchanged.
func (s *Store) Owns(st Stored) bool {
	return st.Inventory == nil || st.Owner == "" || s.Owner == "" || st.Owner == s.Owner
}

// CheckOwner returns an *OwnedError for the inventory of another owner.
func (s *Store) CheckOwner(st Stored) error {
	if s.Owns(st) {
		return nil
	}
	return &OwnedError{Inventory: s.Ref, Owner: st.Owner, Messages: s.Messages}
}

func (s *Store) checkLoad(st Stored) error {
	if s.Adopt {
		return nil
	}
	return s.CheckOwner(st)
}

// Create the inventory where there is none. The error is ErrExists where there is one of this ApplySet. Create leaves any other
// Secret of its name unchanged.
func (s *Store) Create(ctx context.Context, last Stored, inv *Inventory) (Stored, error) {
	out, err := s.write(last, inv, func(o *object.Desired) (cluster.ObjectState, error) {
		state, _, err := s.Client.Apply(ctx, o, ssa.Create)
		return state, err
	})
	if !kerrors.IsConflict(err) {
		return out, err
	}
	u, err := s.Client.Get(ctx, ssa.SecretKind, s.Ref)
	if err != nil {
		return out, err
	}
	if u != nil && u.GetLabels()[object.LabelApplySetID] != s.Set {
		return out, s.foreign(u)
	}
	return out, ErrExists
}

// Save the inventory where it is the one that was stored last. The error is a *ChangedError otherwise, and nothing is stored as far as
// is known.
func (s *Store) Save(ctx context.Context, last Stored, inv *Inventory) (Stored, error) {
	out, err := s.write(last, inv, func(o *object.Desired) (cluster.ObjectState, error) {
		return s.Client.ApplyAt(ctx, o, last.UID, last.Version)
	})
	return s.unlessChanged(out, err)
}

// unlessChanged returns the result of a write, or what it means that it was refused because the inventory changed. What was stored
// last is dropped then: the watch may still show it.
func (s *Store) unlessChanged(out Stored, err error) (Stored, error) {
	if kerrors.IsConflict(err) {
		return Stored{}, &ChangedError{Inventory: s.Ref}
	}
	return out, err
}

func (s *Store) write(last Stored, inv *Inventory, apply func(o *object.Desired) (cluster.ObjectState, error)) (Stored, error) {
	// What is stored is a copy without what does not fit. The caller keeps the whole inventory for the rest of its call.
	kept, data, err := inv.fitted(s.Ref)
	if err != nil {
		return last, err
	}
	parent := Parent{Ref: s.Ref, Set: s.Set, Owner: s.Owner, ManagedBy: s.Identity.ManagedBy}
	if s.Owner == "" && last.Inventory != nil {
		parent.Owner = last.Owner
	}
	o, err := parent.desired(kept, data)
	if err != nil {
		return last, err
	}
	state, err := apply(o)
	if err != nil {
		return last, errors.Wrapf(ssa.Explain(err), "cannot write inventory %s", s.Ref)
	}
	return Stored{Inventory: kept, UID: state.UID, Version: state.ResourceVersion, Owner: parent.Owner, Size: len(data)}, nil
}

// Delete the inventory where it is the one that was stored last. The error is a *ChangedError otherwise.
func (s *Store) Delete(ctx context.Context, last Stored) (Stored, error) {
	if _, err := s.Client.DeleteAt(ctx, ssa.SecretKind, s.Ref, last.UID, last.Version); err != nil {
		return s.unlessChanged(last, errors.Wrap(err, "cannot delete the inventory"))
	}
	return Stored{}, nil
}

// foreign returns the error for a Secret that is not the inventory of this ApplySet.
func (s *Store) foreign(u *unstructured.Unstructured) error {
	return errors.Errorf("%s is no inventory of this set: its label %s is %q; remove it, or %s",
		s.Ref, object.LabelApplySetID, u.GetLabels()[object.LabelApplySetID], s.Messages.Rename)
}
