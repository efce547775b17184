// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	engine "github.com/crossplane-contrib/provider-kyma/pkg/manifest"
)

// A hider is an engine whose messages show no value of some Secrets: templates, API servers, and hooks put values into
// theirs, and paths of fields have items of lists in them.
type hider struct {
	Engine

	secrets *concealer
}

// hide some values in what an engine says.
func hide(e Engine, values []any) Engine {
	if len(values) == 0 {
		return e
	}
	if h, ok := e.(*hider); ok {
		return &hider{Engine: h.Engine, secrets: &concealer{values: slices.Concat(h.secrets.values, values)}}
	}
	return &hider{Engine: e, secrets: &concealer{values: values}}
}

// Observe as the engine does.
func (h *hider) Observe(ctx context.Context, c cluster.Cluster, s *engine.Set) (engine.Observation, error) {
	s.Hide = h.secrets.text
	o, err := h.Engine.Observe(ctx, c, s)
	o.Message = h.secrets.text(o.Message)
	o.Parts = concealed(h.secrets, o.Parts, func(p *engine.PartState) *string { return &p.Message })
	o.Tests = concealed(h.secrets, o.Tests, messageOfTest)
	o.Drift = h.drift(o.Drift)
	return o, h.err(err)
}

// Apply as the engine does.
func (h *hider) Apply(ctx context.Context, c cluster.Cluster, s *engine.Set) (engine.Result, error) {
	s.Hide = h.secrets.text
	r, err := h.Engine.Apply(ctx, c, s)
	r.Waiting = h.secrets.text(r.Waiting)
	r.Repaired = h.drift(r.Repaired)
	r.Yielded = concealed(h.secrets, r.Yielded, func(y *engine.Yield) *string { return &y.Field })
	r.Tested = concealed(h.secrets, r.Tested, messageOfTest)
	return r, h.err(err)
}

// Plan as the engine does.
func (h *hider) Plan(ctx context.Context, c cluster.Cluster, s *engine.Set) (engine.Plan, error) {
	p, err := h.Engine.Plan(ctx, c, s)
	p.Problems, p.Notes = h.lines(p.Problems), h.lines(p.Notes)
	p.Changes = concealedLists(h.secrets, p.Changes, func(c *engine.PlannedChange) *[]string { return &c.Fields })
	return p, h.err(err)
}

// Remove as the engine does.
func (h *hider) Remove(ctx context.Context, c cluster.Cluster, s *engine.Set) (engine.Removal, error) {
	s.Hide = h.secrets.text
	r, err := h.Engine.Remove(ctx, c, s)
	r.Message, r.HookFailed = h.secrets.text(r.Message), h.secrets.text(r.HookFailed)
	return r, h.err(err)
}

func messageOfTest(t *engine.TestState) *string { return &t.Message }

func (h *hider) drift(in []engine.Drift) []engine.Drift {
	return concealedLists(h.secrets, in, func(d *engine.Drift) *[]string { return &d.Fields })
}

func (h *hider) lines(in []string) []string {
	return concealed(h.secrets, in, func(s *string) *string { return s })
}

// err in its text. An error that shows nothing stays what it is.
func (h *hider) err(err error) error {
	if err == nil {
		return nil
	}
	if text := h.secrets.text(err.Error()); text != err.Error() {
		return errors.New(text)
	}
	return err
}
