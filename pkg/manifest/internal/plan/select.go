// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"
	"time"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/bundle"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/compose"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/observe"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ownership"
)

// An Input holds everything that the selection of a plan depends on.
type Input struct {
	// Set is the ID of the ApplySet.
	Set   string
	Parts []bundle.Part
	// Inventory is the inventory in the cluster, or nil. Cluster is the UID of the cluster, for a new inventory.
	Inventory *inventory.Inventory
	Cluster   string
	// Objects holds the states of the existing objects of the inventory. Denied holds the errors for the objects that the
	// credentials may not read.
	Objects map[cluster.ObjectRef]cluster.ObjectState
	Denied  map[cluster.ObjectRef]error
	// Drift is the drift policy of the bundle.
	Drift bundle.DriftPolicy
	// Retry is the retry token of the call.
	Retry string
	// Minor is the minor version of the cluster, or empty if it is not known without a request.
	Minor string
	Now   time.Time
}

// A Selection describes which parts of a bundle require processing.
type Selection struct {
	// Input is the input of the selection. Its inventory is never nil.
	Input

	// Due lists the parts to compose, in the order of the bundle.
	Due []Due
	// HookFailures holds the reasons for the parts that are not processed because a hook failed.
	HookFailures map[object.PartID]string
	// Drifted contains the objects that differ from their applied state. Repairs contains the drifted objects to repair now.
	Drifted, Repairs map[cluster.ObjectRef]bool
}

// A Due is a part that must be composed. Record is its record in the inventory.
type Due struct {
	Part   *bundle.Part
	Record inventory.Part
}

// Select selects the parts to process: parts whose inputs differ from the applied ones, possibly because the version of the
// cluster has changed, and parts with an object to repair.
func Select(in Input) *Selection {
	if in.Inventory == nil {
		in.Inventory, in.Objects = &inventory.Inventory{Parts: map[object.PartID]inventory.Part{}, Cluster: in.Cluster}, map[cluster.ObjectRef]cluster.ObjectState{}
	}
	s := &Selection{Input: in, HookFailures: map[object.PartID]string{}, Drifted: FindDrifted(in.Inventory, in.Objects, in.Denied, in.Set, in.Now)}
	s.Repairs = findRepairs(s.Drifted, &in)
	for i := range in.Parts {
		part := &in.Parts[i]
		rec, unfinished := in.Inventory.Parts[part.Name], s.isUnfinished(part.Name)
		if rec.Digest == part.Digest && !unfinished && !compose.Outdates(in.Minor, &rec) {
			continue
		}
		if failure, ok := rec.HookFailure(part.Inputs(), in.Retry); ok && !failure.NeedsStep(unfinished) {
			s.HookFailures[part.Name] = failure.Reason
			continue
		}
		s.Due = append(s.Due, Due{Part: part, Record: rec})
	}
	return s
}

// FindDrifted returns the objects of an inventory that differ from their applied state or have ceded fields whose retry is due.
// It omits objects that belong to a different bundle than the one with the ID set: otherwise, two bundles would take them from
// each other forever.
// CRDs of other owners are included if the engine must check whether the bundle can use them.
func FindDrifted(
	inv *inventory.Inventory, objects map[cluster.ObjectRef]cluster.ObjectState, denied map[cluster.ObjectRef]error, set string, now time.Time,
) map[cluster.ObjectRef]bool {
	out := map[cluster.ObjectRef]bool{}
	for i := range inv.Objects {
		en := &inv.Objects[i]
		if en.UID == "" || en.Pruned || denied[en.Ref()] != nil {
			continue
		}
		s, exists := objects[en.Ref()]
		if observe.IsTakenOver(s, exists, set) && !observe.IsShared(en, s, exists, set) {
			continue
		}
		if _, drifted := observe.FindDrift(en, s, exists, set); drifted || ownership.AnyDue(en.Ceded, now) {
			out[en.Ref()] = true
		}
	}
	return out
}

// findRepairs returns the drifted objects to repair now, and CRDs of other owners to check. It omits objects that were restored so often
// that they must wait.
func findRepairs(drifted map[cluster.ObjectRef]bool, in *Input) map[cluster.ObjectRef]bool {
	out := map[cluster.ObjectRef]bool{}
	for i := range in.Inventory.Objects {
		en := &in.Inventory.Objects[i]
		s, exists := in.Objects[en.Ref()]
		repairs := in.Drift == bundle.DriftRepair || observe.IsShared(en, s, exists, in.Set)
		if repairs && drifted[en.Ref()] && !en.Restores.Pause(in.Now) {
			out[en.Ref()] = true
		}
	}
	return out
}

// isUnfinished reports whether a part has an object to repair or an object that was never applied. It ignores pruned objects,
// because they do not require a plan.
func (s *Selection) isUnfinished(part object.PartID) bool {
	return slices.ContainsFunc(s.Inventory.Objects, func(en inventory.Entry) bool {
		return en.Part == part && !en.Pruned && (s.Repairs[en.Ref()] || en.UID == "")
	})
}
