// SPDX-License-Identifier: Apache-2.0

package teardown

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

// A Mapper returns the mapping of a kind.
type Mapper func(gvk schema.GroupVersionKind) (cluster.Mapping, error)

// Preview returns the objects that pruning the entries of an ApplySet would delete, in the order of their deletion. It makes the
// same decisions as Run, from the states that are known without a request. Parts lists the parts of the bundle in the order in
// which they are applied.
func Preview(
	entries []*inventory.Entry, states map[cluster.ObjectRef]cluster.ObjectState, set string, parts []object.PartID, mapping Mapper,
) []cluster.ObjectRef {
	decide := func(e *inventory.Entry, pass Pass) Decision {
		f := Facts{Pass: pass}
		if s, ok := states[e.Ref()]; ok {
			f.State = &s
		}
		return Decide(e, f, set)
	}
	stays := filter(entries, func(e *inventory.Entry) bool { return decide(e, Orphaning) == Orphan })
	stays = append(stays, Shelters(entries, stays, needsOf(stays, mapping))...)
	leaving := filter(entries, func(e *inventory.Entry) bool {
		return decide(e, Deleting).IsMember() && !slices.Contains(stays, e)
	})
	var out []cluster.ObjectRef
	for _, g := range Plan(Prune, leaving, findOwnKinds(leaving, mapping), parts) {
		for _, e := range g.Entries {
			if decide(e, Deleting) == Delete {
				out = append(out, e.Ref())
			}
		}
	}
	return out
}

// findOwnKinds returns the kinds of the entries whose CRDs are also among the entries.
func findOwnKinds(entries []*inventory.Entry, mapping Mapper) map[schema.GroupKind]schema.GroupVersionKind {
	crds := map[cluster.ObjectRef]bool{}
	for _, e := range entries {
		if e.Stage == object.StageCRDs {
			crds[e.Ref()] = true
		}
	}
	out := map[schema.GroupKind]schema.GroupVersionKind{}
	for _, e := range entries {
		if len(crds) == 0 || e.Stage == object.StageCRDs {
			continue
		}
		if m, err := mapping(e.GVK()); err == nil && crds[crdOf(e, m)] {
			out[e.Ref().GroupKind()] = e.GVK()
		}
	}
	return out
}
