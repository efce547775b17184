// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"
	"encoding/json"
	"sort"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

var secretKind = schema.GroupVersionKind{Version: "v1", Kind: "Secret"} //nolint:gochecknoglobals // Constant.

// annotationOwner tells a person who finds an inventory whose it is.
const annotationOwner = "kyma.m.crossplane.io/owner"

// parentKey is the key of the Secret that holds the inventory.
func (w *work) parentKey() Key {
	return Key{Kind: "Secret", Namespace: w.e.namespace, Name: w.s.Name}
}

// load the inventory; nil where there is none. It is read only if it changed.
func (w *work) load(ctx context.Context) (*inventory, error) {
	k := w.parentKey()
	if unsynced := w.track(ctx, []schema.GroupVersionKind{secretKind}); len(unsynced) == 0 {
		sum, ok := w.c.Watch().Get(k)
		if !ok {
			w.mem.inv = nil
			return nil, nil
		}
		if w.mem.inv != nil && w.mem.version == sum.ResourceVersion {
			return w.mem.inv, nil
		}
	}
	u, err := w.get(ctx, secretKind, k)
	if err != nil {
		return nil, err
	}
	if u == nil {
		w.mem.inv = nil
		return nil, nil
	}
	return w.decode(u)
}

// decode the inventory of a parent.
func (w *work) decode(u *unstructured.Unstructured) (*inventory, error) {
	if u.GetLabels()[LabelApplySetID] != w.id {
		return nil, errors.Errorf("%s is no inventory of this set: its label %s is %q; remove it, or choose another external name",
			w.parentKey(), LabelApplySetID, u.GetLabels()[LabelApplySetID])
	}
	if w.mem.inv != nil && w.mem.version == u.GetResourceVersion() {
		return w.mem.inv, nil
	}
	s := &corev1.Secret{}
	b, err := u.MarshalJSON()
	if err != nil {
		return nil, errors.Wrapf(err, "cannot read %s", w.parentKey())
	}
	if err := json.Unmarshal(b, s); err != nil {
		return nil, errors.Wrapf(err, "cannot read %s", w.parentKey())
	}
	inv, err := unmarshal(s.Data[inventoryKey])
	if err != nil {
		return nil, errors.Wrapf(err, "%s is damaged", w.parentKey())
	}
	w.mem.inv, w.mem.version = inv, u.GetResourceVersion()
	w.c.Watch().Put(w.parentKey(), Summarize(u))
	return inv, nil
}

// save the inventory.
func (w *work) save(ctx context.Context, inv *inventory) error {
	data, err := inv.marshal()
	if err != nil {
		return err
	}
	if len(data) > corev1.MaxSecretSize*9/10 {
		return errors.Errorf("the inventory of %d objects has %d bytes, more than a Secret holds", len(inv.Objects), len(data))
	}
	s := &corev1.Secret{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"},
		ObjectMeta: metav1.ObjectMeta{
			Name: w.s.Name, Namespace: w.e.namespace,
			Labels: map[string]string{LabelApplySetID: w.id, LabelManagedBy: ManagedBy},
			Annotations: map[string]string{
				AnnotationTooling:            Tooling,
				AnnotationContainsGroupKinds: groupKinds(inv),
				annotationOwner:              w.s.Owner,
			},
		},
		Data: map[string][]byte{inventoryKey: data},
	}
	if n := namespaces(inv, w.e.namespace); n != "" {
		s.Annotations[AnnotationAdditionalNamespaces] = n
	}
	b, err := json.Marshal(s)
	if err != nil {
		return errors.Wrap(err, "cannot encode inventory")
	}
	u := &unstructured.Unstructured{}
	if err := u.UnmarshalJSON(b); err != nil {
		return errors.Wrap(err, "cannot encode inventory")
	}
	o, err := newObject(u, "", stageNamespaces)
	if err != nil {
		return err
	}
	sum, _, err := w.apply(ctx, &o, false)
	if err != nil {
		return errors.Wrapf(explain(err), "cannot write inventory %s", w.parentKey())
	}
	w.mem.inv, w.mem.version = inv, sum.ResourceVersion
	return nil
}

// groupKinds of the members, in the form of KEP-3659.
func groupKinds(inv *inventory) string {
	seen := map[string]bool{}
	for i := range inv.Objects {
		seen[inv.Objects[i].key().GroupKind().String()] = true
	}
	return joined(seen)
}

// namespaces of the members other than that of the parent, in the form of KEP-3659.
func namespaces(inv *inventory, parent string) string {
	seen := map[string]bool{}
	for i := range inv.Objects {
		if n := inv.Objects[i].Namespace; n != "" && n != parent {
			seen[n] = true
		}
	}
	return joined(seen)
}

func joined(seen map[string]bool) string {
	out := make([]string, 0, len(seen))
	for s := range seen {
		out = append(out, s)
	}
	sort.Strings(out)
	return strings.Join(out, ",")
}
