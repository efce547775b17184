// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/fieldset"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ownership"
)

// repairs says whether an object differs from what was applied and is to be put back.
func (st *step) repairs(k cluster.ObjectRef) bool {
	return st.drift[k] && st.s.Drift == DriftRepair && !st.mem.contention.Paused(k, st.e.now())
}

// startAnew with an object whose part has other inputs than before: fights that were given up are taken up again.
func (st *step) startAnew(en *inventory.Entry) {
	if !slices.ContainsFunc(en.Yields, func(y ownership.Ceded) bool { return y.Contended() }) {
		return
	}
	st.mem.contention.Forget(en.Ref())
	en.Yields = slices.DeleteFunc(slices.Clone(en.Yields), func(y ownership.Ceded) bool { return y.Contended() })
	en.Intent = ""
}

// changed is the result of an object that existed, and of which it is known whose its fields were.
func (st *step) changed(
	o *object.Desired, en *inventory.Entry, now cluster.ObjectState, before *metav1.PartialObjectMetadata, fields *metav1.FieldsV1,
	ys []ownership.Ceded,
) {
	replaced := en.UID != "" && en.UID != string(before.UID)
	lost := ownership.Lost(fieldset.AppliedBy(object.FieldManager, before.ManagedFields), fields)
	fresh := newlyCeded(o.Ref, en.Yields, ys)
	en.UID, en.Intent, en.Owned, en.Yields = now.UID, o.Hash, now.Owned, ys
	st.mu.Lock()
	defer st.mu.Unlock()
	st.known[o.Ref] = now
	st.result.Yielded = append(st.result.Yielded, fresh...)
	switch {
	case !st.drift[o.Ref]:
		st.result.Changed++
	case replaced:
		st.mem.contention.Restored(o.Ref, st.e.now())
		st.result.Repaired = append(st.result.Repaired, Drift{Key: o.Ref, Replaced: true})
	case !lost.Empty() || len(fresh) == 0:
		st.result.Repaired = append(st.result.Repaired, Drift{Key: o.Ref, Fields: ownership.Names(lost)})
		st.mem.contention.Repaired(o.Ref, before.ManagedFields, lost, st.e.now())
	}
}

// newlyCeded are those that were not there before.
func newlyCeded(k cluster.ObjectRef, before, now []ownership.Ceded) []Yield {
	var out []Yield
	for i := range now {
		y := &now[i]
		if !slices.ContainsFunc(before, func(b ownership.Ceded) bool { return b.Path == y.Path && b.Contended() == y.Contended() }) {
			out = append(out, Yield{Key: k, Field: y.Field(), Manager: y.Manager, Fought: y.Contended()})
		}
	}
	return out
}
