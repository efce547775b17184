// SPDX-License-Identifier: Apache-2.0

package teardown

import (
	"cmp"
	"context"
	"fmt"
	"maps"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/panics"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
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
	case Confirm:
		return false, "was changed by another client", nil
	case Unuse:
		return r.unuse(ctx, e)
	case NotOurs:
		if e.Stage == object.StageCRDs && e.UID == "" {
			// An interrupted call may have marked the CRD of another owner.
			return r.unuse(ctx, e)
		}
		return true, "", nil
	default:
		return true, "", nil
	}
	return r.deleteMember(ctx, e, state)
}

// deleteMember deletes an object that is a member, unless it must be kept by now. If the state is outdated, deleteMember reads the object: the
// next call handles one that was replaced, or that must not be deleted anymore.
func (r *remover) deleteMember(ctx context.Context, e *inventory.Entry, s cluster.ObjectState) (gone bool, waiting string, err error) {
	f := r.facts(e)
	f.Pass, f.State = Orphaning, &s
	for try := 1; try <= attempts && Decide(e, f, r.in.Set) == Delete; try++ {
		if try == attempts {
			// Clients that change an object all the time must not prevent its deletion.
			s.ResourceVersion = ""
		}
		left, err := r.delete(ctx, e, s)
		switch {
		case left != nil && err == nil:
			return false, health.Terminating(left), nil
		case err == nil:
			// A CRD may have been handed over instead.
			r.recordGone(e)
			return true, "", nil
		case !kerrors.IsConflict(err):
			return false, "", err
		}
		now, err := r.readAgain(ctx, e)
		switch {
		case err != nil || now == nil:
			return err == nil, "", err
		case now.UID != s.UID:
			return false, "was replaced by another object", nil
		}
		s = *now
	}
	if s.Status == cluster.Terminating {
		return false, s.Message, nil
	}
	return false, "was changed by another client", nil
}

// readAgain returns the state of an object that is not as the watch showed it, or nil if it is gone. The next call sees this state.
func (r *remover) readAgain(ctx context.Context, e *inventory.Entry) (*cluster.ObjectState, error) {
	k := e.Ref()
	m, err := r.in.Read.Metadata(ctx, e.GVK(), k)
	if err != nil || m == nil {
		return nil, err
	}
	s := health.MetadataStateOf(r.in.FieldManager, m)
	if m.Labels[object.LabelManagedBy] == r.in.Labels[object.LabelManagedBy] {
		r.in.Cluster.Cache().Put(k, s)
	} else {
		// The watch shows neither this object nor its deletion.
		r.in.Cluster.Cache().Forget(k)
	}
	if Identify(e, m, r.in.Set) == Member {
		s.Set = r.in.Set
	}
	return &s, nil
}

// delete deletes an object that still has this UID and resource version. A CRD is deleted only if no other bundle uses it; otherwise, it is handed over.
func (r *remover) delete(ctx context.Context, e *inventory.Entry, s cluster.ObjectState) (*metav1.PartialObjectMetadata, error) {
	k := e.Ref()
	if r.crds[k] == nil {
		return r.in.Write.DeleteAt(ctx, e.GVK(), k, s.UID, s.ResourceVersion)
	}
	for try := 1; ; try++ {
		left, err := r.in.Write.DeleteAt(ctx, e.GVK(), k, s.UID, r.crds[k].GetResourceVersion())
		if !kerrors.IsConflict(err) || try == attempts {
			return left, err
		}
		if err := r.readCRD(ctx, e); err != nil {
			return nil, err
		}
		u := r.crds[k]
		if u != nil && string(u.GetUID()) != s.UID {
			return nil, err
		}
		if err := r.releaseCRD(ctx, e); err != nil || u == nil || r.out.Done[k] {
			return nil, err
		}
	}
}

// unuse removes the mark of the bundle from a CRD of another owner. If the owner handed the CRD over in the meantime, and no other bundle
// uses it, the mark stays: the next call makes the bundle the owner.
func (r *remover) unuse(ctx context.Context, e *inventory.Entry) (gone bool, waiting string, err error) {
	k := e.Ref()
	for range attempts {
		m, err := r.in.Read.Metadata(ctx, e.GVK(), k)
		if err != nil {
			return false, "", err
		}
		if m == nil || m.Annotations[object.UsedBy(r.in.Set)] == "" {
			break
		}
		if e.IsUsed() && object.IsHandedOver(m.Labels, m.Annotations) && len(object.UsersOf(m.Annotations, r.in.Set)) == 0 {
			return false, "was handed over, and will be deleted next", nil
		}
		if unused, err := r.in.Share.UnuseAt(ctx, e.GVK(), k, string(m.UID), m.ResourceVersion); unused || err != nil {
			r.out.Unused = append(r.out.Unused, k)
			return err == nil, "", err
		}
		waiting = "is being changed by other clients at the same time"
	}
	if waiting == "" {
		r.out.Unused = append(r.out.Unused, k)
	}
	return waiting == "", waiting, nil
}

