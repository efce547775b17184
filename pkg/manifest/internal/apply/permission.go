// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/crdcheck"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ownership"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/release"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ssa"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/text"
)

// mayApply returns an error that explains why an existing object must not be changed; nil if it may be.
func (a *Applier) mayApply(ctx context.Context, o *object.Desired, en inventory.Entry, m *metav1.PartialObjectMetadata) error {
	refusal := a.refusal(ctx, o, en, m)
	if refusal == nil {
		return nil
	}
	orphaned, err := a.isOrphan(ctx, o, m)
	if err != nil {
		return err
	}
	if orphaned {
		return nil
	}
	return &ssa.RefusedError{Err: refusal}
}

// refusal returns why an existing object must not be changed; nil if it may be.
func (a *Applier) refusal(ctx context.Context, o *object.Desired, en inventory.Entry, m *metav1.PartialObjectMetadata) error {
	owner := m.Labels[object.LabelPartOf]
	switch ownership.Relate(m, a.ID, en.UID, o.Adoption.From(owner)) {
	case ownership.Ours, ownership.Adoptable:
		return nil
	case ownership.OfAnother:
		if name := a.nameOf(ctx, owner); name != "" {
			return errors.Errorf("exists and belongs to %s; remove it there, or %s to take it over", name, a.Messages.Adopt)
		}
		return errors.Errorf("exists and belongs to another set of objects (label %s: %s); "+
			"remove it there, or %s to take it over", object.LabelPartOf, owner, a.Messages.Adopt)
	case ownership.Unowned:
	}
	if o.Stage == object.StageResource {
		return errors.Errorf("exists and does not belong to this module; %s to take it over, or %s", a.Messages.Adopt, a.Messages.OmitResource)
	}
	return errors.Errorf("exists and does not belong to this module; remove it, or %s to take it over", a.Messages.Adopt)
}

// isOrphan reports whether an object without an owner may be adopted although the bundle does not adopt: this bundle orphaned it
// earlier, or Helm did when it deleted the release that the install continues.
func (a *Applier) isOrphan(ctx context.Context, o *object.Desired, m *metav1.PartialObjectMetadata) (bool, error) {
	if m.Labels[object.LabelPartOf] != "" {
		return false, nil
	}
	if by := m.Annotations[object.AnnotationKeptBy]; by != "" {
		return by == a.ID, nil
	}
	want, have := o.Annotations(), m.Annotations
	name, namespace := want[object.AnnotationReleaseName], want[object.AnnotationReleaseNamespace]
	if name == "" || !object.Keeps(have) {
		return false, nil
	}
	if m.Labels[object.LabelHelmManagedBy] != "Helm" || have[object.AnnotationReleaseName] != name || have[object.AnnotationReleaseNamespace] != namespace {
		return false, nil
	}
	foreign, err := release.History{Client: a.Client, Set: a.ID}.HasForeign(ctx, inventory.Release{Namespace: namespace, Name: name})
	return err == nil && !foreign, err
}

// CheckCRD returns an error if an existing CRD cannot become the desired one, or must not, because objects of its kinds would be
// invalid.
func (a *Applier) CheckCRD(ctx context.Context, o *object.Desired, en inventory.Entry) error {
	live, err := a.Client.Get(ctx, o.GVK(), o.Ref)
	if err != nil || live == nil || live.GetDeletionTimestamp() != nil {
		return err
	}
	if err := a.mayApply(ctx, o, en, metadataOf(live)); err != nil {
		// Another owner has it. Apply reports that.
		return nil //nolint:nilerr // See above.
	}
	next := &unstructured.Unstructured{Object: o.Content()}
	if err := crdcheck.Replaceable(live, next); err != nil {
		return &ssa.RefusedError{Err: err}
	}
	// The result includes defaults and the fields of other managers.
	after, err := a.Client.DryRun(ctx, o, ssa.Force)
	switch {
	case err == nil:
		next = after
	case !isWithoutDryRun(err):
		return ssa.Explain(err)
	}
	return examineAll(ctx, a.Client, live, next)
}

// nameOf returns the owner of an ApplySet, as named in its inventory. It is empty if the namespace of inventories has no
// inventory with that ID, or if the inventory cannot be read.
func (a *Applier) nameOf(ctx context.Context, id string) string {
	name, _ := a.owners.of(id, func() (string, error) {
		l, err := a.Client.List(ctx, ssa.SecretKind, a.Namespace, object.LabelApplySetID+"="+id, 1)
		if err == nil && len(l.Items) > 0 {
			return text.OneLine(l.Items[0].Annotations[object.AnnotationOwner]), nil
		}
		return "", nil
	})
	return name
}
