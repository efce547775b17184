// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/apply"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/bundle"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/compose"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inspect"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/observe"
)

// observed returns the input to observe an inventory and its objects.
func (w *call) observed(inv *inventory.Inventory, objects inspect.Objects) observe.Input {
	return observe.Input{
		Set: w.id, Outdated: w.outdated(inv),
		Parts: w.parts, Drift: w.b.Drift, Retry: w.o.Retry, Inventory: inv, Objects: objects.States, Denied: objects.Denied,
		Now: w.e.now(),
	}
}

// minor returns the minor version of the cluster if the connection knows it without a request, and an empty string otherwise.
func (w *call) minor() string {
	known, ok := w.c.(interface{ LastVersion() string })
	if !ok {
		return ""
	}
	return compose.MinorOf(known.LastVersion())
}

// outdated returns the parts that were rendered for another minor version of the cluster, and depend on it.
func (w *call) outdated(inv *inventory.Inventory) map[object.PartID]bool {
	minor := w.minor()
	if inv == nil || minor == "" {
		return nil
	}
	out := map[object.PartID]bool{}
	for name, rec := range inv.Parts {
		if compose.Outdates(minor, &rec) {
			out[name] = true
		}
	}
	return out
}

// health returns an evaluator of the readiness rules of the bundle.
func (w *call) health() *inspect.RuleEvaluator {
	return &inspect.RuleEvaluator{Objects: w.client, Expressions: w.e.rules, Readiness: w.b.Readiness, Evaluations: w.mem.evaluations}
}

// differences returns a comparer of the drifted objects of an inventory with the objects as applied. It uses the applier to try
// to repair them.
func (w *call) differences(inv *inventory.Inventory, applier *apply.Applier) *inspect.DriftComparer {
	w.composer.Stored = inv
	return &inspect.DriftComparer{
		Set: w.id, Objects: w.client, Now: w.e.now(), Reports: w.mem.reports,
		Bundle: &repairer{
			applier: applier, composer: w.composer, parts: w.parts, records: inv.Parts, rendered: map[object.PartID]*compose.Component{},
		},
	}
}

// look returns the known state of the objects of an inventory, which is nil if there is none.
func (w *call) look(ctx context.Context, inv *inventory.Inventory) (inspect.Objects, error) {
	if inv == nil {
		return inspect.Objects{States: map[cluster.ObjectRef]cluster.ObjectState{}}, nil
	}
	w.c.Cache().Examine(w.health().Kinds(inv))
	return inspect.FindObjects(ctx, w.c.Cache(), w.client, inv)
}

// A repairer renders the objects of a bundle as they were applied, and tries to repair them with dry runs.
type repairer struct {
	applier  *apply.Applier
	composer *compose.Composer
	parts    []bundle.Part
	// records contains the records of the parts in the inventory.
	records map[object.PartID]inventory.Part
	// rendered caches rendered parts.
	rendered map[object.PartID]*compose.Component
}

// AppliedObject returns the object of an entry as it was applied, or nil if the bundle no longer contains it in that form.
func (r *repairer) AppliedObject(ctx context.Context, en *inventory.Entry) (*object.Desired, error) {
	for i := range r.parts {
		p := &r.parts[i]
		if p.Name != en.Part || r.records[p.Name].Digest != p.Digest {
			continue
		}
		c, err := r.component(ctx, p)
		if err != nil {
			return nil, err
		}
		for n := range c.Objects {
			if o := &c.Objects[n]; o.Ref == en.Ref() && o.Hash == en.Intent {
				return o, nil
			}
		}
	}
	return nil, nil //nolint:nilnil // As documented.
}

// TryRepair returns the outcome of repairing an object, according to a dry run.
func (r *repairer) TryRepair(
	ctx context.Context, o *object.Desired, en *inventory.Entry, m *metav1.PartialObjectMetadata,
) (apply.Outcome, error) {
	return r.applier.TryRepair(ctx, o, en, m)
}

// OwnerOf returns the owner of another ApplySet.
func (r *repairer) OwnerOf(ctx context.Context, id string) string {
	return r.applier.Permissions.OwnerOf(ctx, id)
}

// component renders a part. It caches the result.
func (r *repairer) component(ctx context.Context, p *bundle.Part) (*compose.Component, error) {
	if c, ok := r.rendered[p.Name]; ok {
		return c, nil
	}
	c, err := r.composer.Compose(ctx, p, r.records[p.Name])
	if err == nil {
		r.rendered[p.Name] = c
	}
	return c, err
}
