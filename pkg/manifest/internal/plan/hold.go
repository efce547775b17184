// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/bundle"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/compose"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

// A Hold is an install that is not ready and that the following parts wait for.
type Hold struct {
	Install object.PartID
	// Reason is the reason why the install is not ready.
	Reason string
}

// Awaited returns the installs that following parts wait for and whose readiness the caller must check. The first one that is not
// ready is the Hold of the plan. If all are ready, use the returned Hold, which is nil if no part is held.
func (d *Draft) Awaited() ([]object.PartID, *Hold) {
	var ask []object.PartID
	for i := range d.Parts {
		part := &d.Parts[i]
		if part.Install == nil || !d.isAwaited(part) {
			continue
		}
		if failure, failed := d.Decisions.Failure(part.Name); failed {
			return ask, &Hold{Install: part.Name, Reason: failure.Reason}
		}
		if d.Inventory.Parts[part.Name].Digest != part.Digest {
			return ask, &Hold{Install: part.Name, Reason: "still being applied"}
		}
		ask = append(ask, part.Name)
	}
	return ask, nil
}

// isAwaited reports whether the following parts wait for an install, according to its config or, if the config was not read, its
// record.
func (d *Draft) isAwaited(part *bundle.Part) bool {
	if c := d.component(part.Name); c != nil {
		return c.Record.Wait
	}
	if waits, known := d.waits[part.Name]; known {
		return waits
	}
	return d.Inventory.Parts[part.Name].Wait
}

// heldBack returns the decisions on the parts that wait for the install of a hold. If the hold is nil, there are none. Parts whose
// inputs are already applied are not held, so that their drift is always repaired.
func (d *Draft) heldBack(h *Hold) Decisions {
	if h == nil {
		return nil
	}
	var out Decisions
	reason := fmt.Sprintf("waits until install %s is ready, because the config layer sets Wait: %s", h.Install, h.Reason)
	after := false
	for i := range d.Parts {
		part := &d.Parts[i]
		c := d.component(part.Name)
		if after && (c == nil || c.Purpose == compose.Advance) && d.Inventory.Parts[part.Name].Digest != part.Digest {
			out = append(out, Decision{Part: part.Name, Hindrance: Held, Reason: reason})
		}
		after = after || part.Name == h.Install
	}
	return out
}
