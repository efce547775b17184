// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"time"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/advice"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ownership"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ssa"
)

// A Policy says what may be done to objects that exist.
type Policy struct {
	// Recreate allows objects to be deleted and created again where an immutable field would have to change.
	Recreate bool
	// CheckedCRDs is true if the plan has checked all CRDs that exist, including those of other owners.
	CheckedCRDs bool
	// Messages tell users what to do.
	Messages advice.Messages
}

// Target is where the objects are.
type Target struct {
	Client  *ssa.Client
	Cluster cluster.Cluster
	// ID of the ApplySet of the bundle.
	ID string
	// Namespace of the inventories.
	Namespace string
}

// An Applier applies the objects of one bundle. It is made for one call on the bundle, and is safe for concurrent use.
type Applier struct {
	Target
	Policy

	// Contention counts how often fields are repaired.
	Contention *ownership.Contention
	Now        func() time.Time
	// Assumed is what a dry run takes for existing; nil for an Applier that writes.
	Assumed *Assumed

	verbs verbs
	// owners are the names of the owners of other ApplySets by their IDs, and hpas the targets of the autoscalers of namespaces.
	owners answers[string]
	hpas   answers[targets]
}

// NewWriter returns an Applier that writes.
func NewWriter(t Target, p Policy, c *ownership.Contention, now func() time.Time) *Applier {
	a := &Applier{Target: t, Policy: p, Contention: c, Now: now}
	a.verbs = &writer{Applier: a}
	return a
}

// NewDryRunner returns an Applier that changes nothing. The outcomes say what would be done. Objects that it would create are
// assumed to exist from then on.
func NewDryRunner(t Target, p Policy, c *ownership.Contention, now func() time.Time) *Applier {
	a := &Applier{Target: t, Policy: p, Contention: c, Now: now, Assumed: &Assumed{}}
	a.verbs = &dryRunner{Applier: a}
	return a
}

// An Input is one object to apply.
type Input struct {
	Object *object.Desired
	// Entry of the object in the inventory.
	Entry inventory.Entry
	// State of the object, as far as it is known without a request. Exists is false where none is known.
	State  cluster.ObjectState
	Exists bool
	// Drifted is true where the object differs from what was applied.
	Drifted bool
	// Restarted is true where a contention for fields of the object ended because its inputs changed. What was counted of it no longer
	// counts, and its fields are applied again.
	Restarted bool
}

// A Live object is one that exists.
type Live struct {
	*metav1.PartialObjectMetadata

	// Object is the whole object in a dry run; nil otherwise.
	Object *unstructured.Unstructured
}

// A Kind says what became of an object.
type Kind int

// The kinds of outcomes.
const (
	// Unchanged means that nothing has to be done.
	Unchanged Kind = iota
	// Created and Updated mean that the object was applied.
	Created
	Updated
	// Immutable means that the object has to be deleted and created again, which Applier.Recreate does.
	Immutable
	// Deleting means that the object is being deleted, or is gone meanwhile, and can be created after that.
	Deleting
)

// An Outcome is what became of one object.
type Outcome struct {
	Kind Kind
	// State of the object after it was applied.
	State cluster.ObjectState
	// Before is its metadata before; nil where none was read.
	Before *metav1.PartialObjectMetadata
	// Lost are the fields that others had taken or removed, and Ceded those that are left to others.
	Lost  *fieldpath.Set
	Ceded []ownership.Ceded
	// Owned is the hash of the fields that the engine owns, where these became more without the object being applied; empty
	// otherwise. It counts even where there is an error.
	Owned string
	// Fields that a dry run would change, as paths, or that cannot be changed.
	Fields []string
	// Note is what a dry run has to say in addition.
	Note string
}

// verbs are what differs between a run and a dry run.
type verbs interface {
	// create an object that must not exist. The error is a conflict where it does.
	create(ctx context.Context, in *Input) (Outcome, error)
	// applyUnread applies an object that exists without having read it. It returns false where that cannot be done: other
	// managers own some of its fields.
	applyUnread(ctx context.Context, in *Input) (Outcome, bool, error)
	// read an object that exists, as far as the verbs need it; nil where there is none.
	read(ctx context.Context, o *object.Desired) (*Live, error)
	// adopt the fields of an object.
	adopt(ctx context.Context, o *object.Desired, l *Live) (*Live, error)
	// update an object that exists to what remains of the desired one without ceded fields.
	update(ctx context.Context, in *Input, out *object.Desired, l *Live, ceded []ownership.Ceded) (Outcome, error)
}

