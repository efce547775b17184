// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"
	"encoding/json"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ssa"
)

// keepAll objects that nobody wants any more and that must not be deleted: those that were applied with such a policy, or
// have got one since. What they cannot be without is kept with them: their namespaces, and the definitions of their kinds.
// All of that is let go before anything is deleted, what they cannot be without first, so that a process that dies in
// between deletes none of it later.
func (r *remover) keepAll(ctx context.Context, unwanted []*inventory.Entry) error {
	var keep, shelters []*inventory.Entry
	needed := map[cluster.ObjectRef]bool{}
	for _, e := range unwanted {
		if kept, err := r.keeps(ctx, e); err != nil || !kept {
			if err != nil {
				return err
			}
			continue
		}
		keep = append(keep, e)
		needed[cluster.ObjectRef{Kind: "Namespace", Name: e.Namespace}] = true
		if m, err := r.c.Mapping(ctx, e.GVK()); err == nil {
			needed[cluster.ObjectRef{Group: object.CRDKind.Group, Kind: object.CRDKind.Kind, Name: m.Resource + "." + e.Group}] = true
		}
	}
	for _, e := range unwanted {
		if needed[e.Ref()] && !slices.Contains(keep, e) {
			shelters = append(shelters, e)
		}
	}
	for _, e := range append(shelters, keep...) {
		if err := r.letGo(ctx, e); err != nil {
			return err
		}
	}
	return nil
}

// keeps says whether an object must be kept. Only one that is there and ours is.
func (r *remover) keeps(ctx context.Context, e *inventory.Entry) (bool, error) {
	sum, ok := r.seen(e.Ref())
	if e.Keep && !ok {
		var err error
		if sum, ok, err = r.last(ctx, e); err != nil {
			return false, err
		}
	}
	return ok && sum.Set == r.id && (e.Keep || sum.Keep), nil
}

// letGo of an object: it loses what marks it as ours, and is nobody's.
func (r *remover) letGo(ctx context.Context, e *inventory.Entry) error {
	k := e.Ref()
	sum, exists, err := r.last(ctx, e)
	if err != nil || !exists || sum.Set != r.id {
		return err
	}
	gone := make(map[string]any, len(r.s.Labels)+2)
	for l := range r.labels() {
		gone[l] = nil
	}
	body, err := json.Marshal(map[string]any{"metadata": map[string]any{
		// An object that somebody put in its place is another one.
		"uid": sum.UID, "labels": gone, "annotations": map[string]any{object.AnnotationKeptBy: r.id},
	}})
	if err != nil {
		return errors.Wrapf(err, "%s: cannot encode", k)
	}
	m, err := r.c.Mapping(ctx, e.GVK())
	if err != nil {
		return errors.Wrap(err, k.String())
	}
	_, err = r.Patch(ctx, e.GVK(), m, k, ssa.Patch{Type: ssa.MergePatch, Body: body, Accept: ssa.Metadata})
	there := err == nil
	if !there {
		if gone, err := r.Absent(ctx, e.GVK(), m, k.Name, err); !gone {
			return errors.Wrapf(ssa.Explain(err), "%s: cannot be kept", k)
		}
	}
	delete(r.known, k)
	r.c.Cache().Forget(k)
	r.settled(e)
	r.gone[k] = true
	if there {
		r.kept = append(r.kept, k)
	}
	return nil
}

// deleted are the objects of a group that are gone, and were neither kept nor left behind.
func (r *remover) deleted(group []*inventory.Entry) []cluster.ObjectRef {
	var out []cluster.ObjectRef
	for _, e := range group {
		if k := e.Ref(); r.gone[k] && !slices.Contains(r.kept, k) && !slices.Contains(r.left, k) {
			out = append(out, k)
		}
	}
	return out
}

// leftBehind says whether an object that is nobody's may be taken over without being asked to: this set left it behind,
// or Helm did with a release that is gone and that the install continues.
func (w *work) leftBehind(ctx context.Context, o *object.Desired, m *metav1.PartialObjectMetadata) (bool, error) {
	if m == nil || m.Labels[object.LabelPartOf] != "" {
		return false, nil
	}
	if by := m.Annotations[object.AnnotationKeptBy]; by != "" {
		return by == w.id, nil
	}
	want := o.Annotations()
	name, namespace := want[object.AnnotationReleaseName], want[object.AnnotationReleaseNamespace]
	if name == "" || !object.Keeps(m.Annotations) {
		return false, nil
	}
	have := m.Annotations
	if m.Labels[object.LabelHelmManagedBy] != "Helm" || have[object.AnnotationReleaseName] != name || have[object.AnnotationReleaseNamespace] != namespace {
		return false, nil
	}
	l, err := w.List(ctx, ssa.SecretKind, namespace, "owner=helm,name="+name, 0)
	if err != nil {
		return false, errors.Wrapf(err, "cannot look for a Helm release %s in namespace %s", name, namespace)
	}
	return !slices.ContainsFunc(l.Items, func(s metav1.PartialObjectMetadata) bool { return s.Labels[labelReleaseOf] != w.id }), nil
}

// mayChange says in an error why an object that exists may not be changed.
func (w *work) mayChange(ctx context.Context, o *object.Desired, en *inventory.Entry, m *metav1.PartialObjectMetadata) error {
	err := w.claim(ctx, o, en, m)
	if err == nil {
		return nil
	}
	ok, lerr := w.leftBehind(ctx, o, m)
	if lerr != nil {
		return lerr
	}
	if ok {
		return nil
	}
	return err
}
