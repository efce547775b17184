// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/apply"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/compose"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inspect"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/observe"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ownership"
)

// observed returns the input for observing an inventory and its objects.
func (w *call) observed(inv *inventory.Inventory, objects inspect.Objects) observe.Input {
	return observe.Input{
		Parts: w.parts, Drift: w.b.Drift, Retry: w.o.Retry, Inventory: inv, Objects: objects.States, Denied: objects.Denied,
		Last: w.reasons(inv), Now: w.e.now(),
	}
}

// reasons returns why the last step did not get further, as the inventory has it, so that every process reports the same. If the
// last step of this process had the same reasons with newer numbers, it returns those.
func (w *call) reasons(inv *inventory.Inventory) inventory.Reasons {
	switch {
	case inv == nil || inv.Last == nil:
		return inventory.Reasons{}
	case w.mem.last.Same(inv.Last):
		return *w.mem.last
	}
	return *inv.Last
}

// health returns an evaluator of the readiness rules of the bundle.
func (w *call) health() *inspect.Health {
	return &inspect.Health{Objects: w.client, Expressions: w.e.rules, Readiness: w.b.Readiness, Evaluations: w.mem.evaluations}
}

// differences returns an evaluator of how drifted objects differ from what was applied. The applier knows which fields are ceded.
func (w *call) differences(applier *apply.Applier) *inspect.Differences {
	return &inspect.Differences{
		Set: w.id, FieldManager: w.e.identity.FieldManager, Objects: w.client, Bundle: renderer{w, applier}, Now: w.e.now(),
		Reports: w.mem.reports,
	}
}

// look returns what is known about the objects of an inventory, which is nil for none.
func (w *call) look(ctx context.Context, inv *inventory.Inventory) (inspect.Objects, error) {
	if inv == nil {
		return inspect.Objects{States: map[cluster.ObjectRef]cluster.ObjectState{}}, nil
	}
	return inspect.FindObjects(ctx, w.c.Cache(), w.client, inv)
}

// track waits for a limited time until kinds are watched. It returns the kinds that are not, with the reasons.
func (w *call) track(ctx context.Context, gvks []schema.GroupVersionKind) map[schema.GroupVersionKind]error {
	return inspect.Track(ctx, w.c.Cache(), gvks)
}

// A renderer renders the objects of a bundle to compare them with those in the cluster.
type renderer struct {
	w       *call
	applier *apply.Applier
}

// WithoutCeded returns an object without the fields that are ceded to other managers, and those fields.
func (r renderer) WithoutCeded(
	ctx context.Context, o *object.Desired, en *inventory.Entry, managed []metav1.ManagedFieldsEntry,
) (*object.Desired, []ownership.Ceded, error) {
	return r.applier.Ceding.WithoutCeded(ctx, o, en, managed)
}

// AppliedObject returns the object of an entry as it was applied; nil if the bundle no longer contains it in that form.
func (r renderer) AppliedObject(ctx context.Context, en *inventory.Entry) (*object.Desired, error) {
	w := r.w
	for i := range w.parts {
		p := &w.parts[i]
		rec := w.mem.stored.Inventory.Parts[p.Name]
		if p.Name != en.Part || rec.Digest != p.Digest {
			continue
		}
		pl, ok := w.rendered[p.Name]
		if !ok {
			var err error
			if pl, err = w.composer.Compose(ctx, p, rec); err != nil {
				return nil, err
			}
			if w.rendered == nil {
				w.rendered = map[object.PartID]*compose.Component{}
			}
			w.rendered[p.Name] = pl
		}
		for n := range pl.Objects {
			if o := &pl.Objects[n]; o.Ref == en.Ref() && o.Hash == en.Intent {
				return o, nil
			}
		}
	}
	return nil, nil //nolint:nilnil // As documented.
}
