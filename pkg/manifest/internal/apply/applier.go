// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"time"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/fieldset"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ownership"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ssa"
)

// An Applier applies the objects of one bundle during one call. It is safe for concurrent use.
type Applier struct {
	Target Target
	// Permissions decides which existing objects may be changed. Ceding decides which of their fields are left to other managers.
	Permissions *Permissions
	Ceding      *Ceding
	// Repairs counts the repairs of drift by object. The Applier only reads the counts; the caller updates them between calls of
	// Apply.
	Repairs map[cluster.ObjectRef]ownership.Repairs
	Now     func() time.Time
	// Assumed contains the objects that a dry run assumes to exist. It is nil for an Applier that writes.
	Assumed *Assumed

	// checkedCRDs is the value of Policy.CheckedCRDs, and claim that of Policy.Claim.
	checkedCRDs bool
	claim       func(ctx context.Context, ref cluster.ObjectRef) error
	verbs       verbs
	sharing     sharingVerbs
}

// NewWriter returns an Applier that writes.
func NewWriter(t Target, p Policy, repairs map[cluster.ObjectRef]ownership.Repairs, now func() time.Time) *Applier {
	a := newApplier(t, p, repairs, now)
	w := &writer{target: t, refusals: refusals{target: t, policy: p}}
	a.verbs, a.sharing = w, w
	return a
}

// NewDryRunner returns an Applier that changes nothing. Its outcomes describe what an Applier that writes would do. It assumes
// that objects exist once it would have created them.
func NewDryRunner(t Target, p Policy, repairs map[cluster.ObjectRef]ownership.Repairs, now func() time.Time) *Applier {
	a := newApplier(t, p, repairs, now)
	a.Assumed = &Assumed{}
	d := &dryRunner{target: t, assumed: a.Assumed, refusals: refusals{target: t, policy: p}}
	a.verbs, a.sharing = d, d
	return a
}

// newApplier returns an Applier whose verbs are not set.
func newApplier(t Target, p Policy, repairs map[cluster.ObjectRef]ownership.Repairs, now func() time.Time) *Applier {
	return &Applier{
		Target: t, Permissions: &Permissions{target: t, messages: p.Messages, examined: p.Examined}, Ceding: &Ceding{target: t, now: now, repairs: repairs},
		Repairs: repairs, Now: now, checkedCRDs: p.CheckedCRDs, claim: p.Claim,
	}
}

// verbs is the set of operations that differ between a run and a dry run.
type verbs interface {
	// create creates an object. It returns a conflict error if the object exists.
	create(ctx context.Context, in *Subject) (Outcome, error)
	// applyUnread applies an object that exists, without reading it first. It returns false if that is not possible because other
	// managers own some of its fields.
	applyUnread(ctx context.Context, in *Subject) (Outcome, bool, error)
	// read returns the state of an existing object that the other verbs need, or nil if the object does not exist.
	read(ctx context.Context, o *object.Desired) (*Live, error)
	// adopt takes ownership of the fields of an object.
	adopt(ctx context.Context, o *object.Desired, l *Live) (*Live, error)
	// update applies out, which is the desired object without ceded fields, to an existing object.
	update(ctx context.Context, in *Subject, out *object.Desired, l *Live, ceded []ownership.Ceded) (Outcome, error)
}

// Apply applies an object. It reads the object first only if it needs to know who owns the object or its fields.
func (a *Applier) Apply(ctx context.Context, in Subject) (Outcome, error) {
	switch {
	case in.Exists:
		return a.applyExisting(ctx, &in)
	case in.Entry.IsDismissed(false):
		return a.applyDismissed(ctx, &in)
	}
	return a.create(ctx, &in)
}

// applyDismissed handles a custom resource of the bundle that was applied and that the watch does not show. Either its users deleted it, so
// it stays deleted, or another process created it a moment ago, so it is applied like any object that exists. An object that users created in
// its place belongs to them.
func (a *Applier) applyDismissed(ctx context.Context, in *Subject) (Outcome, error) {
	l, err := a.verbs.read(ctx, in.Object)
	if err != nil || l == nil || !a.owns(l.PartialObjectMetadata, in.Entry.UID) {
		return Outcome{}, err
	}
	return a.applyFound(ctx, in)
}