// readCRDs reads the CRDs among the entries that are used or are about to be deleted.
func (r *remover) readCRDs(ctx context.Context) error {
	for _, e := range r.in.Entries {
		if e.Stage != object.StageCRDs || !e.IsUsed() && (r.known[e.Ref()].Set != r.in.Set || Decide(e, r.facts(e), r.in.Set) == Orphan) {
			continue
		}
		if err := r.readCRD(ctx, e); err != nil {
			return err
		}
	}
	return nil
}

// readCRD reads a CRD. If it was handed over, and no other bundle uses it, the bundle becomes its owner first: what it leaves would
// otherwise belong to no one.
func (r *remover) readCRD(ctx context.Context, e *inventory.Entry) error {
	k := e.Ref()
	for range attempts {
		u, err := r.in.Read.Get(ctx, e.GVK(), k)
		if err != nil {
			return err
		}
		if u == nil {
			delete(r.crds, k)
			return nil
		}
		r.crds[k] = u
		owned := u.GetLabels()[object.LabelPartOf] == r.in.Set
		if !e.IsUsed() {
			if !owned {
				// The watch lags behind.
				r.recordRead(ctx, e, u)
			}
			return nil
		}
		if !owned {
			if !object.IsHandedOver(u.GetLabels(), u.GetAnnotations()) || u.GetDeletionTimestamp() != nil || len(r.usersOf(e)) > 0 {
				return nil
			}
			m, taken, err := r.in.Share.TakeOver(ctx, e.GVK(), k, string(u.GetUID()), u.GetResourceVersion())
			if err != nil {
				return err
			}
			if !taken {
				continue
			}
			u.SetResourceVersion(m.ResourceVersion)
		}
		s := health.StateOf(r.in.FieldManager, u)
		s.Set = r.in.Set
		r.known[k], r.asked[k], r.inherited[k] = s, true, true
		return nil
	}
	return errors.Errorf("%s: other clients are changing the object at the same time", k)
}

// recordRead records a CRD that lost the label of the bundle, or belongs to another owner by now.
func (r *remover) recordRead(ctx context.Context, e *inventory.Entry, u *unstructured.Unstructured) {
	k := e.Ref()
	delete(r.known, k)
	r.asked[k] = true
	r.recordResult(ctx, e, &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
		UID: u.GetUID(), ResourceVersion: u.GetResourceVersion(), Labels: u.GetLabels(), Annotations: u.GetAnnotations(),
		DeletionTimestamp: u.GetDeletionTimestamp(), Finalizers: u.GetFinalizers(), ManagedFields: u.GetManagedFields(),
	}})
	if _, member := r.known[k]; !member {
		delete(r.crds, k)
	}
}

// usersOf returns the owners of the other bundles that use a CRD.
func (r *remover) usersOf(e *inventory.Entry) []string {
	u := r.crds[e.Ref()]
	if u == nil {
		return nil
	}
	return object.UsersOf(u.GetAnnotations(), r.in.Set)
}

// kinds returns the kinds of the CRDs that are about to be deleted as own, each with one of its served versions. It adds their mappings to
// the cluster. The result first contains also the kinds of the CRDs among the entries that stay: custom resources of the bundle are
// deleted before the objects that serve them.
func (r *remover) kinds(ctx context.Context) (first, own map[schema.GroupKind]schema.GroupVersionKind) {
	own = map[schema.GroupKind]schema.GroupVersionKind{}
	for _, e := range r.in.Entries {
		k := e.Ref()
		if r.crds[k] == nil || r.out.Done[k] || e.IsUsed() && !r.inherited[k] {
			continue
		}
		for gvk, m := range object.ServedKinds(r.crds[k]) {
			r.in.Cluster.AddMapping(gvk, m)
			if known, ok := own[gvk.GroupKind()]; !ok || gvk.Version < known.Version {
				own[gvk.GroupKind()] = gvk
			}
		}
	}
	first = findOwnKinds(r.in.Entries, func(gvk schema.GroupVersionKind) (cluster.Mapping, error) { return r.in.Read.Mapping(ctx, gvk) })
	maps.Copy(first, own)
	return first, own
}
