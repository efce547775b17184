// SPDX-License-Identifier: Apache-2.0

package retract

import (
	"context"
	"maps"
	"slices"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/release"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ssa"
)

// attempts is the number of attempts to save an inventory that other processes save at the same time.
const attempts = 5

// A Client reads and deletes objects.
type Client interface {
	// Metadata returns the metadata of an object, or nil if it does not exist.
	Metadata(ctx context.Context, gvk schema.GroupVersionKind, r cluster.ObjectRef) (*metav1.PartialObjectMetadata, error)
	// Delete deletes an object only if it has the given UID.
	Delete(ctx context.Context, gvk schema.GroupVersionKind, r cluster.ObjectRef, uid string) (*metav1.PartialObjectMetadata, error)
	// Unlabel removes labels from an object, if it still has the given UID and resource version.
	Unlabel(ctx context.Context, gvk schema.GroupVersionKind, r cluster.ObjectRef, uid, resourceVersion string, labels []string) (bool, error)
}

// An Input describes the writes of a call.
type Input struct {
	Client Client
	// Marks removes the marks of the bundle.
	Marks ssa.Marks
	// Inventories is the store of the call.
	Inventories *inventory.Store
	// Written lists the objects that the call wrote. Labels are the labels of the members of the bundle.
	Written []ssa.Written
	Labels  map[string]string
}

// Run undoes the writes of a call that the current inventory does not account for:
//
//   - If the bundle was removed, Run deletes everything that the call created.
//   - If the inventory no longer lists an object that the call created, Run deletes the object.
//   - If the call wrote the record of a release that the inventory does not contain, or of a deployed or pending revision that the
//     inventory does not contain, Run deletes the record.
//   - If the bundle orphaned an object, and the call applied it again although the inventory does not list it, Run orphans it again.
//   - If the inventory no longer lists an object of another owner that the call marked as used, Run removes the mark.
//   - If the inventory lists an object that the call wrote in another form, Run marks the object as changed, so that the process that
//     saved the inventory repairs it.
//
// Run does not change objects that were replaced, or that another bundle has adopted in the meantime. If an object cannot be deleted or
// orphaned, Run adds it to the inventory again, so that the next call prunes it.
func Run(ctx context.Context, in Input) error {
	// Without an owner, the store accepts any owner and does not change it.
	store := *in.Inventories
	store.Owner = ""
	inv, known, failed := change(ctx, &store, func(inv *inventory.Inventory) *inventory.Inventory { return mark(inv, in.Written) })
	if !known {
		return failed
	}
	var left []ssa.Written
	for _, o := range slices.Backward(in.Written) {
		if err := in.delete(ctx, inv, o); err != nil {
			left = append(left, o)
			if failed == nil {
				failed = err
			}
		}
	}
	if len(left) == 0 {
		return failed
	}
	if _, _, err := change(ctx, &store, func(inv *inventory.Inventory) *inventory.Inventory { return enter(inv, left) }); err != nil {
		return errors.Errorf("%w; cannot record what is left: %v", failed, err)
	}
	return failed
}

// change saves the inventory with a change, and returns the inventory before it. The change returns nil if there is nothing to save. Known is
// true if the inventory was read, even if it cannot be saved.
func change(
	ctx context.Context, s *inventory.Store, to func(inv *inventory.Inventory) *inventory.Inventory,
) (inv *inventory.Inventory, known bool, err error) {
	for try := 1; ; try++ {
		stored, err := s.LoadUnwatched(ctx, inventory.Stored{})
		if err != nil {
			return nil, false, err
		}
		changed := to(stored.Inventory)
		if changed == nil {
			return stored.Inventory, true, nil
		}
		_, err = s.Save(ctx, stored, changed)
		if err == nil {
			return stored.Inventory, true, nil
		}
		other := (*inventory.ChangedError)(nil)
		overtaken := errors.As(err, &other)
		if !overtaken || try == attempts {
			return stored.Inventory, !overtaken, err
		}
	}
}

