// SPDX-License-Identifier: Apache-2.0

package ssa

import (
	"context"
	"encoding/json"
	"net/http"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/health"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

// A User is a bundle that uses objects of other owners.
type User struct {
	// Set is the ID of the ApplySet, Owner the owner of the bundle, and ManagedBy the value of its label LabelManagedBy.
	Set, Owner, ManagedBy string
}

// Marks sets and removes the marks of one bundle on objects of other owners.
type Marks struct {
	Client *Client
	User   User
}

// Use marks an object that has the given UID as used by the bundle, and returns the state of the object. The bundle has a field manager
// of its own for that, so that no mark affects those of others, or the owner. The label of the engine makes the watch show the object;
// if it has another value, it stays. If the object is gone or was replaced, Use returns an error for which IsReplaced returns true.
func (k Marks) Use(ctx context.Context, gvk schema.GroupVersionKind, r cluster.ObjectRef, uid string) (cluster.ObjectState, error) {
	m := metav1.ObjectMeta{
		Labels:      map[string]string{object.LabelManagedBy: k.User.ManagedBy},
		Annotations: map[string]string{object.UsedBy(k.User.Set): k.User.Owner},
	}
	s, err := k.mark(ctx, gvk, r, uid, m)
	if IsOwnershipConflict(err) {
		m.Labels = nil
		s, err = k.mark(ctx, gvk, r, uid, m)
	}
	if err == nil {
		k.Client.written.add(Written{GVK: gvk, Ref: r, UID: s.UID, Used: true})
	}
	return s, err
}

// Unuse removes what Use set on the object that has the given UID. An object that is gone or was replaced is not an error.
func (k Marks) Unuse(ctx context.Context, gvk schema.GroupVersionKind, r cluster.ObjectRef, uid string) error {
	_, err := k.UnuseAt(ctx, gvk, r, uid, "")
	return err
}

// UnuseAt is like Unuse, but also requires that the object still has this resource version. Otherwise, unused is false.
func (k Marks) UnuseAt(ctx context.Context, gvk schema.GroupVersionKind, r cluster.ObjectRef, uid, resourceVersion string) (unused bool, err error) {
	_, err = k.mark(ctx, gvk, r, uid, metav1.ObjectMeta{ResourceVersion: resourceVersion})
	if err == nil || IsReplaced(err) {
		return err == nil, nil
	}
	return false, errors.Wrapf(Explain(err), "%s: cannot remove its annotation %s", r, object.UsedBy(k.User.Set))
}

// mark applies metadata with the field manager of a bundle, to the object with a UID.
func (k Marks) mark(
	ctx context.Context, gvk schema.GroupVersionKind, r cluster.ObjectRef, uid string, m metav1.ObjectMeta,
) (cluster.ObjectState, error) {
	c := k.Client
	mapping, err := c.cluster.Mapping(ctx, gvk)
	if err != nil {
		return cluster.ObjectState{}, err
	}
	m.Namespace, m.Name, m.UID = r.Namespace, r.Name, types.UID(uid)
	body, err := json.Marshal(&metav1.PartialObjectMetadata{
		TypeMeta: metav1.TypeMeta{APIVersion: gvk.GroupVersion().String(), Kind: gvk.Kind}, ObjectMeta: m,
	})
	if err != nil {
		return cluster.ObjectState{}, errors.Wrap(err, "cannot encode")
	}
	b, _, err := c.write(ctx, c.cluster.REST().Verb(http.MethodPatch).AbsPath(path(gvk.GroupVersion(), mapping, r.Namespace, r.Name)).
		Param("fieldManager", c.FieldManager+"-"+object.HashOfSet(k.User.Set)).Param("force", "false").
		SetHeader("Content-Type", applyPatch).SetHeader("Accept", JSON).Body(body))
	if err != nil {
		return cluster.ObjectState{}, err
	}
	u := &unstructured.Unstructured{}
	if err := u.UnmarshalJSON(b); err != nil {
		return cluster.ObjectState{}, errors.Wrap(err, "cannot read the response")
	}
	s := health.StateOf(c.FieldManager, u)
	c.note(r, &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Labels: u.GetLabels()}}, s)
	return s, nil
}

// TakeOver makes the bundle the owner of an object that another bundle handed over, if the object still has this UID and resource version.
// Otherwise, taken is false: another bundle or the former owner was faster. Only labels and annotations change.
func (k Marks) TakeOver(
	ctx context.Context, gvk schema.GroupVersionKind, r cluster.ObjectRef, uid, resourceVersion string,
) (out *metav1.PartialObjectMetadata, taken bool, err error) {
	c := k.Client
	b, err := c.PatchMetadata(ctx, gvk, r, map[string]any{
		"uid": uid, "resourceVersion": resourceVersion,
		"labels":      map[string]any{object.LabelPartOf: k.User.Set, object.LabelManagedBy: k.User.ManagedBy},
		"annotations": map[string]any{object.AnnotationHandedOver: nil, object.AnnotationKeptBy: nil},
	}, JSON)
	switch {
	case kerrors.IsConflict(err), err == nil && b == nil:
		return nil, false, nil
	case err != nil:
		return nil, false, errors.Wrapf(Explain(err), "%s: cannot take over the object", r)
	}
	u := &unstructured.Unstructured{}
	if err := u.UnmarshalJSON(b); err != nil {
		return nil, false, errors.Wrap(err, "cannot read the response")
	}
	out = &metav1.PartialObjectMetadata{}
	if err := json.Unmarshal(b, out); err != nil {
		return nil, false, errors.Wrap(err, "cannot read the response")
	}
	c.note(r, out, health.StateOf(c.FieldManager, u))
	return out, true, nil
}
