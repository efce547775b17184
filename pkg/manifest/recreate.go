// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/fieldset"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/fixed"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/health"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ssa"
)

// mayRecreate says whether an object is deleted and created anew where it cannot be changed: who wants the set asks for
// it, or whoever made the object does.
func (w *work) mayRecreate(o *object.Desired) bool {
	return o.Replaceable() && (w.s.Recreate || o.Recreate || o.IsAnnotated(object.AnnotationRecreate))
}

// A recreation is an object that is to be deleted and created anew.
type recreation struct {
	o  *object.Desired
	en *inventory.Entry
}

// refused says what becomes of an object that the API server did not let change: it is created anew once all others of
// its stage are applied, or the error says which fields are to blame and what can be done.
func (st *step) refused(ctx context.Context, o *object.Desired, en *inventory.Entry, before *metav1.PartialObjectMetadata, err error) error {
	fields := fixed.Fields(err)
	if len(fields) == 0 {
		return errors.Wrap(ssa.Explain(err), o.Ref.String())
	}
	sum, _ := st.see(o.Ref)
	ours := sum.Set == st.id || (before != nil && before.Labels[object.LabelPartOf] == st.id)
	if st.mayRecreate(o) && ours {
		st.mu.Lock()
		defer st.mu.Unlock()
		st.recreations = append(st.recreations, recreation{o: o, en: en})
		return nil
	}
	return st.unchangeable(ctx, o, fields)
}

// unchangeable says in an error which fields of an object cannot be changed, why, and what can be done.
func (w *work) unchangeable(ctx context.Context, o *object.Desired, fields []fixed.Field) error {
	what := errors.Errorf("%s: %s", o.Ref, w.blame(ctx, o, fields))
	if w.mayRecreate(o) {
		return errors.Errorf("%w; it is not deleted and created anew, as it does not belong to this module yet: delete it yourself", what)
	}
	if !o.Replaceable() {
		return errors.Errorf("%w; it is not deleted and created anew, as what it holds would be lost: put the field back, or delete it yourself", what)
	}
	return errors.Errorf("%w; set annotation %s: \"true\" on the Manifest, or on the object in the chart, to have it deleted and created anew",
		what, object.AnnotationRecreate)
}

// blame fields that cannot be changed, with the reasons.
func (w *work) blame(ctx context.Context, o *object.Desired, fields []fixed.Field) string {
	live, err := w.Get(ctx, o.GVK(), o.Ref)
	want := o.Content()
	var names, reasons []string
	for _, f := range fields {
		if err == nil && live != nil {
			f = w.precise(ctx, o, f, want, live)
		}
		names = append(names, f.Name)
		if !slices.Contains(reasons, f.Reason) {
			reasons = append(reasons, f.Reason)
		}
	}
	return fmt.Sprintf("%s cannot be changed (%s)", strings.Join(names, ", "), strings.Join(reasons, "; "))
}

// precise names the fields that differ, where the API server names no more than the spec. It is asked what the object would
// be if it was created, because it replaces values with defaults; where it does not say, values are compared as they are.
func (w *work) precise(ctx context.Context, o *object.Desired, f fixed.Field, want map[string]any, live *unstructured.Unstructured) fixed.Field {
	if f.Name != "spec" {
		return f
	}
	created, err := w.DryRunCreate(ctx, o)
	if err != nil {
		return f.Precise(want, live.Object)
	}
	owned := fieldset.Of(fieldset.AppliedBy(object.FieldManager, live.GetManagedFields()))
	return f.Compared(want, created.Object, live.Object, func(field string) bool {
		return owned != nil && fieldset.Touches(owned, fieldpath.MakePathOrDie(f.Name, field))
	})
}

// comesBack says what an object waits for that is on its way out, and is created anew once it is gone. One that the
// inventory knows was deleted by somebody else.
func comesBack(en *inventory.Entry, sum cluster.ObjectState) string {
	text := cmp.Or(sum.Message, "is being deleted")
	if en.UID != "" {
		return text
	}
	return "is being recreated: " + text
}

// recreateAll objects of a part that are to be. First the inventory forgets which objects they were: if the process dies
// between the deletion and the creation, or right after it, they are looked for and created like new ones.
func (st *step) recreateAll(ctx context.Context, partName string) {
	todo := st.recreations
	st.recreations = nil
	if len(todo) == 0 {
		return
	}
	for _, r := range todo {
		r.en.UID, r.en.Intent, r.en.Owned = "", "", ""
	}
	if err := st.save(ctx, st.inv, false); err != nil {
		st.fail(partName, err)
		return
	}
	for _, r := range todo {
		if err := st.recreate(ctx, r.o, r.en); err != nil {
			st.fail(partName, errors.Wrap(err, r.o.Ref.String()))
		}
	}
}

// recreate one object: delete the one that is ours, and no other, and create it anew, now or once it is gone.
func (st *step) recreate(ctx context.Context, o *object.Desired, en *inventory.Entry) error {
	m, err := st.Metadata(ctx, o.GVK(), o.Ref)
	if err != nil {
		return err
	}
	if m != nil && m.Labels[object.LabelPartOf] != st.id {
		return errors.New("was taken by somebody else while it was to be created anew")
	}
	if m != nil && m.DeletionTimestamp == nil {
		left, err := st.Delete(ctx, o.GVK(), o.Ref, string(m.UID))
		if kerrors.IsConflict(err) {
			return errors.New("was replaced by another one while it was to be created anew")
		}
		if err != nil {
			return err
		}
		st.result.Recreated = append(st.result.Recreated, o.Ref)
		st.c.Cache().Forget(o.Ref)
		if m = left; left != nil {
			st.c.Cache().Put(o.Ref, health.MetadataStateOf(left))
		}
	}
	if m != nil {
		st.leave(o.Ref, m)
		return nil
	}
	now, _, err := st.Client.Apply(ctx, o, true)
	if kerrors.IsConflict(err) {
		// Somebody was faster, or it is not gone yet. The next step sees which.
		m, err := st.Metadata(ctx, o.GVK(), o.Ref)
		st.leave(o.Ref, m)
		return err
	}
	if err != nil {
		return ssa.Explain(err)
	}
	en.UID, en.Intent, en.Owned, en.Yields = now.UID, o.Hash, now.Owned, nil
	st.applied(o, now, false)
	return nil
}
