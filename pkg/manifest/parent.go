// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/health"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ssa"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/text"
)

// annotationOwner tells whose an inventory is: a person who finds it, and another set that would have the same.
const annotationOwner = "kyma.m.crossplane.io/owner"

// parentKey is the key of the Secret that holds the inventory.
func (w *work) parentKey() cluster.ObjectRef {
	return cluster.ObjectRef{Kind: "Secret", Namespace: w.e.namespace, Name: w.s.Name}
}

// errInventoryExists is returned by create where there is an inventory that the watch does not show.
var errInventoryExists = errors.New("the inventory exists")

// load the inventory; nil where there is none. It is read only if it changed. The watch does not show an inventory that
// lost our label; with confirm it is asked for in that case, as nobody would look for the objects any more.
func (w *work) load(ctx context.Context, confirm bool) (*inventory.Inventory, error) {
	k := w.parentKey()
	if unsynced := w.track(ctx, []schema.GroupVersionKind{ssa.SecretKind}); len(unsynced) == 0 {
		sum, ok := w.c.Cache().Get(k)
		if !ok && !confirm {
			w.mem.inv = nil
			return nil, nil //nolint:nilnil // There is none, as said above.
		}
		if ok && w.mem.inv != nil && w.mem.version == sum.ResourceVersion {
			return w.granted()
		}
	}
	u, err := w.Get(ctx, ssa.SecretKind, k)
	if err != nil {
		return nil, err
	}
	if u == nil {
		w.mem.inv = nil
		return nil, nil //nolint:nilnil // There is none, as said above.
	}
	return w.decode(u)
}

// decode the inventory of a parent.
func (w *work) decode(u *unstructured.Unstructured) (*inventory.Inventory, error) {
	if u.GetLabels()[object.LabelApplySetID] != w.id {
		return nil, w.foreignParent(u)
	}
	if w.mem.inv != nil && w.mem.version == u.GetResourceVersion() {
		return w.granted()
	}
	s := &corev1.Secret{}
	b, err := u.MarshalJSON()
	if err != nil {
		return nil, errors.Wrapf(err, "cannot read %s", w.parentKey())
	}
	if err := json.Unmarshal(b, s); err != nil {
		return nil, errors.Wrapf(err, "cannot read %s", w.parentKey())
	}
	inv, err := inventory.Unmarshal(s.Data[inventory.Key])
	if err != nil {
		return nil, errors.Wrapf(err, "%s is damaged; restore it, or delete it to have it written anew from what is installed",
			w.parentKey())
	}
	inv.Good = s.Data[goodKey]
	w.mem.inv, w.mem.version, w.mem.size = inv, u.GetResourceVersion(), len(s.Data[inventory.Key])
	w.mem.owner = s.Annotations[annotationOwner]
	w.c.Cache().Put(w.parentKey(), health.StateOf(u))
	return w.granted()
}

// An OwnedError says that an inventory belongs to another owner than the set that has its name.
type OwnedError struct {
	// Inventory is the Secret, and Owner is the Set.Owner that it names.
	Inventory cluster.ObjectRef
	Owner     string
}

// Error names both, and what to do.
func (e *OwnedError) Error() string {
	return fmt.Sprintf("%s is the inventory of %s; choose another external name, or set adopt to take over all that it lists", e.Inventory, text.OneLine(e.Owner))
}

// owns says whether the inventory that was read last is that of the owner of the set. One that names no owner is that of
// any, and a set that names none works with any, and leaves the owner as it is.
func (w *work) owns() bool {
	return w.mem.inv == nil || w.mem.owner == "" || w.s.Owner == "" || w.mem.owner == w.s.Owner
}

// owner that an inventory is to name.
func (w *work) owner() string {
	if w.s.Owner == "" && w.mem.inv != nil {
		return w.mem.owner
	}
	return w.s.Owner
}

func (w *work) owned() error {
	if w.owns() {
		return nil
	}
	return &OwnedError{Inventory: w.parentKey(), Owner: w.mem.owner}
}

// granted is the inventory that was read last, if the set may work with it.
func (w *work) granted() (*inventory.Inventory, error) {
	if w.s.Adopt {
		return w.mem.inv, nil
	}
	if err := w.owned(); err != nil {
		return nil, err
	}
	return w.mem.inv, nil
}

// loadOwn loads the inventory for a removal, which takes over nothing.
func (w *work) loadOwn(ctx context.Context) (*inventory.Inventory, error) {
	inv, err := w.load(ctx, true)
	if err == nil && inv != nil {
		err = w.owned()
	}
	if err != nil {
		return nil, err
	}
	return inv, nil
}

// save the inventory. With create there must be none, and errInventoryExists is returned where there is one of this set;
// any other Secret of its name is left as it is.
func (w *work) save(ctx context.Context, inv *inventory.Inventory, create bool) error {
	o, err := w.parent(inv)
	if err != nil {
		return err
	}
	sum, _, err := w.Client.Apply(ctx, o, create)
	if create && kerrors.IsConflict(err) {
		u, err := w.Get(ctx, ssa.SecretKind, w.parentKey())
		if err != nil {
			return err
		}
		if u != nil && u.GetLabels()[object.LabelApplySetID] != w.id {
			return w.foreignParent(u)
		}
		return errInventoryExists
	}
	if err != nil {
		return errors.Wrapf(ssa.Explain(err), "cannot write inventory %s", w.parentKey())
	}
	// The step goes on with what it has, which is better than what is in the cluster until it is saved.
	w.mem.owner = w.owner()
	w.mem.inv, w.mem.version = inv.Clone(), sum.ResourceVersion
	return nil
}

func (w *work) foreignParent(u *unstructured.Unstructured) error {
	return errors.Errorf("%s is no inventory of this set: its label %s is %q; remove it, or choose another external name",
		w.parentKey(), object.LabelApplySetID, u.GetLabels()[object.LabelApplySetID])
}

// parent is the Secret that holds an inventory.
func (w *work) parent(inv *inventory.Inventory) (*object.Desired, error) {
	data, err := inv.Marshal()
	if err != nil {
		return nil, err
	}
	w.mem.size = len(data)
	if err := w.checkRoom(inv, len(data)); err != nil {
		return nil, err
	}
	s := &corev1.Secret{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"},
		ObjectMeta: metav1.ObjectMeta{
			Name: w.s.Name, Namespace: w.e.namespace,
			Labels: map[string]string{object.LabelApplySetID: w.id, object.LabelManagedBy: object.ManagedBy},
			Annotations: map[string]string{
				object.AnnotationTooling:            object.Tooling,
				object.AnnotationContainsGroupKinds: inventory.GroupKinds(inv),
				annotationOwner:                     w.owner(),
			},
		},
		Data: map[string][]byte{inventory.Key: data},
	}
	if !w.fits(inv.Good) {
		inv.Good = nil
	}
	if len(inv.Good) > 0 {
		s.Data[goodKey] = inv.Good
	}
	if n := inventory.Namespaces(inv, w.e.namespace); n != "" {
		s.Annotations[object.AnnotationAdditionalNamespaces] = n
	}
	b, err := json.Marshal(s)
	if err != nil {
		return nil, errors.Wrap(err, "cannot encode inventory")
	}
	u := &unstructured.Unstructured{}
	if err := u.UnmarshalJSON(b); err != nil {
		return nil, errors.Wrap(err, "cannot encode inventory")
	}
	o, err := object.New(u, "", object.StageNamespaces)
	return &o, err
}
