// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/fieldset"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ownership"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ssa"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/unions"
)

// applyClearing applies an object only if it has the given UID. If the API server rejects it as invalid, applyClearing reads
// the object, takes ownership of leftovers of unions, and applies the object again, so that server-side apply removes the
// leftovers.
func (w *writer) applyClearing(ctx context.Context, o *object.Desired, en *inventory.Entry, uid string, how ssa.Mode) (applied, error) {
	now, fields, err := w.target.Client.ApplyTo(ctx, o, uid, how)
	if ssa.IsReplaced(err) || !kerrors.IsInvalid(err) || !unions.Known(o.Ref.GroupKind()) {
		return applied{state: now, fields: fields}, err
	}
	found, owned, failed := w.ownLeftovers(ctx, o, en)
	if failed != nil {
		return applied{owned: owned}, &namedError{failed}
	}
	if len(found) == 0 {
		return applied{state: now, fields: fields}, err
	}
	// A field that is applied as null would not be removed.
	paths := &fieldpath.Set{}
	for i := range found {
		paths.Insert(found[i].Path)
	}
	if o, err = o.Without(paths); err != nil {
		return applied{owned: owned}, err
	}
	now, fields, err = w.target.Client.ApplyTo(ctx, o, uid, how)
	return applied{state: now, fields: fields, owned: owned}, err
}

// applied is the result of applying an object.
type applied struct {
	state  cluster.ObjectState
	fields *metav1.FieldsV1
	// owned is the value of Outcome.Owned.
	owned string
}

// A namedError is an error that contains the name of its object.
type namedError struct{ error }

// Unwrap returns the wrapped error.
func (e *namedError) Unwrap() error { return e.error }

// ownLeftovers takes ownership of values that the API server filled into unions, if they conflict with the desired values. It
// returns these values, and the hash of the fields that the engine then owns, or an empty hash if the object had drifted. Only
// managedFields change, so there is no rollout. If the object is not applied after that, the next apply fixes it. Errors contain
// the name of the object.
func (w *writer) ownLeftovers(ctx context.Context, o *object.Desired, en *inventory.Entry) ([]unions.Leftover, string, error) {
	for try := 1; ; try++ {
		live, err := w.target.Client.Get(ctx, o.GVK(), o.Ref)
		if err != nil || live == nil {
			return nil, "", err
		}
		found, err := leftovers(w.target.Client.FieldManager, o, live)
		if err != nil || len(found) == 0 {
			return nil, "", errors.Wrap(err, o.Ref.String())
		}
		before := live.GetManagedFields()
		fields, err := withLeftovers(w.target.Client.FieldManager, before, found, o)
		if err != nil {
			return nil, "", errors.Wrap(err, o.Ref.String())
		}
		now, err := w.target.Client.SetManagedFields(ctx, o, live.GetResourceVersion(), fields)
		if err == nil {
			if en.Owned != fieldset.Hash(fieldset.AppliedBy(w.target.Client.FieldManager, before)) {
				return found, "", nil
			}
			return found, fieldset.Hash(fieldset.AppliedBy(w.target.Client.FieldManager, now.ManagedFields)), nil
		}
		if !kerrors.IsConflict(err) || try == attempts {
			return nil, "", errors.Wrapf(ssa.Explain(err), "%s: cannot clear %s", o.Ref, texts(found))
		}
	}
}

// leftovers returns the leftovers of unions in a live object. It returns an error if another manager owns a leftover, because the
// engine does not clear it then.
func leftovers(manager string, o *object.Desired, live *unstructured.Unstructured) ([]unions.Leftover, error) {
	ours := func(e *metav1.ManagedFieldsEntry) bool { return ownership.IsAppliedBy(manager, e) }
	found := unions.Find(o.Ref.GroupKind(), o.Content(), live.Object, live.GetManagedFields(), ours)
	for i := range found {
		if l := &found[i]; len(l.Managers) > 0 {
			return nil, &ssa.RefusedError{Err: errors.Errorf(
				"%s, which is owned by field manager %s, cannot be combined with %s; remove the field with that manager, or %s from the module",
				fieldset.Text(l.Path), strings.Join(l.Managers, ", "), l.Wanted(), fieldset.Text(l.Beside))}
		}
	}
	return found, nil
}

