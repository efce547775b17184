// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/crdcheck"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/advice"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ownership"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/release"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ssa"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/text"
)

// Permissions decides which existing objects may be changed. It is safe for concurrent use.
type Permissions struct {
	target   Target
	messages advice.Messages
	examined *Examined
	// owners caches the names of the owners of other ApplySets by ID.
	owners answers[string]
}

// mayApply returns an error that explains why an existing object must not be changed, or nil if it may be changed.
func (p *Permissions) mayApply(ctx context.Context, o *object.Desired, en inventory.Entry, m *metav1.PartialObjectMetadata) error {
	refusal := p.refusal(ctx, o, en, m)
	if refusal == nil {
		return nil
	}
	orphaned, err := p.isOrphan(ctx, o, m)
	if err != nil {
		return err
	}
	if orphaned {
		return nil
	}
	return &ssa.RefusedError{Err: refusal}
}

// refusal returns the reason why an existing object must not be changed, or nil if it may be changed.
func (p *Permissions) refusal(ctx context.Context, o *object.Desired, en inventory.Entry, m *metav1.PartialObjectMetadata) error {
	owner := m.Labels[object.LabelPartOf]
	switch ownership.Relate(m, p.target.ID, en.AppliedUID(), o.Adoption.From(owner)) {
	case ownership.Ours, ownership.Adoptable:
		return nil
	case ownership.OfAnother:
		if name := p.OwnerOf(ctx, owner); name != "" {
			return errors.Errorf("already exists and belongs to %s; remove the object there, or %s", name, p.messages.Adopt)
		}
		return errors.Errorf("already exists and belongs to another owner (label %s: %s); "+
			"remove the object there, or %s", object.LabelPartOf, owner, p.messages.Adopt)
	case ownership.Unowned:
	}
	if o.Stage == object.StageResource {
		return errors.Errorf("already exists and does not belong to this module; %s, or %s", p.messages.Adopt, p.messages.OmitResource)
	}
	return errors.Errorf("already exists and does not belong to this module; remove the object, or %s", p.messages.Adopt)
}

// isOrphan reports whether an object without an owner may be adopted although the bundle does not adopt: either this bundle
// orphaned it earlier, or Helm did when it deleted the release that the install continues.
func (p *Permissions) isOrphan(ctx context.Context, o *object.Desired, m *metav1.PartialObjectMetadata) (bool, error) {
	if m.Labels[object.LabelPartOf] != "" {
		return false, nil
	}
	if by := m.Annotations[object.AnnotationKeptBy]; by != "" {
		return by == p.target.ID, nil
	}
	want, have := o.Annotations(), m.Annotations
	name, namespace := want[object.AnnotationReleaseName], want[object.AnnotationReleaseNamespace]
	if name == "" || !object.Keeps(have) {
		return false, nil
	}
	if m.Labels[object.LabelHelmManagedBy] != "Helm" || have[object.AnnotationReleaseName] != name || have[object.AnnotationReleaseNamespace] != namespace {
		return false, nil
	}
	foreign, err := release.History{Client: p.target.Client, Set: p.target.ID}.HasForeign(ctx, inventory.Release{Namespace: namespace, Name: name})
	return err == nil && !foreign, err
}

// CheckCRD returns an error if an existing CRD cannot become the desired CRD, or must not, because objects of its kinds would
// become invalid. For a CRD of another owner, it returns an error if the bundle can neither use nor adopt it.
func (p *Permissions) CheckCRD(ctx context.Context, o *object.Desired, en inventory.Entry) error {
	live, err := p.target.Client.Get(ctx, o.GVK(), o.Ref)
	if err != nil || live == nil || live.GetDeletionTimestamp() != nil {
		return err
	}
	others, err := p.isOfOthers(ctx, o, &en, metadataOf(live))
	if err != nil {
		return err
	}
	if others {
		if how, err := p.sharingOf(ctx, o, &en, live); err != nil || how != notShared {
			// It is not applied as it is, or it accepts what it accepted before.
			return err
		}
	}
	if err := p.mayApply(ctx, o, en, metadataOf(live)); err != nil {
		// The CRD belongs to another owner. Apply reports that.
		return nil //nolint:nilerr // See above.
	}
	next := &unstructured.Unstructured{Object: o.Content()}
	if err := crdcheck.Replaceable(live, next); err != nil {
		return &ssa.RefusedError{Err: err}
	}
	// The result includes defaults and the fields of other managers.
	after, err := p.target.Client.DryRun(ctx, o, ssa.Force)
	switch {
	case err == nil:
		next = after
	case !isWithoutDryRun(err):
		return ssa.Explain(err)
	}
	return examineAll(ctx, p.target.Client, p.examined, live, next)
}

// OwnerOf returns the owner of an ApplySet, as named in the inventory of that ApplySet. It returns an empty string if the
// namespace of inventories has no inventory with that ID, or if the inventory cannot be read.
func (p *Permissions) OwnerOf(ctx context.Context, id string) string {
	name, _ := p.owners.of(id, func() (string, error) {
		l, err := p.target.Client.List(ctx, ssa.SecretKind, p.target.Namespace, object.LabelApplySetID+"="+id, 1)
		if err == nil && len(l.Items) > 0 {
			return text.OneLine(l.Items[0].Annotations[object.AnnotationOwner]), nil
		}
		return "", nil
	})
	return name
}
