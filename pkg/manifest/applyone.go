// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// applyOne object, and remember what became of it.
func (st *step) applyOne(ctx context.Context, o *object, en *entry) error {
	_, exists := st.see(o.key)
	if o.stage == stageResource && en.UID != "" && !exists {
		// Its users deleted it, and do not want it back with the next version.
		en.Intent = o.intent
		return nil
	}
	if exists {
		before, err := st.mine(ctx, o, en)
		if err != nil {
			return err
		}
		return st.change(ctx, o, en, before)
	}
	now, fields, err := st.apply(ctx, o, true)
	if kerrors.IsConflict(err) {
		before, err := st.claimed(ctx, o, en)
		if err != nil {
			return err
		}
		if before == nil || before.DeletionTimestamp != nil {
			// It is on its way out, or out. The next step creates it.
			st.leave(o.key, before)
			return nil
		}
		return st.change(ctx, o, en, before)
	}
	if err != nil {
		return errors.Wrap(explain(err), o.key.String())
	}
	en.UID, en.Intent, en.Owned = now.UID, o.intent, now.Owned
	st.applied(o, now, true, nil, fields)
	return nil
}

// mine is the metadata of an object that is known to exist, where something hangs on it: who owns it, or which of its
// fields are whose.
func (st *step) mine(ctx context.Context, o *object, en *entry) (*metav1.PartialObjectMetadata, error) {
	sum, _ := st.see(o.key)
	if !st.drift[o.key] && sum.Set == st.id && o.stage != stageResource {
		return nil, nil //nolint:nilnil // Nothing has to be known.
	}
	return st.claimed(ctx, o, en)
}

// change an object that exists. Of a custom resource only those fields that its users have not set.
func (st *step) change(ctx context.Context, o *object, en *entry, before *metav1.PartialObjectMetadata) error {
	out := o
	if o.stage == stageResource && before != nil {
		var err error
		if out, err = withoutForeign(o, before.ManagedFields); err != nil {
			return errors.Wrap(err, o.key.String())
		}
	}
	now, fields, err := st.apply(ctx, out, false)
	if err != nil {
		return errors.Wrap(explain(err), o.key.String())
	}
	en.UID, en.Intent, en.Owned = now.UID, o.intent, now.Owned
	st.applied(o, now, false, before, fields)
	return nil
}

// claimed is the metadata of an object that exists and that may be changed; nil if it is gone meanwhile.
func (st *step) claimed(ctx context.Context, o *object, en *entry) (*metav1.PartialObjectMetadata, error) {
	m, err := st.metadata(ctx, o.gvk(), o.key)
	if err != nil {
		return nil, err
	}
	return m, errors.Wrap(st.claim(o, en, m), o.key.String())
}

// see what is known of an object.
func (st *step) see(k Key) (Summary, bool) {
	st.mu.Lock()
	defer st.mu.Unlock()
	sum, ok := st.known[k]
	return sum, ok
}

// leave an object that is being deleted alone.
func (st *step) leave(k Key, m *metav1.PartialObjectMetadata) {
	st.mu.Lock()
	defer st.mu.Unlock()
	delete(st.known, k)
	if m != nil {
		st.known[k] = SummarizeMetadata(m)
	}
}

// applied is the result of one object.
func (st *step) applied(o *object, now Summary, created bool, before *metav1.PartialObjectMetadata, fields *metav1.FieldsV1) {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.known[o.key] = now
	switch {
	case st.drift[o.key]:
		d := Drift{Key: o.key, Deleted: created}
		if before != nil {
			d.Fields = lostFields(ownedFields(before.ManagedFields), fields)
		}
		st.result.Repaired = append(st.result.Repaired, d)
	case created:
		st.result.Created++
	default:
		st.result.Changed++
	}
}
