// SPDX-License-Identifier: Apache-2.0

package teardown

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

// A Mode is the purpose of a removal.
type Mode int

// These are the modes of a removal.
const (
	// Prune removes objects that a bundle no longer contains.
	Prune Mode = iota
	// Remove removes a bundle.
	Remove
	// ForceRemove removes a bundle and all custom resources of its own kinds.
	ForceRemove
)

// A Step is the action of one group of a plan.
type Step string

// These are the steps of a plan.
const (
	// DeleteObjects deletes the objects of the group, and waits until they are gone.
	DeleteObjects Step = "delete"
	// AwaitCustomResources waits until no custom resources of the bundle's own kinds remain. In the mode ForceRemove, it deletes
	// them.
	AwaitCustomResources Step = "await remaining custom resources"
	// RunHooks runs the hooks of an event.
	RunHooks Step = "run hooks"
)

// A Group is one group of a plan. It must be completed before the next group starts.
type Group struct {
	Step Step
	// Entries lists the entries to delete.
	Entries []*inventory.Entry
	// Event is the event whose hooks run.
	Event inventory.Event
}

// String returns the group on one line.
func (g Group) String() string {
	switch g.Step {
	case DeleteObjects:
		names := make([]string, 0, len(g.Entries))
		for _, e := range g.Entries {
			names = append(names, e.Ref().String())
		}
		return string(g.Step) + " " + strings.Join(names, ", ")
	case RunHooks:
		return string(g.Step) + " " + string(g.Event)
	case AwaitCustomResources:
	}
	return string(g.Step)
}

// Plan returns the order in which objects are deleted. Custom resources of the bundle's own kinds come first, because only the
// objects that serve them can remove their finalizers. If the whole bundle is removed, this includes custom resources of other
// clients. The stages follow in reverse order, and within each stage the parts in reverse order. Parts that are not in the list
// come first, as if they had been applied last.
func Plan(mode Mode, entries []*inventory.Entry, own map[schema.GroupKind]schema.GroupVersionKind, parts []object.PartID) []Group {
	isFirst := func(e *inventory.Entry) bool {
		_, ok := own[e.Ref().GroupKind()]
		return ok || e.Stage == object.StageResource
	}
	out := appendDelete(nil, filter(entries, isFirst))
	if mode != Prune {
		out = append(out, Group{Step: AwaitCustomResources})
	}
	out = append(out, Group{Step: RunHooks, Event: inventory.PreDelete})
	for _, s := range slices.Backward(object.Stages) {
		if s == object.StageCRDs {
			// Hooks may need the CRDs and their own namespace.
			out = append(out, Group{Step: RunHooks, Event: inventory.PostDelete}, Group{Step: AwaitCustomResources})
		}
		stage := filter(entries, func(e *inventory.Entry) bool { return e.Stage == s && !isFirst(e) })
		for _, part := range slices.Backward(orderParts(parts, stage)) {
			out = appendDelete(out, filter(stage, func(e *inventory.Entry) bool { return e.Part == part }))
		}
	}
	return out
}

// appendDelete appends a group that deletes entries, unless there are none.
func appendDelete(out []Group, entries []*inventory.Entry) []Group {
	if len(entries) == 0 {
		return out
	}
	return append(out, Group{Step: DeleteObjects, Entries: entries})
}

// orderParts returns the parts in the order in which they are applied, followed by the other parts of the entries.
func orderParts(parts []object.PartID, entries []*inventory.Entry) []object.PartID {
	out := slices.Clone(parts)
	for _, e := range entries {
		if !slices.Contains(out, e.Part) {
			out = append(out, e.Part)
		}
	}
	return out
}

func filter(entries []*inventory.Entry, keep func(e *inventory.Entry) bool) []*inventory.Entry {
	var out []*inventory.Entry
	for _, e := range entries {
		if keep(e) {
			out = append(out, e)
		}
	}
	return out
}
