// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ownership"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ssa"
)

// attempts is the number of attempts to write the managedFields of an object that other clients change at the same time.
const attempts = 3

// A writer implements the verbs with requests that write.
type writer struct {
	target Target
	// refusals explains why the API server refuses objects.
	refusals refusals
}

func (w *writer) create(ctx context.Context, in *Subject) (Outcome, error) {
	now, _, err := w.target.Client.Apply(ctx, in.Object, ssa.Create)
	if err != nil {
		return Outcome{}, errors.Wrap(ssa.Explain(err), in.Object.Ref.String())
	}
	return Outcome{Kind: Created, State: now}, nil
}

// applyUnread applies without force, so that the API server returns a conflict if other managers own fields.
func (w *writer) applyUnread(ctx context.Context, in *Subject) (Outcome, bool, error) {
	now, err := w.applyClearing(ctx, in.Object, &in.Entry, in.State.UID, ssa.NoForce)
	if ssa.IsOwnershipConflict(err) || isReplaced(err) {
		return Outcome{}, false, nil
	}
	if err != nil {
		out, err := w.explain(ctx, in, nil, err)
		out.Owned = now.owned
		return out, true, err
	}
	return Outcome{Kind: Updated, State: now.state}, true, nil
}

func (w *writer) read(ctx context.Context, o *object.Desired) (*Live, error) {
	m, err := w.target.Client.Metadata(ctx, o.GVK(), o.Ref)
	if err != nil || m == nil {
		return nil, err
	}
	return &Live{PartialObjectMetadata: m}, nil
}

// adopt transfers the fields of an object from the managers that deployed it to the engine. It does so once, before the first
// apply: with server-side apply alone, each field would have two owners, and would not be removed until both of them give it up.
// Only managedFields change, so there is no rollout.
func (w *writer) adopt(ctx context.Context, o *object.Desired, l *Live) (*Live, error) {
	m := l.PartialObjectMetadata
	for try := 1; w.mustAdopt(o, m); try++ {
		fields, err := ownership.Adopt(w.target.Client.FieldManager, m.ManagedFields)
		if err != nil {
			return nil, errors.Wrapf(err, "%s: cannot take ownership of the fields", o.Ref)
		}
		if fields == nil {
			break
		}
		now, err := w.target.Client.SetManagedFields(ctx, o, m.ResourceVersion, fields)
		if err == nil {
			return &Live{PartialObjectMetadata: now}, nil
		}
		if !kerrors.IsConflict(err) || try == attempts {
			return nil, errors.Wrapf(ssa.Explain(err), "%s: cannot take ownership of the fields", o.Ref)
		}
		if m, err = w.target.Client.Metadata(ctx, o.GVK(), o.Ref); err != nil {
			return nil, err
		}
	}
	if m == nil {
		return nil, nil //nolint:nilnil // It was deleted in the meantime.
	}
	return &Live{PartialObjectMetadata: m}, nil
}

// mustAdopt reports whether an object still has to be adopted. A custom resource is never adopted, because its fields belong to
// its users, who may have set them with any tool.
func (w *writer) mustAdopt(o *object.Desired, m *metav1.PartialObjectMetadata) bool {
	return m != nil && m.DeletionTimestamp == nil && o.Stage != object.StageResource && m.Labels[object.LabelPartOf] != w.target.ID &&
		o.Adoption.From(m.Labels[object.LabelPartOf])
}

func (w *writer) update(ctx context.Context, in *Subject, o *object.Desired, l *Live, ceded []ownership.Ceded) (Outcome, error) {
	now, err := w.applyClearing(ctx, o, &in.Entry, string(l.UID), ssa.Force)
	if isReplaced(err) {
		if m, failed := w.target.Client.Metadata(ctx, o.GVK(), o.Ref); failed == nil && (m == nil || m.UID != l.UID) {
			// The object was deleted after it was read. Only the next call knows whether it must exist.
			return deleting(nil), nil
		}
	}
	if err != nil {
		out, err := w.explain(ctx, in, l.PartialObjectMetadata, err)
		out.Owned = now.owned
		return out, err
	}
	out := updated(w.target.Client.FieldManager, l.PartialObjectMetadata, now.fields, ceded)
	out.State = now.state
	return out, nil
}

// isReplaced reports whether an object was not applied because it was deleted or replaced. Conflicts of other requests do not
// count.
func isReplaced(err error) bool {
	named := (*namedError)(nil)
	return !errors.As(err, &named) && ssa.IsReplaced(err)
}

// explain translates a refusal of the API server into an outcome or an error for an object.
func (w *writer) explain(ctx context.Context, in *Subject, before *metav1.PartialObjectMetadata, err error) (Outcome, error) {
	if named := (*namedError)(nil); errors.As(err, &named) {
		return Outcome{}, named.error
	}
	if out, known, err := w.refusals.outcome(ctx, in, before, err); known {
		return out, err
	}
	return Outcome{}, errors.Wrap(ssa.Explain(err), in.Object.Ref.String())
}
