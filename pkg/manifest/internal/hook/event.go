// SPDX-License-Identifier: Apache-2.0

package hook

import (
	"slices"
	"strings"

	"github.com/crossplane-contrib/provider-kyma/internal/render/record"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
)

// An Operation is how Helm makes a revision of a release. It decides which hooks run.
type Operation string

// The operations of Helm.
const (
	// Install makes the first revision that is deployed. As long as none was deployed, each attempt is an install.
	Install Operation = "install"
	// Upgrade follows a revision that was deployed.
	Upgrade Operation = "upgrade"
	// Rollback follows a revision that was deployed, to go back to one before it.
	Rollback Operation = "rollback"
)

// Pre returns the event before the objects of the chart are applied.
func (o Operation) Pre() inventory.Event { return inventory.Event("pre-" + o) }

// Post returns the event after the objects of the chart were applied.
func (o Operation) Post() inventory.Event { return inventory.Event("post-" + o) }

// Hooks returns all hooks of a chart if some of them run at the operation, else nil.
func (o Operation) Hooks(all []record.Hook) []record.Hook {
	if has(all, o.Pre(), o.Post()) {
		return all
	}
	return nil
}

// Count returns how many hooks run at the operation.
func (o Operation) Count(all []record.Hook) int {
	return len(order(all, o.Pre())) + len(order(all, o.Post()))
}

// Note records which hooks a chart has that must be known without the chart. The hooks of a removal do not count where the
// config of the install disables hooks; tests run in any case, as with Helm.
func Note(r *inventory.Part, all []record.Hook, disabled bool) {
	r.DeleteHooks = !disabled && has(all, inventory.PreDelete, inventory.PostDelete)
	r.TestHooks = has(all, inventory.Test)
}

// has reports whether some of the hooks are for one of the events.
func has(all []record.Hook, events ...inventory.Event) bool {
	return slices.ContainsFunc(all, func(h record.Hook) bool {
		return slices.ContainsFunc(events, func(e inventory.Event) bool { return slices.Contains(h.Events, string(e)) })
	})
}

// order returns the hooks of an event in the order in which Helm runs them: by weight, then by name, then as rendered, which is
// by kind.
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
