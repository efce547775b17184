// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

// settle which part each object belongs to. An object of two parts is an error of the later one, except for definitions,
// which often come with several charts: as in Helm, the first one counts.
func (st *step) settle() {
	busy := make(map[string]bool, len(st.plans))
	for _, pl := range st.plans {
		busy[pl.name] = true
	}
	owner := map[cluster.ObjectRef]string{}
	for i := range st.inv.Objects {
		// A part that is planned may have given an object away, and one that is no longer wanted has.
		if en := &st.inv.Objects[i]; !en.Pruned && !busy[en.Part] && st.wants(en.Part) {
			owner[en.Ref()] = en.Part
		}
	}
	st.plans = slices.DeleteFunc(st.plans, func(pl *planned) bool {
		if err := pl.settle(owner); err != nil {
			st.fail(pl.name, err)
			st.unplanned = true
			return true
		}
		return false
	})
}

// settle one part.
func (pl *planned) settle(owner map[cluster.ObjectRef]string) error {
	for i := range pl.objects {
		o := &pl.objects[i]
		if other := owner[o.Ref]; other != "" && other != pl.name && o.Stage != object.StageCRDs {
			return errors.Errorf("%s is part of %s too", o.Ref, title(other))
		}
	}
	var shared []string
	pl.objects = slices.DeleteFunc(pl.objects, func(o object.Desired) bool {
		if other := owner[o.Ref]; other != "" && other != pl.name {
			shared = append(shared, o.Ref.Name)
			return true
		}
		owner[o.Ref] = pl.name
		return false
	})
	slices.Sort(shared)
	pl.rec.Shared = shared
	return nil
}

// handOver a definition that its part no longer has to another part that has it too. That part is applied anew. It says
// whether there is one.
func (st *step) handOver(en *inventory.Entry) bool {
	if en.Stage != object.StageCRDs {
		return false
	}
	for i := range st.parts {
		name := st.parts[i].name
		rec := st.inv.Parts[name]
		if name == en.Part || !slices.Contains(rec.Shared, en.Name) {
			continue
		}
		rec.Digest = ""
		rec.Shared = slices.DeleteFunc(slices.Clone(rec.Shared), func(s string) bool { return s == en.Name })
		st.inv.Parts[name] = rec
		en.Part, en.Pruned = name, false
		return true
	}
	return false
}
