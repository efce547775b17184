// SPDX-License-Identifier: Apache-2.0

package teardown

import (
	"context"
	"slices"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/health"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ssa"
)

// orphanAll orphans the objects that must not be deleted, because they were applied with the keep policy or received it later, or
// because they existed before the bundle adopted them. It also orphans the objects that they need: their namespaces, the CRDs of their
// kinds, and the namespaces of the objects that are left behind. It does so before anything is deleted, and starts with the namespaces
// and CRDs, so that an interrupted process never deletes them later.
func (r *remover) orphanAll(ctx context.Context) error {
	var orphans []*inventory.Entry
	for _, e := range r.in.Entries {
		if ok, err := r.mustOrphan(ctx, e); err != nil || !ok {
			if err != nil {
				return err
			}
			continue
		}
		orphans = append(orphans, e)
	}
	needed := needsOf(orphans, func(gvk schema.GroupVersionKind) (cluster.Mapping, error) { return r.in.Read.Mapping(ctx, gvk) })
	for _, e := range r.in.Entries {
		// An earlier call that failed, or that waits, may have found the object.
		if s := r.out.NonMembers[e.Ref()]; s.LeftBehind && s.UID == e.UID {
			needed[cluster.ObjectRef{Kind: "Namespace", Name: e.Namespace}] = true
		}
	}
	for _, e := range append(Shelters(r.in.Entries, orphans, needed), orphans...) {
		if err := r.orphan(ctx, e); err != nil {
			return err
		}
	}
	return nil
}

// needsOf returns the namespaces and the CRDs that the objects of entries need.
func needsOf(entries []*inventory.Entry, mapping Mapper) map[cluster.ObjectRef]bool {
	out := map[cluster.ObjectRef]bool{}
	for _, e := range entries {
		out[cluster.ObjectRef{Kind: "Namespace", Name: e.Namespace}] = true
		if m, err := mapping(e.GVK()); err == nil {
			out[crdOf(e, m)] = true
		}
	}
	return out
}

// crdOf returns the reference to the CRD of an entry's kind with this mapping. For a built-in kind, no such CRD exists.
func crdOf(e *inventory.Entry, m cluster.Mapping) cluster.ObjectRef {
	return cluster.ObjectRef{Group: object.CRDKind.Group, Kind: object.CRDKind.Kind, Name: m.Resource + "." + e.Group}
}

// Shelters returns the entries of the objects that orphans need, without the orphans themselves.
func Shelters(entries, orphans []*inventory.Entry, needed map[cluster.ObjectRef]bool) []*inventory.Entry {
	return filter(entries, func(e *inventory.Entry) bool { return needed[e.Ref()] && !slices.Contains(orphans, e) })
}

// mustOrphan reports whether an object must be kept. If the watch does not contain the object, it is read only if it was
// applied with the keep policy or might have been adopted.
func (r *remover) mustOrphan(ctx context.Context, e *inventory.Entry) (bool, error) {
	if !e.Keep && !isReleased(e, r.in.DeleteAdopted) {
		d := Decide(e, r.facts(e), r.in.Set)
		return d == Orphan || d == Delete && len(r.usersOf(e)) > 0, nil
	}
	d, _, err := r.decide(ctx, e)
	return d == Orphan, err
}

// orphan removes the labels of a member from an object, so that it no longer belongs to an ApplySet, and annotates it with
// AnnotationKeptBy.
func (r *remover) orphan(ctx context.Context, e *inventory.Entry) error {
	k := e.Ref()
	d, state, err := r.decide(ctx, e)
	if err != nil || !d.IsMember() {
		return err
	}
	annotations, out := map[string]any{object.AnnotationKeptBy: r.in.Set}, &r.out.Kept
	switch {
	case isReleased(e, r.in.DeleteAdopted):
		annotations[object.AnnotationAdopted], out = r.in.Set, &r.out.KeptAdopted
	case len(r.usersOf(e)) > 0 && !e.Keep && !state.Keep:
		return r.releaseCRD(ctx, e)
	}
	// Do not change an object that has replaced this one.
	b, err := r.patchMetadata(ctx, e, map[string]any{"uid": state.UID, "labels": r.withoutLabels(nil), "annotations": annotations})
	if err != nil {
		return err
	}
	if b != nil {
		*out = append(*out, k)
	}
	r.in.Cluster.Cache().Forget(k)
	r.recordGone(e)
	r.out.Done[k] = true
	return nil
}

// patchMetadata sends a merge patch of the metadata of an object, and returns the result: its metadata, or the whole object if it is a
// CRD. It returns nil if the object is gone. A precondition that failed is an error for which IsConflict returns true.
func (r *remover) patchMetadata(ctx context.Context, e *inventory.Entry, metadata map[string]any) (*unstructured.Unstructured, error) {
	k, accept := e.Ref(), ssa.Metadata
	if e.Stage == object.StageCRDs {
		accept = ssa.JSON
	}
	b, err := r.in.Write.PatchMetadata(ctx, e.GVK(), k, metadata, accept)
	if err != nil || b == nil {
		return nil, errors.Wrapf(ssa.Explain(err), "%s: cannot orphan the object", k)
	}
	out := &unstructured.Unstructured{}
	return out, errors.Wrapf(out.UnmarshalJSON(b), "%s: cannot read the response", k)
}

// releaseCRD makes a CRD a CRD without an owner, if other bundles still use it. It is fenced: a bundle that begins or ends to use the CRD
// at the same time is not overlooked.
func (r *remover) releaseCRD(ctx context.Context, e *inventory.Entry) error {
	k := e.Ref()
	for range attempts {
		users := r.usersOf(e)
		if len(users) == 0 {
			return nil
		}
		u := r.crds[k]
		now, err := r.patchMetadata(ctx, e, map[string]any{
			"uid": u.GetUID(), "resourceVersion": u.GetResourceVersion(), "labels": r.withoutLabels(users),
			"annotations": map[string]any{object.AnnotationKeptBy: r.in.Set, object.AnnotationHandedOver: r.in.Set},
		})
		if kerrors.IsConflict(err) {
			if err := r.readCRD(ctx, e); err != nil {
				return err
			}
			continue
		}
		if err != nil {
			return err
		}
		if now != nil {
			r.out.HandedOver = append(r.out.HandedOver, HandedOver{Ref: k, Users: users})
			r.in.Cluster.Cache().Put(k, health.StateOf(r.in.FieldManager, now))
		}
		r.recordGone(e)
		r.out.Done[k] = true
		return nil
	}
	return errors.Errorf("%s: other clients are changing the object at the same time", k)
}

// withoutLabels returns the change that removes the labels of a member. The label by which the watch of other users selects stays.
func (r *remover) withoutLabels(users []string) map[string]any {
	out := make(map[string]any, len(r.in.Labels))
	for l := range r.in.Labels {
		if l != object.LabelManagedBy || len(users) == 0 {
			out[l] = nil
		}
	}
	return out
}