// create creates an object that is not known to exist. If the object does exist, create applies it.
func (a *Applier) create(ctx context.Context, in *Subject) (Outcome, error) {
	if in.Entry.IsDismissed(false) {
		// Users deleted the object after the plan was made, so it stays deleted.
		return Outcome{}, nil
	}
	out, err := a.verbs.create(ctx, in)
	if kerrors.IsConflict(err) {
		return a.applyFound(ctx, in)
	}
	return out, err
}

// applyExisting applies an object that exists.
func (a *Applier) applyExisting(ctx context.Context, in *Subject) (Outcome, error) {
	if a.mustRead(in) {
		l, err := a.readOwned(ctx, in)
		if err != nil {
			return Outcome{}, err
		}
		switch {
		case l == nil:
			return a.create(ctx, in)
		case l.DeletionTimestamp != nil:
			return deleting(l), nil
		}
		return a.applyRead(ctx, in, l)
	}
	out, done, err := a.verbs.applyUnread(ctx, in)
	if done || err != nil {
		return out, err
	}
	l, err := a.readOwned(ctx, in)
	if err != nil || isDeleting(l) {
		return deleting(l), err
	}
	return a.applyRead(ctx, in, l)
}

// mustRead reports whether an existing object must be read before it is applied.
func (a *Applier) mustRead(in *Subject) bool {
	return in.Drifted || in.State.Set != a.Target.ID || in.Object.Stage == object.StageResource || len(in.Entry.Ceded) > 0
}

// applyFound applies an object that was found to exist.
func (a *Applier) applyFound(ctx context.Context, in *Subject) (Outcome, error) {
	l, err := a.readOwned(ctx, in)
	if err != nil || isDeleting(l) {
		return deleting(l), err
	}
	if in.Object.Stage == object.StageCRDs && !a.checkedCRDs && !l.Use {
		if err := a.Permissions.CheckCRD(ctx, in.Object, in.Entry); err != nil {
			return Outcome{}, errors.Wrap(err, in.Object.Ref.String())
		}
	}
	return a.applyRead(ctx, in, l)
}

// readOwned reads an existing object, and adopts it if necessary. It returns nil if the object is gone, and an error if the
// object must not be changed. A CRD of another owner may be used instead.
func (a *Applier) readOwned(ctx context.Context, in *Subject) (*Live, error) {
	l, err := a.verbs.read(ctx, in.Object)
	if err != nil || l == nil {
		return nil, err
	}
	if in.Object.Ref.GroupKind() == object.CRDKind {
		var done bool
		if l, done, err = a.readShared(ctx, in, l); done || err != nil {
			return l, errors.Wrap(err, in.Object.Ref.String())
		}
	}
	if err := a.endUse(ctx, in, l); err != nil {
		return nil, err
	}
	if err := a.Permissions.mayApply(ctx, in.Object, in.Entry, l.PartialObjectMetadata); err != nil {
		return nil, errors.Wrap(err, in.Object.Ref.String())
	}
	if a.claim != nil && a.isReleased(in, l) {
		if err := a.claim(ctx, in.Object.Ref); err != nil {
			return nil, errors.Wrap(err, in.Object.Ref.String())
		}
	}
	return a.verbs.adopt(ctx, in.Object, l)
}

// isReleased reports whether an applied object looks as if the bundle orphaned it since. Then the inventory that lists it may be outdated, or
// another process may be about to save or to delete it. A repair, which doesn't save the inventory, wouldn't notice the former and wouldn't
// prevent the latter.
func (a *Applier) isReleased(in *Subject, l *Live) bool {
	return in.Entry.UID == string(l.UID) && l.Labels[object.LabelPartOf] == "" && l.Annotations[object.AnnotationKeptBy] == a.Target.ID
}

