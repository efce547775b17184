// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"cmp"
	"context"
	"io"
	"maps"
	"reflect"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/argument"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/await"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/lookup"
	"github.com/crossplane-contrib/provider-kyma/internal/notfound"
)

// modeField is the path of the mode of a Manifest or a Kyma.
const modeField = "spec.forProvider.mode"

// A planSession keeps an object in plan mode while the command runs.
type planSession struct {
	resourceRef

	environment *command.Environment
	client      client.WithWatch
	// want is the object from the file; nil without --file.
	want *unstructured.Unstructured
	// before is the object before the command; nil if it did not exist. written is the object that the command has written; nil if
	// it has written nothing.
	before, written *unstructured.Unstructured
	// observes is true if the management policies of the object keep it in plan mode, regardless of its mode.
	observes bool
}

// readResource reads one Manifest or Kyma from a file, or from stdin if path is a dash. Errors are usage errors.
func readResource(in io.Reader, path string) (*unstructured.Unstructured, error) {
	content, err := argument.ReadObject(in, "--file", path, argument.KubernetesObject)
	if err != nil {
		return nil, err
	}
	u := &unstructured.Unstructured{Object: content}
	if k := u.GroupVersionKind(); k != v1alpha1.ManifestGroupVersionKind && k != v1alpha1.KymaGroupVersionKind {
		return nil, command.Usagef("--file: %s: unsupported kind %q of apiVersion %q: use a Manifest or Kyma of %s",
			path, u.GetKind(), u.GetAPIVersion(), v1alpha1.SchemeGroupVersion)
	}
	if u.GetName() == "" {
		return nil, command.Usagef("--file: %s: metadata.name is missing", path)
	}
	if _, ok := content["spec"].(map[string]any); !ok {
		return nil, command.Usagef("--file: %s: spec is missing", path)
	}
	return u, nil
}

// load reads the object from the control plane, and sets resourceRef, before and observes.
func (d *planSession) load(ctx context.Context, c *command.Cluster, argument string) error {
	d.client = c
	if d.want == nil {
		s, u, err := find(ctx, c, c.Namespace, argument)
		if err != nil {
			return err
		}
		d.resourceRef, d.before = *s, u
		d.observes = observes(u)
		// A composite resource owns all of spec.forProvider of a Manifest, but not the mode of a Kyma.
		if by := composer(u); by != "" && !d.isKyma() && !d.observes {
			return d.composed(by)
		}
		return nil
	}
	namespace := cmp.Or(d.want.GetNamespace(), c.Namespace)
	d.want.SetNamespace(namespace)
	d.resourceRef = resourceRef{kind: d.want.GroupVersionKind(), NamespacedName: types.NamespacedName{Namespace: namespace, Name: d.want.GetName()}}
	d.observes = observes(d.want)
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(d.kind)
	switch err := c.Get(ctx, d.NamespacedName, u); {
	case notfound.Is(err):
		return nil
	case err != nil:
		return lookup.Explain(err, "get "+d.String())
	}
	if by := composer(u); by != "" {
		return d.composed(by)
	}
	d.before = u
	return nil
}

// composed returns the error for an object that another object composes.
func (d *planSession) composed(by string) error {
	return errors.Errorf("%s is composed by %s, which would revert the change: plan the change there", d, by)
}

// composer returns the Kyma or the composite resource that writes the spec of an object, or an empty string if there is none.
func composer(u *unstructured.Unstructured) string {
	if c := metav1.GetControllerOf(u); c != nil && c.Kind == v1alpha1.KymaKind {
		return v1alpha1.KymaKind + " " + c.Name
	}
	return lookup.Composer(u)
}

// observes reports whether the management policies of an object include neither Create nor Update.
func observes(u *unstructured.Unstructured) bool {
	policies, _, err := unstructured.NestedStringSlice(u.Object, "spec", "managementPolicies")
	if err != nil || len(policies) == 0 {
		return false
	}
	for _, p := range policies {
		if p == "*" || p == "Create" || p == "Update" {
			return false
		}
	}
	return true
}

// setMode sets the mode of an object.
func setMode(u *unstructured.Unstructured, mode v1alpha1.Mode) error {
	return unstructured.SetNestedField(u.Object, string(mode), "spec", "forProvider", "mode")
}

// enterPlanMode sets the mode of the object to Plan and applies the file, in a single write.
func (d *planSession) enterPlanMode(ctx context.Context) error {
	if d.before == nil {
		u := d.want.DeepCopy()
		if err := setMode(u, v1alpha1.ModePlan); err != nil {
			return err
		}
		attempted := u.DeepCopy()
		if err := d.client.Create(ctx, u, client.FieldOwner(command.FieldManager)); err != nil {
			return lookup.Explain(unanswered(attempted, err), "create "+d.String())
		}
		d.written = u
		return nil
	}
	written, err := d.change(ctx, d.client, func(u *unstructured.Unstructured) (bool, error) {
		if u.GetDeletionTimestamp() != nil {
			return false, errors.Errorf("%s is being deleted and cannot be planned", d)
		}
		// Another client could have changed it since load.
		d.before = u.DeepCopy()
		if d.want != nil {
			references, _, err := unstructured.NestedFieldNoCopy(u.Object, "spec", "resourceRefs")
			if err != nil {
				return false, err
			}
			u.Object["spec"] = specOf(d.want, references)
			mergeMetadata(u, d.want)
		}
		if !d.observes {
			if err := setMode(u, v1alpha1.ModePlan); err != nil {
				return false, err
			}
		}
		return !reflect.DeepEqual(u.Object, d.before.Object), nil
	})
	if err == nil {
		d.written = written
	}
	return err
}

