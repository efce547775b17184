// SPDX-License-Identifier: Apache-2.0

package hook

import (
	"slices"
	"strings"

	"github.com/crossplane-contrib/provider-kyma/internal/render/record"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
)

// An Operation is the way in which Helm creates a revision. It selects the hooks to run.
type Operation string

// The operations of Helm.
const (
	// Install creates the first deployed revision. Every attempt is an install until one is deployed.
	Install Operation = "install"
	// Upgrade follows a deployed revision.
	Upgrade Operation = "upgrade"
	// Rollback follows a deployed revision and returns to an earlier one.
	Rollback Operation = "rollback"
)

// Pre returns the event that precedes the objects of the chart.
func (o Operation) Pre() inventory.Event { return inventory.Event("pre-" + o) }

// Post returns the event that follows the objects of the chart.
func (o Operation) Post() inventory.Event { return inventory.Event("post-" + o) }

// Hooks returns all hooks of a chart if at least one of them runs at the operation, and nil otherwise.
func (o Operation) Hooks(all []record.Hook) []record.Hook {
	if has(all, o.Pre(), o.Post()) {
		return all
	}
	return nil
}

// Count returns the number of hooks that run at the operation.
func (o Operation) Count(all []record.Hook) int {
	return len(order(all, o.Pre())) + len(order(all, o.Post()))
}

// Note records whether the chart has deletion and test hooks, so that this is known without the chart. Deletion hooks do not
// count if the install disables hooks. Test hooks always count, as in Helm.
func Note(r *inventory.Part, all []record.Hook, disabled bool) {
	r.DeleteHooks = !disabled && has(all, inventory.PreDelete, inventory.PostDelete)
	r.TestHooks = has(all, inventory.Test)
}

// has reports whether at least one hook belongs to one of the events.
func has(all []record.Hook, events ...inventory.Event) bool {
	return slices.ContainsFunc(all, func(h record.Hook) bool {
		return slices.ContainsFunc(events, func(e inventory.Event) bool { return slices.Contains(h.Events, string(e)) })
	})
}

// order returns the hooks of an event in Helm's order: by weight, then by name, then as rendered, which is by kind.
func order(all []record.Hook, event inventory.Event) []record.Hook {
	var out []record.Hook
	for _, h := range all {
		for _, e := range h.Events {
			// A hook that names an event twice runs twice, as in Helm.
			if e == string(event) {
				out = append(out, h)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b record.Hook) int {
		if a.Weight != b.Weight {
			return a.Weight - b.Weight
		}
		return strings.Compare(a.Name, b.Name)
	})
	return out
}
