// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"
	"slices"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/render"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ownership"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ssa"
)

// migrations is how often the fields of an object are moved that somebody changes at the same time.
const migrations = 3

// takeOver the fields of an object that is adopted from those who deployed it. It is done once, before the object is
// applied for the first time: server-side apply alone would leave each field with two owners, and none of them would go
// as long as the other one has it. Nothing but managedFields changes, so that nothing is rolled out.
func (st *step) takeOver(ctx context.Context, o *object.Desired, m *metav1.PartialObjectMetadata) (*metav1.PartialObjectMetadata, error) {
	for try := 1; st.foreign(o, m); try++ {
		fields, err := ownership.Adopt(m.ManagedFields)
		if err != nil {
			return nil, errors.Wrapf(err, "%s: cannot take over its fields", o.Ref)
		}
		if fields == nil {
			return m, nil
		}
		now, err := st.SetManagedFields(ctx, o, m.ResourceVersion, fields)
		if err == nil {
			return now, nil
		}
		if !kerrors.IsConflict(err) || try == migrations {
			return nil, errors.Wrapf(ssa.Explain(err), "%s: cannot take over its fields", o.Ref)
		}
		if m, err = st.Metadata(ctx, o.GVK(), o.Ref); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// foreign says whether an object is being adopted. A custom resource is not: its fields are its users', who may have set
// them with any tool.
func (st *step) foreign(o *object.Desired, m *metav1.PartialObjectMetadata) bool {
	return m != nil && m.DeletionTimestamp == nil && o.Stage != object.StageResource && m.Labels[object.LabelPartOf] != st.id &&
		st.adoptsFrom(o.Part, m.Labels[object.LabelPartOf])
}

// pruneFormer deletes what the release of somebody else had and its first revision of ours no longer has, as helm upgrade
// does. The record of before tells; only what is still marked as part of that very release goes. It is done before our
// record is written, so that it is done again where it was cut off.
func (st *step) pruneFormer(ctx context.Context, pl *planned, before *render.RecordInfo) error {
	return st.formerMembers(ctx, pl, before, func(u *unstructured.Unstructured, m *metav1.PartialObjectMetadata) error {
		if _, err := st.Delete(ctx, u.GroupVersionKind(), object.RefOf(u), string(m.UID)); err != nil && !kerrors.IsConflict(err) {
			return err
		}
		st.result.Pruned = append(st.result.Pruned, object.RefOf(u))
		return nil
	})
}

// formerMembers of a release of somebody else that its first revision of ours no longer has, the last ones first. Do is
// called with what the record says of each, and its metadata in the cluster.
func (st *step) formerMembers(ctx context.Context, pl *planned, before *render.RecordInfo,
	do func(u *unstructured.Unstructured, m *metav1.PartialObjectMetadata) error,
) error {
	objects, err := st.formerObjects(pl, before)
	if err != nil {
		return err
	}
	has := make(map[cluster.ObjectRef]bool, len(pl.objects))
	for i := range pl.objects {
		has[pl.objects[i].Ref] = true
	}
	for _, u := range slices.Backward(objects) {
		_, err := st.place(ctx, pl.in, u)
		k := object.RefOf(u)
		if ssa.IsNoKind(err) || has[k] || st.inv.Find(k) != nil {
			continue
		}
		if err != nil {
			return err
		}
		m, err := st.Metadata(ctx, u.GroupVersionKind(), k)
		if err != nil {
			return err
		}
		if m == nil || !pl.in.home.MayPrune(m) {
			continue
		}
		if err := do(u, m); err != nil {
			return err
		}
	}
	return nil
}

// formerObjects of a release of somebody else that is taken over, but for those that are to be kept.
func (st *step) formerObjects(pl *planned, before *render.RecordInfo) ([]*unstructured.Unstructured, error) {
	if before == nil || before.Labels[labelReleaseOf] != "" || !st.adopts(pl.name) {
		return nil, nil
	}
	objects, err := render.ChartObjects([]byte(before.Manifest))
	if err != nil {
		return nil, errors.Wrapf(err, "record of release %s revision %d", pl.in.home.Name, pl.before)
	}
	return slices.DeleteFunc(objects, func(u *unstructured.Unstructured) bool { return object.Keeps(u.GetAnnotations()) }), nil
}
