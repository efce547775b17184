// SPDX-License-Identifier: Apache-2.0

package release

import (
	"context"
	"slices"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-kyma/internal/render/record"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

// formerObjects returns the objects of a release that another tool installed and that is adopted, without those that are to be
// kept. Before is the record of the revision before; nil for none.
func (i *Installation) formerObjects(before *record.Info) ([]*unstructured.Unstructured, error) {
	if before == nil || before.Labels[LabelSet] != "" || i.Desired.Adopts == object.AdoptNone {
		return nil, nil
	}
	objects, err := Objects(before.Manifest, i.Desired.Release, i.Next.Before)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(objects, func(u *unstructured.Unstructured) bool { return object.Keeps(u.GetAnnotations()) }), nil
}

// Has reports whether an object that an adopted release recorded belongs to the bundle, or is of a kind that the cluster does not
// serve. It sets the namespace of the object.
type Has func(u *unstructured.Unstructured) (bool, error)

// FindFormer returns the objects that were part of an adopted release and that the installation no longer has, the last ones
// first, as helm upgrade deletes them. Only what is still marked as part of that very release is among them. Before is the record
// of the revision before; nil for none.
func (h History) FindFormer(ctx context.Context, i *Installation, before *record.Info, has Has) ([]cluster.ObjectRef, error) {
	return h.eachFormer(ctx, i, before, has, func(*unstructured.Unstructured, *metav1.PartialObjectMetadata) error { return nil })
}

// PruneFormer deletes what FindFormer returns. Where it returns an error, too, these objects are deleted, and others may be left.
func (h History) PruneFormer(ctx context.Context, i *Installation, before *record.Info, has Has) ([]cluster.ObjectRef, error) {
	return h.eachFormer(ctx, i, before, has, func(u *unstructured.Unstructured, m *metav1.PartialObjectMetadata) error {
		_, err := h.Client.Delete(ctx, u.GroupVersionKind(), object.RefOf(u), string(m.UID))
		if kerrors.IsConflict(err) {
			// It was replaced by another object meanwhile.
			return nil
		}
		return err
	})
}

// eachFormer calls a function with each former object, and its metadata in the cluster. It returns those for which the function
// returned no error.
func (h History) eachFormer(
	ctx context.Context, i *Installation, before *record.Info, has Has,
	do func(u *unstructured.Unstructured, m *metav1.PartialObjectMetadata) error,
) ([]cluster.ObjectRef, error) {
	objects, err := i.formerObjects(before)
	if err != nil {
		return nil, err
	}
	var out []cluster.ObjectRef
	for _, u := range slices.Backward(objects) {
		ours, err := has(u)
		if err != nil {
			return out, err
		}
		if ours {
			continue
		}
		m, err := h.Client.Metadata(ctx, u.GroupVersionKind(), object.RefOf(u))
		if err != nil {
			return out, err
		}
		if m == nil || !i.Desired.Release.MayPrune(m) {
			continue
		}
		if err := do(u, m); err != nil {
			return out, err
		}
		out = append(out, object.RefOf(u))
	}
	return out, nil
}
