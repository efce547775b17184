// SPDX-License-Identifier: Apache-2.0

package teardown

import (
	"cmp"
	"context"
	"fmt"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane-contrib/provider-kyma/internal/panics"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/health"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

// deleteAll deletes the objects of a group. The result names the first remaining object and the number of further ones.
func (r *remover) deleteAll(ctx context.Context, group []*inventory.Entry) (Blocked, error) {
	left := Blocked{}
	count := 0
	for _, e := range group {
		gone, waiting, err := r.deleteOne(ctx, e)
		if err != nil {
			return Blocked{}, err
		}
		if gone {
			r.out.Done[e.Ref()] = true
			continue
		}
		count++
		if !left.Waits() {
			left = Blocked{State: health.Deleting, Message: e.Ref().String() + ": " + cmp.Or(waiting, "is being deleted")}
		}
	}
	if count > 1 {
		left.Message += fmt.Sprintf(" (and %d more)", count-1)
	}
	return left, nil
}

// deleteOne deletes an object, unless it is not a member. It reports whether the object requires no more work, and otherwise what
// its deletion waits for.
func (r *remover) deleteOne(ctx context.Context, e *inventory.Entry) (gone bool, waiting string, err error) {
	k := e.Ref()
	defer panics.Into(&err, k.String())
	d, state, err := r.decide(ctx, e)
	if err != nil {
		return false, "", err
	}
	switch d {
	case Wait:
		return false, state.Message, nil
	case Delete:
	default:
		return true, "", nil
	}
	left, err := r.in.Write.Delete(ctx, e.GVK(), k, state.UID)
	if kerrors.IsConflict(err) {
		return r.awaitReplaced(ctx, e)
	}
	if err != nil {
		return false, "", err
	}
	if left != nil {
		return false, health.Terminating(left), nil
	}
	r.settleGone(e)
	return true, "", nil
}

// awaitReplaced handles an object that was replaced before it was deleted. The next call decides whether the new object is a
// member.
func (r *remover) awaitReplaced(ctx context.Context, e *inventory.Entry) (gone bool, waiting string, err error) {
	k := e.Ref()
	m, err := r.in.Read.Metadata(ctx, e.GVK(), k)
	if err != nil || m == nil {
		return err == nil, "", err
	}
	if m.Labels[object.LabelManagedBy] == r.in.Labels[object.LabelManagedBy] {
		r.in.Cluster.Cache().Put(k, health.MetadataStateOf(r.in.FieldManager, m))
	} else {
		// The watch shows neither this object nor its deletion.
		r.in.Cluster.Cache().Forget(k)
	}
	return false, "was replaced by another object", nil
}

// ownKinds returns the kinds of the CRDs among the entries, each with one of its served versions. It also adds their mappings to
// the cluster.
func (r *remover) ownKinds(ctx context.Context) (map[schema.GroupKind]schema.GroupVersionKind, error) {
	out := map[schema.GroupKind]schema.GroupVersionKind{}
	for _, e := range r.in.Entries {
		if e.Stage != object.StageCRDs || r.known[e.Ref()].Set != r.in.Set {
			continue
		}
		crd, err := r.in.Read.Get(ctx, e.GVK(), e.Ref())
		if err != nil {
			return nil, err
		}
		if crd == nil {
			continue
		}
		for gvk, m := range object.ServedKinds(crd) {
			r.in.Cluster.Learn(gvk, m)
			if known, ok := out[gvk.GroupKind()]; !ok || gvk.Version < known.Version {
				out[gvk.GroupKind()] = gvk
			}
		}
	}
	return out, nil
}
