// SPDX-License-Identifier: Apache-2.0

package teardown

import (
	"context"
	"encoding/json"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ssa"
)

// orphanAll orphans the objects that must not be deleted, because they were applied with the keep policy or received it later, or
// because they existed before the bundle adopted them. It also orphans the objects that they need: their namespaces, and the CRDs
// of their kinds. It does so before anything is deleted, and starts with the namespaces and CRDs, so that an interrupted process
// never deletes them later.
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
	needed := needsOf(orphans, func(gvk schema.GroupVersionKind) (cluster.Mapping, error) { return r.in.Cluster.Mapping(ctx, gvk) })
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
		return Decide(e, r.facts(e), r.in.Set) == Orphan, nil
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
	labels := make(map[string]any, len(r.in.Labels))
	for l := range r.in.Labels {
		labels[l] = nil
	}
	annotations, out := map[string]any{object.AnnotationKeptBy: r.in.Set}, &r.out.Kept
	if isReleased(e, r.in.DeleteAdopted) {
		annotations[object.AnnotationAdopted], out = r.in.Set, &r.out.KeptAdopted
	}
	body, err := json.Marshal(map[string]any{"metadata": map[string]any{
		// Do not change an object that has replaced this one.
		"uid": state.UID, "labels": labels, "annotations": annotations,
	}})
	if err != nil {
		return errors.Wrapf(err, "%s: cannot encode", k)
	}
	m, err := r.in.Cluster.Mapping(ctx, e.GVK())
	if err != nil {
		return errors.Wrap(err, k.String())
	}
	_, err = r.in.Write.Patch(ctx, e.GVK(), m, k, ssa.Patch{Type: ssa.MergePatch, Body: body, Accept: ssa.Metadata})
	if err == nil {
		*out = append(*out, k)
	} else if gone, err := r.in.Write.Absent(ctx, e.GVK(), m, k.Name, err); !gone {
		return errors.Wrapf(ssa.Explain(err), "%s: cannot orphan the object", k)
	}
	r.in.Cluster.Cache().Forget(k)
	r.settleGone(e)
	r.out.Done[k] = true
	return nil
}
