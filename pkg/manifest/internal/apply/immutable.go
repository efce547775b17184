// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/fieldset"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/immutable"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ssa"
)

// refusals explains why the API server refuses to change objects.
type refusals struct {
	target Target
	policy Policy
}

// mayRecreate reports whether an object may be recreated if an immutable field has to change: its kind supports it, and the
// bundle, the config of its install, or an annotation of the object allows it.
func (r refusals) mayRecreate(o *object.Desired) bool {
	return o.Replaceable() && (r.policy.Recreate || o.Recreate || o.IsAnnotated(object.AnnotationRecreate))
}

// outcome returns the outcome for an object that the API server refused to change. Either the outcome is Immutable, or the error
// describes which fields are immutable and what to do. It returns false if no field is immutable.
func (r refusals) outcome(ctx context.Context, in *Subject, before *metav1.PartialObjectMetadata, err error) (Outcome, bool, error) {
	fields := immutable.Fields(err)
	if len(fields) == 0 {
		return Outcome{}, false, nil
	}
	ours := in.State.Set == r.target.ID || (before != nil && before.Labels[object.LabelPartOf] == r.target.ID)
	if ours && r.mayRecreate(in.Object) {
		return Outcome{Kind: Immutable, Fields: fieldNames(fields)}, true, nil
	}
	return Outcome{}, true, &ssa.RefusedError{Err: r.unchangeable(ctx, in.Object, fields)}
}

// fieldNames returns the names of immutable fields as the API server spells them.
func fieldNames(fields []immutable.Field) []string {
	out := make([]string, 0, len(fields))
	for _, f := range fields {
		out = append(out, f.Name)
	}
	return out
}

// unchangeable returns an error that describes which fields of an object cannot be changed, why, and what to do.
func (r refusals) unchangeable(ctx context.Context, o *object.Desired, fields []immutable.Field) error {
	what := errors.Errorf("%s: %s", o.Ref, r.blame(ctx, o, fields))
	if r.mayRecreate(o) {
		return errors.Errorf("%w; the object is not recreated automatically, because it does not belong to this module yet: delete it manually", what)
	}
	if !o.Replaceable() {
		return errors.Errorf("%w; the object is not recreated automatically, because its content would be lost: restore "+
			"the field, or delete the object manually", what)
	}
	return errors.Errorf("%w; to recreate the object, %s", what, r.policy.Messages.Recreate)
}

// blame describes which fields cannot be changed, and why.
func (r refusals) blame(ctx context.Context, o *object.Desired, fields []immutable.Field) string {
	live, err := r.target.Client.Get(ctx, o.GVK(), o.Ref)
	want := o.Content()
	var names, reasons []string
	for _, f := range fields {
		if err == nil && live != nil {
			names = append(names, r.precise(ctx, o, f, want, live)...)
		} else {
			names = append(names, f.Name)
		}
		if !slices.Contains(reasons, f.Reason) {
			reasons = append(reasons, f.Reason)
		}
	}
	return fmt.Sprintf("%s cannot be changed (%s)", strings.Join(names, ", "), strings.Join(reasons, "; "))
}

// precise returns the names of the fields that differ if the API server names only the spec. It compares with the object that the
// API server would create, because that object includes defaults; if a dry run does not return it, precise compares the values as
// written.
func (r refusals) precise(ctx context.Context, o *object.Desired, f immutable.Field, want map[string]any, live *unstructured.Unstructured) []string {
	if f.Name != "spec" {
		return []string{f.Name}
	}
	created, err := r.target.Client.DryRunCreate(ctx, o)
	if err != nil {
		return f.Precise(want, live.Object)
	}
	owned := fieldset.Of(fieldset.AppliedBy(r.target.Client.FieldManager, live.GetManagedFields()))
	return f.Compared(want, created.Object, live.Object, func(field string) bool {
		return owned != nil && fieldset.Touches(owned, fieldpath.MakePathOrDie(f.Name, field))
	})
}
