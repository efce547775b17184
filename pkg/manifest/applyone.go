// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/health"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ssa"
)

// applyOne object, and remember what became of it.
func (st *step) applyOne(ctx context.Context, o *object.Desired, en *inventory.Entry) error {
	_, exists := st.see(o.Ref)
	if o.Stage == object.StageResource && en.UID != "" && !exists {
		// Its users deleted it, and do not want it back with the next version.
		en.Intent = o.Hash
		return nil
	}
	if exists {
		before, err := st.mine(ctx, o, en)
		if err != nil {
			return err
		}
		return st.change(ctx, o, en, before)
	}
	now, _, err := st.Client.Apply(ctx, o, true)
	if kerrors.IsConflict(err) {
		return st.changeTaken(ctx, o, en, true)
	}
	if err != nil {
		return errors.Wrap(ssa.Explain(err), o.Ref.String())
	}
	en.UID, en.Intent, en.Owned, en.Yields = now.UID, o.Hash, now.Owned, nil
	st.applied(o, now, true)
	return nil
}

// mine is the metadata of an object that is known to exist, where something hangs on it: who owns it, or which of its
// fields are whose.
func (st *step) mine(ctx context.Context, o *object.Desired, en *inventory.Entry) (*metav1.PartialObjectMetadata, error) {
	sum, _ := st.see(o.Ref)
	if !st.drift[o.Ref] && sum.Set == st.id && o.Stage != object.StageResource && len(en.Yields) == 0 {
		return nil, nil //nolint:nilnil // Nothing has to be known.
	}
	return st.claimed(ctx, o, en)
}

// change an object that exists, less the fields that are left to others. Where nothing is known of it, it is applied
// politely: if others have fields of it, it is looked at whose they are.
func (st *step) change(ctx context.Context, o *object.Desired, en *inventory.Entry, before *metav1.PartialObjectMetadata) error {
	if before == nil {
		polite := *o
		polite.NoForce = true
		now, _, err := st.applyChange(ctx, &polite, en)
		switch {
		case ssa.IsOwnershipConflict(err):
			return st.changeTaken(ctx, o, en, false)
		case err != nil:
			return st.refused(ctx, o, en, nil, err)
		}
		en.UID, en.Intent, en.Owned, en.Yields = now.UID, o.Hash, now.Owned, nil
		st.applied(o, now, false)
		return nil
	}
	out, ys, err := st.withoutCeded(ctx, o, en, before.ManagedFields)
	if err != nil {
		return err
	}
	now, fields, err := st.applyChange(ctx, out, en)
	if err != nil {
		return st.refused(ctx, o, en, before, err)
	}
	st.changed(o, en, now, before, fields, ys)
	return nil
}

// changeTaken is change for an object of which others have fields, or that was to be created and is there already.
func (st *step) changeTaken(ctx context.Context, o *object.Desired, en *inventory.Entry, found bool) error {
	before, err := st.claimed(ctx, o, en)
	if err != nil {
		return err
	}
	if before == nil || before.DeletionTimestamp != nil {
		// It is on its way out, or out. The next step creates it.
		st.leave(o.Ref, before)
		return nil
	}
	if found {
		if err := st.found(ctx, o, en); err != nil {
			return err
		}
	}
	return st.change(ctx, o, en, before)
}

// claimed is the metadata of an object that exists and that may be changed; nil if it is gone meanwhile.
func (st *step) claimed(ctx context.Context, o *object.Desired, en *inventory.Entry) (*metav1.PartialObjectMetadata, error) {
	m, err := st.Metadata(ctx, o.GVK(), o.Ref)
	if err != nil {
		return nil, err
	}
	if err := st.mayChange(ctx, o, en, m); err != nil {
		return m, errors.Wrap(err, o.Ref.String())
	}
	return st.takeOver(ctx, o, m)
}

// see what is known of an object.
func (st *step) see(k cluster.ObjectRef) (cluster.ObjectState, bool) {
	st.mu.Lock()
	defer st.mu.Unlock()
	sum, ok := st.known[k]
	return sum, ok
}

// leave an object that is being deleted alone.
func (st *step) leave(k cluster.ObjectRef, m *metav1.PartialObjectMetadata) {
	st.mu.Lock()
	defer st.mu.Unlock()
	delete(st.known, k)
	if m != nil {
		st.known[k] = health.MetadataStateOf(m)
	}
}

// applied is the result of one object of which nothing was known.
func (st *step) applied(o *object.Desired, now cluster.ObjectState, created bool) {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.known[o.Ref] = now
	switch {
	case st.drift[o.Ref]:
		st.mem.contention.Restored(o.Ref, st.e.now())
		st.result.Repaired = append(st.result.Repaired, Drift{Key: o.Ref, Deleted: created})
	case created:
		st.result.Created++
	default:
		st.result.Changed++
	}
}