// enter returns a copy of the inventory to which objects are added that the call wrote and that could not be deleted or orphaned. It
// returns nil if there is no inventory, or nothing to add: it lists no marks and no records of releases.
func enter(inv *inventory.Inventory, left []ssa.Written) *inventory.Inventory {
	if inv == nil {
		return nil
	}
	out, entered := inv.Clone(), false
	for _, o := range left {
		if o.Used || release.IsRecord(o.Ref) || out.Find(o.Ref) != nil {
			continue
		}
		stage := object.StageOf(o.GVK.GroupKind())
		if _, builtin := object.BuiltinScope(o.GVK.GroupKind()); !builtin && object.IsReplaceable(o.GVK.GroupKind()) {
			stage = object.StageResource
		}
		out.Objects, entered = append(out.Objects, inventory.Entry{
			Group: o.GVK.Group, Version: o.GVK.Version, Kind: o.GVK.Kind, Namespace: o.Ref.Namespace, Name: o.Ref.Name,
			Part: object.PartLost, Stage: stage, UID: o.UID, Keep: !o.Created,
		}), true
	}
	if !entered {
		return nil
	}
	out.Sort()
	return out
}

// mark returns a copy of the inventory in which an object counts as changed if the call wrote it in a different form than the
// inventory contains. It returns nil if there are no such objects.
func mark(inv *inventory.Inventory, written []ssa.Written) *inventory.Inventory {
	if inv == nil {
		return nil
	}
	out, marked := inv.Clone(), false
	idx := out.Index()
	for _, o := range written {
		en := idx[o.Ref]
		if !o.Used && en != nil && en.UID != "" && en.UID == o.UID && en.Intent != o.Hash && en.Owned != "" {
			en.Owned, marked = "", true
		}
	}
	if !marked {
		return nil
	}
	return out
}

// delete deletes an object that the call created, or removes its mark, if the inventory does not account for it.
func (in *Input) delete(ctx context.Context, inv *inventory.Inventory, o ssa.Written) error {
	if o.UID == "" || o.Ref == in.Inventories.Ref || inv != nil && inv.Find(o.Ref) != nil {
		return nil
	}
	switch {
	case o.Used:
		return in.Marks.Unuse(ctx, o.GVK, o.Ref, o.UID)
	case !o.Created && !release.IsRecord(o.Ref):
		return in.orphan(ctx, inv, o)
	}
	return in.deleteWritten(ctx, inv, o)
}

// deleteWritten deletes an object that the call created, or a record that it wrote, unless another client has replaced or adopted it.
func (in *Input) deleteWritten(ctx context.Context, inv *inventory.Inventory, o ssa.Written) error {
	m, err := in.Client.Metadata(ctx, o.GVK, o.Ref)
	if err != nil || m == nil || string(m.UID) != o.UID || !in.isOurs(m, inv) {
		return err
	}
	if _, err := in.Client.Delete(ctx, o.GVK, o.Ref, o.UID); err != nil && !kerrors.IsConflict(err) {
		return err
	}
	return nil
}

// orphan removes the labels of the bundle from an object that it orphaned before the call applied it again. Other objects that existed
// before the call stay as they are: if the inventory was not removed but lost, the labels show that they belong to the bundle.
func (in *Input) orphan(ctx context.Context, inv *inventory.Inventory, o ssa.Written) error {
	for range attempts {
		m, err := in.Client.Metadata(ctx, o.GVK, o.Ref)
		if err != nil || m == nil || string(m.UID) != o.UID || !in.isOurs(m, inv) || m.Annotations[object.AnnotationKeptBy] != in.Inventories.Set {
			return err
		}
		labels := slices.Sorted(maps.Keys(in.Labels))
		if len(object.UsersOf(m.Annotations, in.Inventories.Set)) > 0 {
			// The watch of the users of a CRD selects by this label.
			labels = slices.DeleteFunc(labels, func(l string) bool { return l == object.LabelManagedBy })
		}
		if done, err := in.Client.Unlabel(ctx, o.GVK, o.Ref, o.UID, m.ResourceVersion, labels); done || err != nil {
			return err
		}
	}
	return errors.Errorf("%s: other clients are changing the object at the same time", o.Ref)
}

// isOurs reports whether an object belongs to the bundle, so that it must be deleted if the inventory does not list it. If there is an
// inventory, hooks stay: an inventory does not list them, but the process that saved it manages them.
func (in *Input) isOurs(m *metav1.PartialObjectMetadata, inv *inventory.Inventory) bool {
	member, record := m.Labels[object.LabelPartOf] == in.Inventories.Set, m.Labels[release.LabelSet] == in.Inventories.Set
	switch {
	case inv == nil:
		return member || record
	case record:
		return release.IsStale(m, inv)
	}
	return member && m.Annotations[object.AnnotationHookRun] == ""
}
