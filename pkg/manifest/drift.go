// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/fieldset"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

// mostFields are named of one drifted object.
const mostFields = 8

// lostFields are those that we own now, after a repair, and did not own before it: what somebody else had changed or
// removed. Only paths are looked at, so that no value can leak.
func lostFields(before, after *metav1.FieldsV1) []string {
	return fieldTexts(lostSet(before, after))
}

// lostSet are the leaves of lostFields.
func lostSet(before, after *metav1.FieldsV1) *fieldpath.Set {
	b, a := fieldset.Of(before), fieldset.Of(after)
	if a == nil {
		return &fieldpath.Set{}
	}
	if b != nil {
		a = a.Difference(b)
	}
	return a.Leaves()
}

// fieldTexts are the first of some fields.
func fieldTexts(s *fieldpath.Set) []string {
	var out []string
	for _, p := range fieldset.All(s) {
		if len(out) == mostFields {
			return append(out, "…")
		}
		out = append(out, fieldset.Text(p))
	}
	return out
}

// repairs says whether an object differs from what was applied and is to be put back.
func (st *step) repairs(k cluster.ObjectRef) bool {
	return st.drift[k] && st.s.Drift == DriftRepair && !st.mem.fights.paused(k, st.e.now())
}

// startAnew with an object whose part has other inputs than before: fights that were given up are taken up again.
func (st *step) startAnew(en *entry) {
	if !slices.ContainsFunc(en.Yields, func(y yield) bool { return y.fought() }) {
		return
	}
	st.mem.fights.forget(en.key())
	en.Yields = slices.DeleteFunc(slices.Clone(en.Yields), func(y yield) bool { return y.fought() })
	en.Intent = ""
}

// changed is the result of an object that existed, and of which it is known whose its fields were.
func (st *step) changed(o *object.Desired, en *entry, now cluster.ObjectState, before *metav1.PartialObjectMetadata, fields *metav1.FieldsV1, ys []yield) {
	replaced := en.UID != "" && en.UID != string(before.UID)
	lost := lostSet(fieldset.AppliedBy(object.FieldManager, before.ManagedFields), fields)
	fresh := freshYields(o.Ref, en.Yields, ys)
	en.UID, en.Intent, en.Owned, en.Yields = now.UID, o.Hash, now.Owned, ys
	st.mu.Lock()
	defer st.mu.Unlock()
	st.known[o.Ref] = now
	st.result.Yielded = append(st.result.Yielded, fresh...)
	switch {
	case !st.drift[o.Ref]:
		st.result.Changed++
	case replaced:
		st.mem.fights.putBack(o.Ref, st.e.now())
		st.result.Repaired = append(st.result.Repaired, Drift{Key: o.Ref, Replaced: true})
	case !lost.Empty() || len(fresh) == 0:
		st.result.Repaired = append(st.result.Repaired, Drift{Key: o.Ref, Fields: fieldTexts(lost)})
		st.mem.fights.repaired(o.Ref, before.ManagedFields, lost, st.e.now())
	}
}

// freshYields are those that were not there before.
func freshYields(k cluster.ObjectRef, before, now []yield) []Yield {
	var out []Yield
	for i := range now {
		y := &now[i]
		if !slices.ContainsFunc(before, func(b yield) bool { return b.Path == y.Path && b.fought() == y.fought() }) {
			out = append(out, Yield{Key: k, Field: y.text(), Manager: y.Manager, Fought: y.fought()})
		}
	}
	return out
}
