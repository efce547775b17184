// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"fmt"
	"maps"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/crdcheck"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/health"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ssa"
)

// A sharing is what happens to an existing CRD that does not belong to the bundle.
type sharing int

const (
	// notShared means that the CRD is adopted, if the bundle may adopt it.
	notShared sharing = iota
	// used means that the CRD stays as it is, and the bundle uses it.
	used
	// inherited means that the CRD was handed over, and the bundle becomes its owner.
	inherited
	// gone means that the CRD was deleted in the meantime.
	gone
)

// sharingVerbs is the set of operations on CRDs of other owners that differ between a run and a dry run.
type sharingVerbs interface {
	// use marks a CRD as used by the bundle. The Live must contain the whole object.
	use(ctx context.Context, o *object.Desired, l *Live) (Outcome, error)
	// unuse removes the mark from a CRD.
	unuse(ctx context.Context, o *object.Desired, l *Live) error
	// takeOver makes the bundle the owner of a CRD that was handed over. It returns nil if another client changed the CRD since.
	takeOver(ctx context.Context, o *object.Desired, l *Live) (*Live, error)
}

// isOfOthers reports whether an existing CRD does not belong to the bundle, and is not adopted by it regardless of its content.
func (p *Permissions) isOfOthers(ctx context.Context, o *object.Desired, en *inventory.Entry, m *metav1.PartialObjectMetadata) (bool, error) {
	owner := m.Labels[object.LabelPartOf]
	switch {
	case o.Ref.GroupKind() != object.CRDKind, owner == p.target.ID:
		return false, nil
	case owner != "", object.IsHandedOver(m.Labels, m.Annotations):
		return true, nil
	case o.Adoption.From(owner), en.AppliedUID() == string(m.UID):
		return false, nil
	}
	orphan, err := p.isOrphan(ctx, o, m)
	return !orphan, err
}

// sharingOf returns what happens to a CRD of others. It returns an error if the CRD can neither be used nor adopted. Of another bundle, a
// CRD is adopted only if the bundle has never used it, or if the other bundle no longer exists: two bundles would otherwise take the CRD
// from each other without end.
func (p *Permissions) sharingOf(ctx context.Context, o *object.Desired, en *inventory.Entry, live *unstructured.Unstructured) (sharing, error) {
	want, owner := &unstructured.Unstructured{Object: o.Content()}, live.GetLabels()[object.LabelPartOf]
	if object.IsHandedOver(live.GetLabels(), live.GetAnnotations()) && crdcheck.Usable(want, live) == nil && crdcheck.Replaceable(live, want) == nil {
		// Otherwise, applying it would drop versions or fields that are in use.
		return inherited, nil
	}
	difference := crdcheck.Usable(live, want)
	if difference == nil {
		return used, nil
	}
	name := ""
	if owner != "" {
		name = p.OwnerOf(ctx, owner)
	}
	mayAdopt := en.UID == "" || name == ""
	if mayAdopt && o.Adoption.From(owner) {
		return notShared, nil
	}
	text := fmt.Sprintf("cannot be used as is: %s; ", difference)
	switch {
	case name != "":
		text = fmt.Sprintf("already exists and belongs to %s, and %supgrade or remove the CRD there", name, text)
	case owner != "":
		text = fmt.Sprintf("already exists and belongs to another owner (label %s: %s), and %supgrade or remove the CRD there", object.LabelPartOf, owner, text)
	default:
		text = fmt.Sprintf("already exists and does not belong to this module, and %supgrade or remove the CRD", text)
	}
	if mayAdopt {
		text += ", or " + p.messages.Adopt
	}
	return notShared, &ssa.RefusedError{Err: errors.New(text)}
}