// Apply an object. It reads the object only if something depends on it: who owns it, or which of its fields are whose.
func (a *Applier) Apply(ctx context.Context, in Input) (Outcome, error) {
	if !in.Exists {
		return a.create(ctx, &in)
	}
	return a.applyExisting(ctx, &in)
}

// create an object that does not exist as far as is known, or apply the one that does.
func (a *Applier) create(ctx context.Context, in *Input) (Outcome, error) {
	if in.Entry.IsDismissed(false) {
		// It was deleted after the plan was made.
		return Outcome{}, nil
	}
	out, err := a.verbs.create(ctx, in)
	if kerrors.IsConflict(err) {
		return a.applyFound(ctx, in)
	}
	return out, err
}

// applyExisting applies an object that exists.
func (a *Applier) applyExisting(ctx context.Context, in *Input) (Outcome, error) {
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

// mustRead reports whether an object that exists has to be read before it is applied.
func (a *Applier) mustRead(in *Input) bool {
	return in.Drifted || in.State.Set != a.ID || in.Object.Stage == object.StageResource || len(in.Entry.Ceded) > 0
}

// applyFound applies an object that exists although nothing was known of it.
func (a *Applier) applyFound(ctx context.Context, in *Input) (Outcome, error) {
	l, err := a.readOwned(ctx, in)
	if err != nil || isDeleting(l) {
		return deleting(l), err
	}
	if in.Object.Stage == object.StageCRDs && !a.CheckedCRDs {
		if err := a.CheckCRD(ctx, in.Object, in.Entry); err != nil {
			return Outcome{}, errors.Wrap(err, in.Object.Ref.String())
		}
	}
	return a.applyRead(ctx, in, l)
}

// readOwned reads an object that exists, and adopts it where that is wanted; nil where it is gone. The error says why it must
// not be changed.
func (a *Applier) readOwned(ctx context.Context, in *Input) (*Live, error) {
	l, err := a.verbs.read(ctx, in.Object)
	if err != nil || l == nil {
		return nil, err
	}
	if err := a.mayApply(ctx, in.Object, in.Entry, l.PartialObjectMetadata); err != nil {
		return nil, errors.Wrap(err, in.Object.Ref.String())
	}
	return a.verbs.adopt(ctx, in.Object, l)
}

// applyRead applies an object that was read, without the fields that are ceded to others.
func (a *Applier) applyRead(ctx context.Context, in *Input, l *Live) (Outcome, error) {
	en := &in.Entry
	if in.Restarted {
		en = nil
	}
	out, ceded, err := a.WithoutCeded(ctx, in.Object, en, l.ManagedFields)
	if err != nil {
		return Outcome{}, err
	}
	return a.verbs.update(ctx, in, out, l, ceded)
}

// isDeleting reports whether an object is being deleted, or is gone.
func isDeleting(l *Live) bool { return l == nil || l.DeletionTimestamp != nil }

// deleting returns the outcome for an object that is being deleted, or is gone.
func deleting(l *Live) Outcome {
	out := Outcome{Kind: Deleting}
	if l != nil {
		out.Before = l.PartialObjectMetadata
	}
	return out
}

// Recreate deletes an object that is ours, and no other, and creates it again, now or once it is gone. It reports whether it
// deleted the object, even where there is an error. An error names the object.
func (a *Applier) Recreate(ctx context.Context, o *object.Desired) (out Outcome, deleted bool, err error) {
	m, err := a.Client.Metadata(ctx, o.GVK(), o.Ref)
	if err != nil {
		return Outcome{}, false, err
	}
	if m != nil && m.Labels[object.LabelPartOf] != a.ID {
		return Outcome{}, false, errors.Errorf("%s: was created by another client while it was being recreated", o.Ref)
	}
	if m != nil && m.DeletionTimestamp == nil {
		left, err := a.Client.Delete(ctx, o.GVK(), o.Ref, string(m.UID))
		if kerrors.IsConflict(err) {
			return Outcome{}, false, errors.Errorf("%s: was replaced by another client while it was being recreated", o.Ref)
		}
		if err != nil {
			return Outcome{}, false, err
		}
		deleted, m = true, left
	}
	if m != nil {
		return Outcome{Kind: Deleting, Before: m}, deleted, nil
	}
	now, _, err := a.Client.Apply(ctx, o, ssa.Create)
	if kerrors.IsConflict(err) {
		// Another client was faster, or the object is not gone yet. The next call sees which.
		m, err := a.Client.Metadata(ctx, o.GVK(), o.Ref)
		return Outcome{Kind: Deleting, Before: m}, deleted, err
	}
	if err != nil {
		return Outcome{}, deleted, errors.Wrap(ssa.Explain(err), o.Ref.String())
	}
	return Outcome{Kind: Updated, State: now}, deleted, nil
}
