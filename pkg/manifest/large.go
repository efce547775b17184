// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/render"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
)

// render a chart whose release can be recorded: what cannot be written down in the end is not begun.
func (pl *planned) render(ctx context.Context, c *render.Chart, o render.Options) (*render.Rendered, error) {
	r, err := c.Render(ctx, o)
	if err != nil || pl.repair {
		return r, err
	}
	return r, r.CheckRecord("")
}

// entryReserve is what the entry of an object grows by, compressed, once the object is applied: its UID and two hashes
// are random, so that they do not compress.
const entryReserve = 64

// checkRoom says whether an inventory fits into its parent, in which its data have size bytes now, and will fit when all
// its objects are applied. It is asked before they are: afterwards nobody could write down what exists.
func (w *work) checkRoom(inv *inventory.Inventory, size int) error {
	for i := range inv.Objects {
		if inv.Objects[i].UID == "" {
			size += entryReserve
		}
	}
	if size <= parentLimit {
		return nil
	}
	return errors.Errorf("the inventory of %d objects takes %d bytes, and %s holds %d; split the set into several with fewer objects",
		len(inv.Objects), size, w.parentKey(), parentLimit)
}
