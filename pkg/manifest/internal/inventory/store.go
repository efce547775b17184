// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"cmp"
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

// ErrExists is returned by Create if the inventory exists but the watch does not show it.
var ErrExists = errors.New("the inventory already exists")

// A ChangedError reports that another client changed or deleted the inventory after it was read.
type ChangedError struct {
	// Inventory refers to the Secret that holds the inventory.
	Inventory cluster.ObjectRef
}

// Error returns a message that names the Secret.
func (e *ChangedError) Error() string {
	return e.Inventory.String() + " was changed by another client at the same time; the next attempt reads the new content"
}

// An OwnedError reports that the inventory with the name of the bundle belongs to another owner.
type OwnedError struct {
	// Inventory refers to the Secret. Owner is the Bundle.Owner that the Secret names, or empty. Requester is the Bundle.Owner of the
	// bundle that was refused.
	Inventory        cluster.ObjectRef
	Owner, Requester string
	// If the owner has the same name as the requester, ControlPlane is a UID of the control plane of the owner, and
	// RequesterControlPlane is a UID of the control plane of the requester. Otherwise, both are empty.
	ControlPlane, RequesterControlPlane string
	// OwnerUID is the UID of the owner if it is an earlier one with the same name, and the requester has applied nothing.
	OwnerUID string
	// Messages contain the instructions for using another inventory or adopting this one.
	Messages advice.Messages
}

// Holder returns the owner of the inventory as it is shown to users.
func (e *OwnedError) Holder() string {
	out := text.OneLine(cmp.Or(e.Owner, "an unknown owner"))
	if e.ControlPlane != "" {
		out += " in the control plane with UID " + text.OneLine(e.ControlPlane)
	}
	if e.OwnerUID != "" {
		out += " with UID " + text.OneLine(e.OwnerUID)
	}
	return out
}

// Error returns a message that names the Secret, its owner and the possible solutions.
func (e *OwnedError) Error() string {
	if e.ControlPlane != "" {
		return fmt.Sprintf("%s is the inventory of %s, not of the one in the control plane with UID %s; delete the "+
			"one that you do not need, or, if this control plane replaces the other one, %s %s",
			e.Inventory, e.Holder(), e.RequesterControlPlane, e.Messages.WithDefaults().TakeOver, text.OneLine(e.ControlPlane))
	}
	return fmt.Sprintf("%s is the inventory of %s, not of %s; %s, or %s to adopt all objects in it", e.Inventory,
		e.Holder(), text.OneLine(cmp.Or(e.Requester, "this module")), e.Messages.Rename, e.Messages.Adopt)
}

// A Client sends the requests of a Store.
type Client interface {
	Get(ctx context.Context, gvk schema.GroupVersionKind, r cluster.ObjectRef) (*unstructured.Unstructured, error)
	ListJSON(ctx context.Context, gvk schema.GroupVersionKind, m cluster.Mapping, namespace string, params map[string]string, list any) error
	Apply(ctx context.Context, o *object.Desired, how ssa.Mode) (cluster.ObjectState, *metav1.FieldsV1, error)
	ApplyAt(ctx context.Context, o *object.Desired, uid, resourceVersion string) (cluster.ObjectState, error)
	DeleteAt(ctx context.Context, gvk schema.GroupVersionKind, r cluster.ObjectRef, uid, resourceVersion string) (*metav1.PartialObjectMetadata, error)
}

// A Stored is an inventory as it was last read from or written to the cluster. The zero value means none.
type Stored struct {
	// Inventory is the stored inventory, or nil if there is none. It is replaced, never changed.
	Inventory *Inventory
	// UID and Version are the UID and the resource version of the parent. Save and Delete require that both are still current.
	UID, Version string
	// Owner is the owner that the parent names.
	Owner string
	// Origin identifies this owner beyond its name.
	Origin Origin
	// Size is the size of the stored inventory in bytes.
	Size int
}

// isAt reports whether the inventory was stored in a version.
func (st Stored) isAt(version string) bool { return st.Inventory != nil && st.Version == version }

// A Store stores the inventory of one bundle in the parent of its ApplySet. It is stateless: pass the Stored that the last call
// returned. A Stored that is returned along with an error is valid, too.
type Store struct {
	Client Client
	Cache  cluster.Cache
	// Batches reads the inventory together with those of other bundles; optional.
	Batches *Batches
	// SyncTimeout limits how long Load waits for the first list of Secrets, unless the Cache does not wait.
	SyncTimeout time.Duration
	// Ref refers to the parent. Set is the ID of the ApplySet.
	Ref cluster.ObjectRef
	Set string
	// Owner is the owner of the bundle, or empty. If Adopt is true, Load accepts the inventory of another owner.
	Owner string
	Adopt bool
	// OwnerRequired makes the store refuse an inventory without an owner.
	OwnerRequired bool
	// Origin identifies the owner beyond its name. Predecessors contains UIDs of control planes that its control plane replaces.
	Origin       Origin
	Predecessors []string
	// Where describes the current cluster. Load refuses inventories of other clusters.
	Where Whereabouts
	// Identity is the identity of the engine.
	Identity object.Identity
	// Messages contain the instructions for users in errors.
	Messages advice.Messages
}

