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

// formerObjects returns the objects that another tool installed with an adopted release, except those with the keep policy.
// Before is the record of the previous revision, or nil.
func (n *NewRevision) formerObjects(before *record.Info) ([]*unstructured.Unstructured, error) {
	if before == nil || before.Labels[LabelSet] != "" || n.Desired.Adopts == object.AdoptNone {
		return nil, nil
	}
	objects, err := Objects(before.Manifest, n.Desired.Release, n.Next.Before)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(objects, func(u *unstructured.Unstructured) bool { return object.Keeps(u.GetAnnotations()) }), nil
}

// Has reports whether an object recorded by an adopted release belongs to the bundle, or has a kind that the cluster does not
// serve. It sets the namespace of the object.
type Has func(u *unstructured.Unstructured) (bool, error)

// FindFormer returns the objects of an adopted release that the installation no longer contains, in the order in which helm
// upgrade deletes them: the last one first. It returns only objects that are still marked as part of that release. Before is the
// record of the previous revision, or nil.
func (h History) FindFormer(ctx context.Context, i *NewRevision, before *record.Info, has Has) ([]cluster.ObjectRef, error) {
	return h.eachFormer(ctx, i, before, has, func(*unstructured.Unstructured, *metav1.PartialObjectMetadata) error { return nil })
}

// PruneFormer deletes the objects that FindFormer returns, and returns the deleted objects. If it also returns an error, others
// may be left.
func (h History) PruneFormer(ctx context.Context, i *NewRevision, before *record.Info, has Has) ([]cluster.ObjectRef, error) {
	return h.eachFormer(ctx, i, before, has, func(u *unstructured.Unstructured, m *metav1.PartialObjectMetadata) error {
		_, err := h.Client.Delete(ctx, u.GroupVersionKind(), object.RefOf(u), string(m.UID))
		if kerrors.IsConflict(err) {
			// Another object has replaced it.
			return nil
		}
		return err
	})
}

// eachFormer calls a function for each former object and its live metadata. It returns the objects for which the function
// succeeded.
func (h History) eachFormer(
	ctx context.Context, i *NewRevision, before *record.Info, has Has,
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