// readShared decides what happens to a CRD that was read. If done is true, it is used, is being deleted or is gone; otherwise, the
// bundle owns it, or must adopt it. It repeats the decision if another client changes a CRD that was handed over at the same time.
func (a *Applier) readShared(ctx context.Context, in *Subject, l *Live) (out *Live, done bool, err error) {
	o := in.Object
	for range attempts {
		if isDeleting(l) {
			return l, true, nil
		}
		how, err := a.howShared(ctx, in, l)
		switch {
		case err != nil:
			return nil, true, err
		case how == gone:
			return nil, true, nil
		case how == used:
			l.Use = true
			return l, true, nil
		case how == inherited:
			now, err := a.sharing.takeOver(ctx, o, l)
			if now != nil || err != nil {
				return now, err != nil, errors.Wrap(err, "cannot take ownership")
			}
			if l, err = a.verbs.read(ctx, o); err != nil {
				return nil, true, err
			}
		default:
			return l, false, nil
		}
	}
	return nil, true, errors.New("other clients are changing the object at the same time")
}

// endUse removes the mark of the bundle from a CRD that it used and is about to apply.
func (a *Applier) endUse(ctx context.Context, in *Subject, l *Live) error {
	if !in.Entry.IsUsed() {
		return nil
	}
	return a.sharing.unuse(ctx, in.Object, l)
}

// howShared returns what happens to a CRD that exists. If it is of others, howShared reads the whole object.
func (a *Applier) howShared(ctx context.Context, in *Subject, l *Live) (sharing, error) {
	o := in.Object
	others, err := a.Permissions.isOfOthers(ctx, o, &in.Entry, l.PartialObjectMetadata)
	if err != nil || !others {
		return notShared, err
	}
	if l.Object == nil {
		u, err := a.Target.Client.Get(ctx, o.GVK(), o.Ref)
		if err != nil {
			return notShared, err
		}
		if u == nil {
			return gone, nil
		}
		l.Object, l.PartialObjectMetadata = u, metadataOf(u)
	}
	return a.Permissions.sharingOf(ctx, o, &in.Entry, l.Object)
}

// use uses a CRD of another owner.
func (a *Applier) use(ctx context.Context, in *Subject, l *Live) (Outcome, error) {
	out, err := a.sharing.use(ctx, in.Object, l)
	if err != nil || out.Kind != Used {
		return out, err
	}
	out.Use = inventory.UseOf(health.StateOf(a.Target.Client.FieldManager, l.Object))
	if in.Entry.IsUsed() && in.Entry.Use.Owner == out.Use.Owner {
		return out, nil
	}
	if out.Use.Owner != "" {
		out.Owner = a.Permissions.OwnerOf(ctx, out.Use.Owner)
	}
	return out, nil
}

func (w *writer) use(ctx context.Context, o *object.Desired, l *Live) (Outcome, error) {
	now, err := w.target.marks().Use(ctx, o.GVK(), o.Ref, string(l.UID))
	switch {
	case ssa.IsReplaced(err):
		return deleting(nil), nil
	case err != nil:
		return Outcome{}, errors.Wrapf(ssa.Explain(err), "%s: cannot mark the object as used", o.Ref)
	case now.Status == cluster.Terminating:
		return deleting(nil), nil
	}
	return Outcome{Kind: Used, State: now, Before: l.PartialObjectMetadata}, nil
}

func (w *writer) unuse(ctx context.Context, o *object.Desired, l *Live) error {
	return w.target.marks().Unuse(ctx, o.GVK(), o.Ref, string(l.UID))
}

func (w *writer) takeOver(ctx context.Context, o *object.Desired, l *Live) (*Live, error) {
	m, taken, err := w.target.marks().TakeOver(ctx, o.GVK(), o.Ref, string(l.UID), l.Object.GetResourceVersion())
	if err != nil || !taken {
		return nil, err
	}
	return &Live{PartialObjectMetadata: m}, nil
}

func (d *dryRunner) use(_ context.Context, _ *object.Desired, l *Live) (Outcome, error) {
	return Outcome{Kind: Used, Before: l.PartialObjectMetadata}, nil
}

func (d *dryRunner) unuse(context.Context, *object.Desired, *Live) error { return nil }

func (d *dryRunner) takeOver(_ context.Context, _ *object.Desired, l *Live) (*Live, error) {
	m := l.DeepCopy()
	m.Labels = maps.Clone(m.Labels)
	if m.Labels == nil {
		m.Labels = map[string]string{}
	}
	m.Labels[object.LabelPartOf] = d.target.ID
	return &Live{PartialObjectMetadata: m, Object: l.Object}, nil
}