// Load returns the current inventory. It sends a request only if last is outdated, or if Secrets are not watched or are still being
// listed. If the watch does not show an inventory, Load returns the zero Stored.
func (s *Store) Load(ctx context.Context, last Stored) (Stored, error) {
	return s.load(ctx, last, false)
}

// LoadUnwatched is like Load, but sends a request if the watch does not show an inventory. The watch does not show a parent that
// lost the label of the engine, and without the parent the engine cannot find its objects again.
func (s *Store) LoadUnwatched(ctx context.Context, last Stored) (Stored, error) {
	return s.load(ctx, last, true)
}

func (s *Store) load(ctx context.Context, last Stored, unwatched bool) (Stored, error) {
	watched, listing := s.isWatched(ctx)
	state, ok := cluster.ObjectState{}, false
	if watched {
		state, ok = s.Cache.Get(s.Ref)
	}
	switch {
	case watched && !ok && !unwatched:
		return Stored{}, nil
	case ok && last.isAt(state.ResourceVersion):
		return last, s.checkLoad(last)
	}
	u, err := s.request(ctx, last.Inventory == nil && (ok || listing), state.ResourceVersion)
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

// request returns the parent, or nil if there is none. If it may be read together with others, its version is the given one, or it is empty because
// the version is unknown.
func (s *Store) request(ctx context.Context, together bool, version string) (*unstructured.Unstructured, error) {
	if together {
		if u := s.Batches.take(ctx, s, version); u != nil {
			return u, nil
		}
	}
	return s.Client.Get(ctx, ssa.SecretKind, s.Ref)
}

// IsCurrent reports whether last is the inventory in the cluster. It sends one request.
func (s *Store) IsCurrent(ctx context.Context, last Stored) (bool, error) {
	u, err := s.Client.Get(ctx, ssa.SecretKind, s.Ref)
	if err != nil || u == nil {
		return err == nil && last.Inventory == nil, err
	}
	return string(u.GetUID()) == last.UID && u.GetResourceVersion() == last.Version, nil
}

// isWatched reports whether the watch shows the current Secrets, and otherwise whether it will, because they are being listed.
func (s *Store) isWatched(ctx context.Context) (watched, listing bool) {
	ctx, cancel := context.WithTimeout(ctx, s.SyncTimeout)
	defer cancel()
	err := s.Cache.Track(ctx, []schema.GroupVersionKind{ssa.SecretKind})[ssa.SecretKind]
	l := (*cluster.ListingError)(nil)
	return err == nil, errors.As(err, &l)
}

// read decodes the inventory in a parent and updates the Cache. It returns last if that is current.
func (s *Store) read(u *unstructured.Unstructured, last Stored) (Stored, error) {
	if u.GetLabels()[object.LabelApplySetID] != s.Set {
		return last, s.foreign(u)
	}
	if last.isAt(u.GetResourceVersion()) {
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
		return last, errors.Wrapf(err, "%s is damaged; restore the Secret from a backup, or delete it so that it is "+
			"recreated from the installed objects", s.Ref)
	}
	inv.Checkpoint = parent.Data[CheckpointKey]
	// The watch shows neither a parent without the label of the engine nor its deletion.
	if u.GetLabels()[object.LabelManagedBy] == s.Identity.ManagedBy {
		s.Cache.Put(s.Ref, health.StateOf(s.Identity.FieldManager, u))
	}
	return Stored{
		Inventory: inv, UID: string(u.GetUID()), Version: u.GetResourceVersion(), Owner: parent.Annotations[object.AnnotationOwner],
		Origin: originOf(parent.Annotations), Size: len(parent.Data[Key]),
	}, nil
}

// inherits reports whether an inventory belongs to the same owner in a control plane that the control plane of the bundle
// replaces.
func (s *Store) inherits(st Stored) bool {
	return s.isNamesake(st) && st.Origin.differs(s.Origin) && overlap(st.Origin.ControlPlane, s.Predecessors)
}

// isNamesake reports whether the owner of an inventory has the same name as the owner of the bundle.
func (s *Store) isNamesake(st Stored) bool { return s.Owner != "" && st.Owner == s.Owner }

// Owns reports whether an inventory belongs to the owner of the bundle. An inventory without an owner belongs to every owner,
// unless an owner is required. A bundle without an owner can use every inventory, and leaves its owner unchanged. An owner with
// the same name in another control plane is a different owner. An owner with a different UID in the same control plane is the
// same owner, which was recreated.
func (s *Store) Owns(st Stored) bool {
	return st.Inventory == nil || s.Owner == "" || st.Owner == "" && !s.OwnerRequired || s.isNamesake(st) && !st.Origin.differs(s.Origin)
}

// CheckOwner returns an *OwnedError if the inventory belongs to another owner, and the bundle must not take it over.
func (s *Store) CheckOwner(st Stored) error {
	if s.Owns(st) || s.inherits(st) {
		return nil
	}
	e := &OwnedError{Inventory: s.Ref, Owner: st.Owner, Requester: s.Owner, Messages: s.Messages}
	if s.isNamesake(st) {
		e.ControlPlane, e.RequesterControlPlane = st.Origin.first(), s.Origin.first()
	}
	return e
}

// CheckApplied returns an *OwnedError if an earlier owner with the same name wrote the inventory last.
func (s *Store) CheckApplied(st Stored) error {
	if st.Inventory == nil || s.Origin.UID == "" || st.Origin.UID == "" || s.Origin.UID == st.Origin.UID {
		return nil
	}
	return &OwnedError{Inventory: s.Ref, Owner: st.Owner, OwnerUID: st.Origin.UID, Requester: s.Owner, Messages: s.Messages}
}

func (s *Store) checkLoad(st Stored) error {
	if err := s.Where.check(st.Inventory.Cluster, s.Ref, s.Messages); err != nil {
		return err
	}
	if s.Adopt {
		return nil
	}
	return s.CheckOwner(st)
}

// Create creates the inventory. It returns ErrExists if this ApplySet already has one. It never changes another Secret with the
// same name.
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

// Save stores the inventory if last is current. Otherwise, it returns a *ChangedError and the zero Stored.
func (s *Store) Save(ctx context.Context, last Stored, inv *Inventory) (Stored, error) {
	out, err := s.write(last, inv, func(o *object.Desired) (cluster.ObjectState, error) {
		return s.Client.ApplyAt(ctx, o, last.UID, last.Version)
	})
	return s.unlessChanged(out, err)
}

// unlessChanged returns the result of a write. If the write caused a conflict because the inventory changed, it returns a
// *ChangedError and the zero Stored, because the watch may still show the outdated version.
func (s *Store) unlessChanged(out Stored, err error) (Stored, error) {
	if kerrors.IsConflict(err) {
		return Stored{}, &ChangedError{Inventory: s.Ref}
	}
	return out, err
}

func (s *Store) write(last Stored, inv *Inventory, apply func(o *object.Desired) (cluster.ObjectState, error)) (Stored, error) {
	// Store a trimmed copy. The caller keeps the complete inventory for the rest of its call.
	kept, data, err := inv.fitted(s.Ref)
	if err != nil {
		return last, err
	}
	parent := Parent{Ref: s.Ref, Set: s.Set, Owner: s.Owner, Origin: s.Origin, ManagedBy: s.Identity.ManagedBy}
	switch {
	case s.Owner == "" && last.Inventory != nil:
		parent.Owner, parent.Origin = last.Owner, last.Origin
	case s.isNamesake(last):
		parent.Origin = s.Origin.or(last.Origin)
	}
	o, err := parent.desired(kept, data)
	if err != nil {
		return last, err
	}
	state, err := apply(o)
	if err != nil {
		return last, errors.Wrapf(ssa.Explain(err), "cannot write inventory %s", s.Ref)
	}
	return Stored{Inventory: kept, UID: state.UID, Version: state.ResourceVersion, Owner: parent.Owner, Origin: parent.Origin, Size: len(data)}, nil
}

// Delete deletes the inventory if last is current. Otherwise, it returns a *ChangedError.
func (s *Store) Delete(ctx context.Context, last Stored) (Stored, error) {
	if _, err := s.Client.DeleteAt(ctx, ssa.SecretKind, s.Ref, last.UID, last.Version); err != nil {
		return s.unlessChanged(last, errors.Wrap(err, "cannot delete the inventory"))
	}
	return Stored{}, nil
}

// foreign returns the error for a Secret that is not the inventory of this ApplySet.
func (s *Store) foreign(u *unstructured.Unstructured) error {
	return errors.Errorf("%s is not the inventory of this module: label %s is %q; remove the Secret, or %s",
		s.Ref, object.LabelApplySetID, u.GetLabels()[object.LabelApplySetID], s.Messages.Rename)
}
