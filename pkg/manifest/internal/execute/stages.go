// SPDX-License-Identifier: Apache-2.0

package execute

import (
	"context"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/crossplane-contrib/provider-kyma/internal/panics"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/apply"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/compose"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/observe"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ownership"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ssa"
)

// applyStage applies the objects of one stage, component by component.
func (r *run) applyStage(ctx context.Context, s object.Stage) {
	p := r.progress
	idx := p.inventory.Index()
	for _, c := range p.components {
		if p.decisions.Stop(c.Name) {
			continue
		}
		todo, _ := p.due(c, s, idx, func(o *object.Desired) bool { return isHeld(c, p.runs[c.Name], o) })
		outs, errs := p.send(ctx, r.Applier, r.Concurrency, todo, idx)
		var again []*object.Desired
		for n, o := range todo {
			if r.record(o, idx[o.Ref], outs[n], errs[n]) {
				again = append(again, o)
			}
		}
		r.recreateAll(ctx, c.Name, again, idx)
		for _, err := range errs {
			if err != nil {
				p.fail(c.Name, err)
			}
		}
	}
}

// labelNamespace sets the labels and annotations that components contain for the namespace of the inventories. A repair does not
// change them.
func (r *run) labelNamespace(ctx context.Context) {
	p := r.progress
	for _, c := range p.components {
		m := c.NamespaceMetadata
		if m.IsEmpty() || c.Purpose == compose.Repair || p.decisions.Stop(c.Name) {
			continue
		}
		t := r.Applier.Target
		if err := ssa.LabelNamespace(ctx, t.Client, t.ID+"/"+string(c.Name), m.Name, m.Labels, m.Annotations); err != nil {
			p.fail(c.Name, err)
		}
	}
}

// send applies objects concurrently, and returns an outcome and an error for each of them. It records nothing.
func (p *progress) send(
	ctx context.Context, a *apply.Applier, concurrency int, todo []*object.Desired, idx map[cluster.ObjectRef]*inventory.Entry,
) ([]apply.Outcome, []error) {
	outs, errs := make([]apply.Outcome, len(todo)), make([]error, len(todo))
	g := errgroup.Group{}
	g.SetLimit(concurrency)
	for i, o := range todo {
		s, exists := p.objects[o.Ref]
		one := apply.Subject{
			Object: o, Entry: *idx[o.Ref], State: s, Exists: exists, Drifted: p.actions[o.Ref].Drifted, Restarted: p.restarted[o.Ref],
		}
		g.Go(func() error {
			outs[i], errs[i] = panics.Value(o.Ref.String(), func() (apply.Outcome, error) { return a.Apply(ctx, one) })
			return nil
		})
	}
	_ = g.Wait() // Errors belong to the objects.
	return outs, errs
}

// record records the outcome of an object. It reports whether the object has to be recreated.
func (r *run) record(o *object.Desired, en *inventory.Entry, out apply.Outcome, err error) bool {
	if out.Owned != "" {
		en.Owned = out.Owned
	}
	if err != nil {
		return false
	}
	switch out.Kind {
	case apply.Unchanged:
		en.Intent = o.Hash
		delete(r.progress.actions, o.Ref)
	case apply.Deleting:
		r.progress.postpone(r.Applier.Target.Client.FieldManager, o.Ref, out.Before)
	case apply.Created, apply.Updated:
		r.recordApplied(o, en, out)
	case apply.Used:
		r.recordUsed(o, en, out)
	case apply.Immutable:
		return true
	}
	return false
}

// recordApplied records an object that was applied.
func (r *run) recordApplied(o *object.Desired, en *inventory.Entry, out apply.Outcome) {
	r.written = true
	replaced := out.Before != nil && en.UID != "" && en.UID != string(out.Before.UID)
	r.recordAdopted(o, en, out, replaced || en.IsUsed())
	inherits := r.recordOwnCRD(o, en, out)
	ceded := newlyCeded(o.Ref, en.Ceded, out.Ceded)
	en.UID, en.Intent, en.Owned, en.Ceded = out.State.UID, o.Hash, out.State.Owned, out.Ceded
	r.progress.objects[o.Ref] = out.State
	r.result.Ceded = append(r.result.Ceded, ceded...)
	drifted, now := r.progress.actions[o.Ref].Drifted, r.Applier.Now()
	delete(r.progress.actions, o.Ref)
	switch {
	case !drifted && out.Kind == apply.Created:
		r.result.Created++
	case !drifted, inherits:
		r.result.Updated++
	case out.Before == nil || replaced:
		recreateResource(r.progress.inventory, r.progress.objects, o)
		en.Restores = en.Restores.Add(now)
		r.result.Repaired = append(r.result.Repaired, observe.Drift{Key: o.Ref, Kind: kindOf(replaced, out.Kind)})
	case ownership.IsDrift(!out.Lost.Empty(), len(ceded)):
		repairs := r.Applier.Repairs
		repairs[o.Ref], en.Restores = repairs[o.Ref].Add(
			r.Applier.Target.Client.FieldManager, out.Before.ManagedFields, out.Lost, en.Restores, now)
		r.result.Repaired = append(r.result.Repaired, observe.Drift{Key: o.Ref, Fields: ownership.Names(out.Lost)})
	}
}