// applyRead applies an object that has been read. It leaves out the ceded fields.
func (a *Applier) applyRead(ctx context.Context, in *Subject, l *Live) (Outcome, error) {
	if l.Use {
		return a.use(ctx, in, l)
	}
	en := &in.Entry
	if in.Restarted {
		en = nil
	}
	out, ceded, err := a.Ceding.withoutCeded(ctx, in.Object, en, l.ManagedFields)
	if err != nil {
		return Outcome{}, err
	}
	return a.verbs.update(ctx, in, out, l, ceded)
}

// TryRepair returns the outcome of repairing an existing object, according to a dry run. Unlike a dry run of Apply, it gets no
// values from the cluster: like a repair, it compares who owns the fields.
func (a *Applier) TryRepair(
	ctx context.Context, o *object.Desired, en *inventory.Entry, m *metav1.PartialObjectMetadata,
) (Outcome, error) {
	out, ceded, err := a.Ceding.withoutCeded(ctx, o, en, m.ManagedFields)
	if err != nil {
		return Outcome{}, err
	}
	fields, err := a.Target.Client.DryRunFields(ctx, out)
	if err != nil {
		return Outcome{}, err
	}
	return updated(a.Target.Client.FieldManager, m, fields, ceded), nil
}

// updated returns the outcome for an object that was read and applied. The manager is the field manager of the engine, and fields
// contains the fields that it owns after the apply.
func updated(manager string, before *metav1.PartialObjectMetadata, fields *metav1.FieldsV1, ceded []ownership.Ceded) Outcome {
	return Outcome{
		Kind: Updated, Before: before, Ceded: ceded, Lost: ownership.Lost(fieldset.AppliedBy(manager, before.ManagedFields), fields),
	}
}

// owns reports whether an object belongs to this bundle: because of its label, or without a label of any bundle, because of the UID in the
// inventory, which can be empty.
func (a *Applier) owns(m *metav1.PartialObjectMetadata, uid string) bool {
	set := m.Labels[object.LabelPartOf]
	return set == a.Target.ID || set == "" && uid != "" && string(m.UID) == uid
}

// Recreate deletes an object if it belongs to this bundle, and creates it again. An object without the label of any bundle belongs to this
// one if it has the given UID, which can be empty. If the deletion takes longer, the outcome is Deleting, and a later call creates the
// object. Recreate reports whether it deleted the object, even if it returns an error. Errors contain the name of the object.
func (a *Applier) Recreate(ctx context.Context, o *object.Desired, uid string) (out Outcome, deleted bool, err error) {
	m, err := a.Target.Client.Metadata(ctx, o.GVK(), o.Ref)
	if err != nil {
		return Outcome{}, false, err
	}
	if m != nil && !a.owns(m, uid) {
		return Outcome{}, false, errors.Errorf("%s: another client created the object while it was being recreated", o.Ref)
	}
	if m != nil && m.DeletionTimestamp == nil {
		left, err := a.Target.Client.Delete(ctx, o.GVK(), o.Ref, string(m.UID))
		if kerrors.IsConflict(err) {
			return Outcome{}, false, errors.Errorf("%s: another client replaced the object while it was being recreated", o.Ref)
		}
		if err != nil {
			return Outcome{}, false, err
		}
		deleted, m = true, left
	}
	if m != nil {
		return Outcome{Kind: Deleting, Before: m}, deleted, nil
	}
	now, _, err := a.Target.Client.Apply(ctx, o, ssa.Create)
	if kerrors.IsConflict(err) {
		// Another client created the object first, or the object is not gone yet. The next call handles both.
		m, err := a.Target.Client.Metadata(ctx, o.GVK(), o.Ref)
		return Outcome{Kind: Deleting, Before: m}, deleted, err
	}
	if err != nil {
		return Outcome{}, deleted, errors.Wrap(ssa.Explain(err), o.Ref.String())
	}
	return Outcome{Kind: Updated, State: now}, deleted, nil
}