// withLeftovers returns managedFields in which the leftovers belong to manager, the field manager of the engine.
func withLeftovers(
	manager string, in []metav1.ManagedFieldsEntry, found []unions.Leftover, o *object.Desired,
) ([]metav1.ManagedFieldsEntry, error) {
	version := o.GVK().GroupVersion().String()
	out := slices.Clone(in)
	i := slices.IndexFunc(out, func(e metav1.ManagedFieldsEntry) bool {
		return ownership.IsAppliedBy(manager, &e) && e.APIVersion == version
	})
	if i < 0 {
		now := metav1.Now()
		i = len(out)
		out = append(out, metav1.ManagedFieldsEntry{
			Manager: manager, Operation: metav1.ManagedFieldsOperationApply, APIVersion: version, Time: &now, FieldsType: "FieldsV1",
		})
	}
	set := &fieldpath.Set{}
	if have := fieldset.Of(out[i].FieldsV1); have != nil {
		set = set.Union(have)
	}
	for n := range found {
		set.Insert(found[n].Path)
	}
	b, err := set.ToJSON()
	if err != nil {
		return nil, err
	}
	out[i].FieldsV1 = &metav1.FieldsV1{}
	out[i].FieldsV1.SetRawBytes(b)
	return out, nil
}

func texts(found []unions.Leftover) string {
	var out []string
	for i := range found {
		out = append(out, fieldset.Text(found[i].Path))
	}
	return strings.Join(out, ", ")
}

// dryRunCleared retries a dry run that was rejected as invalid, if there are leftovers of unions; otherwise it returns the
// refusal. A dry run cannot take ownership of leftovers first, so two are needed: one of the object with its live unions, and one
// of the result with the desired unions.
func (d *dryRunner) dryRunCleared(ctx context.Context, o *object.Desired, live *unstructured.Unstructured, refusal error) ([]string, error) {
	found, err := leftovers(d.target.Client.FieldManager, o, live)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, refusal
	}
	held := *o
	if held.Rest, err = object.Encode(without(unions.Keep(o.Content(), live.Object, found), "metadata")); err != nil {
		return nil, err
	}
	after, err := d.target.Client.DryRun(ctx, &held, ssa.Force)
	if err != nil {
		return nil, err
	}
	metadata := after.Object["metadata"]
	if after, err = d.wouldBeChanged(ctx, o, unions.Keep(after.Object, o.Content(), found)); err != nil {
		return nil, err
	}
	after.Object["metadata"] = metadata
	return fieldset.Differences(live.Object, after.Object), nil
}

// wouldBeChanged returns the object that would result from replacing the content of an object, according to a dry run.
func (d *dryRunner) wouldBeChanged(ctx context.Context, o *object.Desired, content map[string]any) (*unstructured.Unstructured, error) {
	m, err := d.target.Mapper.Mapping(ctx, o.GVK())
	if err != nil {
		return nil, err
	}
	var patch []map[string]any
	content = without(content, "apiVersion", "kind", "metadata", "status")
	for _, k := range slices.Sorted(maps.Keys(content)) {
		patch = append(patch, map[string]any{"op": "add", "path": "/" + k, "value": content[k]})
	}
	body, err := json.Marshal(patch)
	if err != nil {
		return nil, err
	}
	return d.target.Client.PatchDryRun(ctx, o, m, body)
}

// without returns a shallow copy of an object without the given top-level fields.
func without(object map[string]any, fields ...string) map[string]any {
	out := maps.Clone(object)
	for _, f := range fields {
		delete(out, f)
	}
	return out
}