// recordOwnCRD records that the bundle owns a CRD that it applied. It reports whether the bundle used it before.
func (r *run) recordOwnCRD(o *object.Desired, en *inventory.Entry, out apply.Outcome) bool {
	r.result.ChangedCRDs = r.result.ChangedCRDs || o.Stage == object.StageCRDs
	inherits := en.IsUsed() && out.Kind == apply.Updated
	if inherits {
		r.result.Shared = append(r.result.Shared, SharedCRD{Ref: o.Ref, Inherited: true})
	}
	en.Use = nil
	return inherits
}

// recordUsed records a CRD of another owner that the bundle uses.
func (r *run) recordUsed(o *object.Desired, en *inventory.Entry, out apply.Outcome) {
	p := r.progress
	if !en.IsUsed() || en.Use.Owner != out.Use.Owner {
		r.result.Shared = append(r.result.Shared, SharedCRD{Ref: o.Ref, Owner: out.Owner})
	}
	replaced := en.UID != "" && en.UID != out.State.UID
	en.UID, en.Intent, en.Owned, en.Ceded, en.Restores = out.State.UID, o.Hash, "", nil, nil
	en.Adopted, en.Use = false, out.Use
	p.objects[o.Ref] = out.State
	delete(p.actions, o.Ref)
	if replaced {
		recreateResource(p.inventory, p.objects, o)
	}
}

// recordAdopted records whether an object existed before the bundle adopted it, unless it is still the same object.
func (r *run) recordAdopted(o *object.Desired, en *inventory.Entry, out apply.Outcome, replaced bool) {
	if en.UID == "" || replaced || out.Kind == apply.Created {
		en.Adopted = out.IsAdopted(en.Adopted, r.Applier.Target.ID) && !object.IsReplaceable(o.Ref.GroupKind())
	}
}

// kindOf returns the kind of drift that was repaired by replacing or creating an object.
func kindOf(replaced bool, done apply.Kind) observe.DriftKind {
	switch {
	case replaced:
		return observe.DriftReplaced
	case done == apply.Created:
		return observe.DriftDeleted
	}
	return observe.DriftChanged
}

// newlyCeded returns the fields that were not ceded before.
func newlyCeded(ref cluster.ObjectRef, before, now []ownership.Ceded) []observe.CededField {
	var out []observe.CededField
	for i := range now {
		c := &now[i]
		if !slices.ContainsFunc(before, func(b ownership.Ceded) bool { return b.Path == c.Path && b.Contended() == c.Contended() }) {
			out = append(out, observe.CededField{Key: ref, Field: c.Field(), Manager: c.Manager, Contended: c.Contended()})
		}
	}
	return out
}

// recreateAll deletes objects of a part and creates them again. Before that, it clears the UIDs and applied states of the objects
// in the inventory: if the process ends between the deletion and the creation, or right after it, the next call handles them like
// new objects. The UID of an object that it could not delete stays in the inventory.
func (r *run) recreateAll(ctx context.Context, part object.PartID, todo []*object.Desired, idx map[cluster.ObjectRef]*inventory.Entry) {
	if len(todo) == 0 {
		return
	}
	uids := make([]string, len(todo))
	for i, o := range todo {
		en := idx[o.Ref]
		uids[i], en.UID, en.Intent, en.Owned = en.UID, "", "", ""
	}
	if err := r.save(ctx); err != nil {
		r.progress.fail(part, err)
		return
	}
	for i, o := range todo {
		out, deleted, err := r.Applier.Recreate(ctx, o, uids[i])
		switch {
		case deleted:
			r.result.Recreated = append(r.result.Recreated, o.Ref)
		case err != nil:
			idx[o.Ref].UID = uids[i]
		}
		switch {
		case out.Kind == apply.Deleting:
			r.progress.postpone(r.Applier.Target.Client.FieldManager, o.Ref, out.Before)
		case err == nil:
			r.recordApplied(o, idx[o.Ref], out)
		}
		if err != nil {
			r.progress.fail(part, err)
		}
	}
}
