// SPDX-License-Identifier: Apache-2.0

package execute

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/compose"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/hook"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/observe"
)

// isHeld reports whether an object of an install is held back until the hooks that precede it have run. The run is nil until the
// hooks begin. As in Helm, CRDs in crds/ and the namespace of the hooks precede all hooks.
func isHeld(c *compose.Component, run *inventory.Run, o *object.Desired) bool {
	if c.Hooks == nil || (run != nil && run.Event.IsPost()) {
		return false
	}
	switch o.Stage {
	case object.StageNamespaces:
		return o.Ref.Name != c.Installation.Namespace
	case object.StageCRDs:
		return !slices.ContainsFunc(c.Rendered.CRDs, func(crd *unstructured.Unstructured) bool { return crd.GetName() == o.Ref.Name })
	default:
		return true
	}
}

// applyHeld runs the hooks that precede the objects of the installs. Then it applies the objects of earlier stages that waited
// for these hooks.
func (r *run) applyHeld(ctx context.Context) {
	if !r.runPre(ctx) {
		return
	}
	r.applyStage(ctx, object.StageNamespaces)
	r.applyStage(ctx, object.StageCRDs)
	r.progress.note(r.progress.awaitCRDs(r.Latest)...)
}

// runPre runs the hooks that precede the objects of the installs. If an install waits for a hook, the parts after it also wait,
// so that all objects are applied in order; parts that were applied before with the same inputs are not held back. runPre reports
// whether at least one install can continue because its hooks have run.
func (r *run) runPre(ctx context.Context) bool {
	p, on, before := r.progress, false, hook.Standing{}
	for _, c := range p.components {
		if before.Waits() && c.Purpose == compose.Advance && !p.decisions.Stop(c.Name) {
			p.wait(c.Name, before.Message)
		}
		if c.Hooks == nil || p.decisions.Stop(c.Name) {
			continue
		}
		h, err := r.Installs.RunPre(ctx, c, r.view(c))
		p.noteHooks(c.Name, h)
		switch {
		case err != nil:
			p.fail(c.Name, err)
		case h.Waits():
			p.wait(c.Name, h.Message)
			before = hook.Standing{Progress: hook.Due, Message: fmt.Sprintf("waiting for install %s: %s", c.Name, h.Message)}
		default:
			on = true
		}
	}
	return on
}

// runPost runs the hooks that follow the objects, for installs whose objects are all applied. Before that, it prunes the objects
// that the new revisions no longer contain.
func (r *run) runPost(ctx context.Context) {
	p := r.progress
	var ready []*compose.Component
	for _, c := range p.components {
		if len(c.Hooks) == 0 || p.decisions.Stop(c.Name) {
			continue
		}
		if reason, missing := p.missing(c); missing {
			p.wait(c.Name, reason)
			continue
		}
		p.markPruned(c)
		ready = append(ready, c)
	}
	if len(ready) == 0 {
		return
	}
	r.prune(ctx)
	for _, c := range ready {
		s, err := r.runPostOf(ctx, c)
		switch {
		case err != nil:
			p.fail(c.Name, err)
		case s.Waits():
			p.wait(c.Name, s.Message)
		}
	}
}

// runPostOf runs the post-install or post-upgrade hooks of an install. If its config sets Wait, they run once the install is ready, as in Helm.
func (r *run) runPostOf(ctx context.Context, c *compose.Component) (hook.Standing, error) {
	p := r.progress
	run := p.runs[c.Name]
	if c.Record.Wait && !run.HasBegun() {
		why, unready, err := observe.Unready(ctx, r.Health, p.inventory, p.objects, c.Name)
		if err != nil {
			return hook.Standing{}, err
		}
		if unready {
			reason := fmt.Sprintf("waiting to run %s hooks until the install is ready, because the config layer sets Wait: %s", run.Event, why)
			return hook.Standing{Progress: hook.Due, Message: reason}, nil
		}
	}
	h, err := r.Installs.RunPost(ctx, c, r.view(c))
	p.noteHooks(c.Name, h)
	return h.Standing, err
}

// view returns the part of the state of a run that Installs can see.
func (r *run) view(c *compose.Component) View {
	p := r.progress
	v := View{
		Record: p.inventory.Parts[c.Name], OwnerOf: p.ownerOf, IsMember: p.isMember,
		Save: func(ctx context.Context, e hook.Effect) error {
			p.noteEffect(c.Name, e)
			return r.save(ctx)
		},
	}
	if run := p.runs[c.Name]; run != nil {
		copied := *run
		v.Run = &copied
	}
	return v
}