// mergeMetadata adds the labels and annotations of from to into.
func mergeMetadata(into, from *unstructured.Unstructured) {
	labels, annotations := into.GetLabels(), into.GetAnnotations()
	if labels == nil {
		labels = map[string]string{}
	}
	if annotations == nil {
		annotations = map[string]string{}
	}
	maps.Copy(labels, from.GetLabels())
	maps.Copy(annotations, from.GetAnnotations())
	into.SetLabels(labels)
	into.SetAnnotations(annotations)
}

// planned checks whether a Manifest has a plan for the spec that the command has written.
func (d *planSession) planned(m *v1alpha1.Manifest) (await.Result, error) {
	at := m.Status.AtProvider.Plan
	fresh := at != nil && at.ObservedGeneration == m.Generation
	if !d.isKyma() {
		fresh = fresh && m.Generation >= d.written.GetGeneration()
	}
	if fresh && (m.Spec.ForProvider.Mode == v1alpha1.ModePlan || d.observes) {
		return await.Result{Met: true}, nil
	}
	if v, err := checkReconciled(m); err != nil || !v.Met {
		return v, err
	}
	return await.NotYet("the current spec has not been planned yet"), nil
}

// apply sets the mode to Apply, so that the provider applies the plan. It fails if the spec has changed since the plan was made.
func (d *planSession) apply(ctx context.Context) error {
	_, err := d.change(ctx, d.client, func(u *unstructured.Unstructured) (bool, error) {
		if d.replaced(u) {
			return false, errors.Errorf("%s has changed since it was planned and stays in plan mode: plan it again", d)
		}
		return true, setMode(u, v1alpha1.ModeApply)
	})
	return err
}

// replaced reports whether another client has changed the spec since it was planned. It ignores changes to spec.resourceRefs,
// which the provider owns.
func (d *planSession) replaced(u *unstructured.Unstructured) bool {
	return u.GetUID() != d.written.GetUID() || !reflect.DeepEqual(specOf(u, nil), specOf(d.written, nil))
}

// specOf returns a copy of the spec of an object, in which references replaces spec.resourceRefs; nil removes the field. In a
// Kyma, the provider owns this field.
func specOf(u *unstructured.Unstructured, references any) map[string]any {
	spec, ok := u.DeepCopy().Object["spec"].(map[string]any)
	if !ok {
		return nil
	}
	delete(spec, "resourceRefs")
	if references != nil {
		spec["resourceRefs"] = references
	}
	return spec
}

// restore restores the object as it was before, or deletes it if it did not exist. It fails if another client has changed the
// spec in the meantime.
func (d *planSession) restore(ctx context.Context) error {
	if d.written == nil {
		return nil
	}
	if d.before == nil {
		return errors.Wrapf(notfound.Ignore(d.deleteCreated(ctx)), "cannot delete %s, which stays in plan mode", d)
	}
	_, err := d.change(ctx, d.client, func(u *unstructured.Unstructured) (bool, error) {
		if d.replaced(u) {
			return false, errors.New("another client has changed the object in the meantime")
		}
		now := u.DeepCopy()
		references, _, err := unstructured.NestedFieldNoCopy(u.Object, "spec", "resourceRefs")
		if err != nil {
			return false, err
		}
		u.Object["spec"] = specOf(d.before, references)
		u.SetLabels(restored(u.GetLabels(), d.written.GetLabels(), d.before.GetLabels()))
		u.SetAnnotations(restored(u.GetAnnotations(), d.written.GetAnnotations(), d.before.GetAnnotations()))
		return !reflect.DeepEqual(u.Object, now.Object), nil
	})
	return errors.Wrapf(notfound.Ignore(err), "cannot restore %s, which stays in plan mode (%s)", d, modeField)
}

// deleteCreated deletes an object that did not exist before. It first changes the management policies to Observe, so that nothing
// is removed from the target cluster: an earlier object with this name may have left its inventory there, and the plan is
// relative to that inventory.
func (d *planSession) deleteCreated(ctx context.Context) error {
	uid := d.written.GetUID()
	_, err := d.change(ctx, d.client, func(u *unstructured.Unstructured) (bool, error) {
		if u.GetUID() != uid || d.observes {
			return false, nil
		}
		return true, unstructured.SetNestedStringSlice(u.Object, []string{"Observe"}, "spec", "managementPolicies")
	})
	if err != nil {
		return err
	}
	return d.client.Delete(ctx, d.written, client.Preconditions{UID: &uid}, client.PropagationPolicy(metav1.DeletePropagationBackground))
}

// restored returns the current labels or annotations, with the values from before for all keys that the command has written.
func restored(now, written, before map[string]string) map[string]string {
	out := maps.Clone(now)
	for k, v := range written {
		old, had := before[k]
		switch {
		case had && old == v:
		case had:
			out[k] = old
		default:
			delete(out, k)
		}
	}
	return out
}
