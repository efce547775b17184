// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"bytes"
	"context"
	"slices"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/manifest/checkpoint"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/manifest/rollback"
	engine "github.com/crossplane-contrib/provider-kyma/pkg/manifest"
)

// A choice is what a pass installs: the content of the Manifest, or the snapshot that replaces it.
type choice struct {
	decision rollback.Decision
	// bundle is the bundle to install. The bundle of a snapshot is built after the decision.
	bundle *engine.Bundle
	// keep is the stored form of the bundle's snapshot, which is kept once the bundle works; nil to keep none.
	keep []byte
	// report also redacts the values in the snapshot.
	report *reporter
	// last is the snapshot of what was Ready last, or nil.
	last *checkpoint.Snapshot
}

// bringsBack reports whether the choice is a snapshot.
func (c *choice) bringsBack() bool { return c.decision.Action == rollback.BringBack }

// same reports whether another choice installs the same content.
func (c *choice) same(o *choice) bool {
	return c.decision.Action == o.decision.Action && (!c.bringsBack() || c.last.Digest == o.last.Digest)
}

// lacks reports whether the bundle is not kept yet, but can be once it is Ready.
func (c *choice) lacks(o *engine.Observation) bool {
	return len(c.keep) > 0 && o.NotKept == "" && !bytes.Equal(o.Checkpoint, c.keep)
}

// evaluate evaluates an observation of the choice. It returns the next status of the rollback, and whether a rollback begins.
func (c *choice) evaluate(o *engine.Observation, outcome rollback.Outcome, now time.Time) (next *v1alpha1.RollbackStatus, begins bool) {
	seen := rollback.Observed{Outcome: outcome, Message: c.report.text(o.Message)}
	if o.UpToDate && len(o.Parts) > 0 {
		seen.Version = shortVersion(o.Parts[0].Version)
	}
	return rollback.Evaluate(c.decision, seen, now)
}

// outcomeOf returns the outcome of an upgrade that is applied. Objects that were just changed cannot be Ready yet.
func outcomeOf(o *engine.Observation, changed bool) rollback.Outcome {
	switch {
	case o.State == engine.Ready || o.Works:
		return rollback.Ready
	case o.State == engine.Error:
		return rollback.Failed
	case changed:
		return rollback.Pending
	}
	return rollback.NotReady
}

// A decider decides what a pass installs, with the state machine of package rollback.
type decider struct {
	// bundle is the bundle of the Manifest.
	bundle *engine.Bundle
	// desired returns the snapshot of the bundle, which is built once, when it is needed.
	desired func() (*checkpoint.Snapshot, error)
	// restore verifies the sources of a Manifest that was restored from a snapshot, and returns its bundle.
	restore func(ctx context.Context, mr *v1alpha1.Manifest) (*engine.Bundle, error)
	report  *reporter
	now     func() time.Time
}

// decide decides what to install, based on the status and a checkpoint.
func (d *decider) decide(mr *v1alpha1.Manifest, cp checkpoint.State) (choice, error) {
	out := choice{bundle: d.bundle, report: d.report}
	in := rollback.Input{Status: mr.Status.AtProvider.Rollback, Now: d.now()}
	if allows(mr, xpv2.ManagementActionUpdate) {
		in.Policy = policyOf(mr, cp.Atomic)
	}
	if in.Policy == nil {
		out.decision = rollback.Decide(in)
		return out, nil
	}
	desired, err := d.desired()
	if err != nil {
		return out, err
	}
	in.Desired = rollback.Desired{Digest: desired.Digest, Token: rollback.TokenOf(mr.GetAnnotations()[meta.AnnotationKeyReconcileRequestedAt])}
	if out.last = checkpoint.Read(cp.Data); out.last != nil {
		in.Checkpoint = rollback.Checkpoint{Digest: out.last.Digest, Version: shortVersion(out.last.Version())}
	}
	out.decision, out.keep = rollback.Decide(in), desired.Data
	if out.bringsBack() {
		out.keep, out.report = out.last.Data, d.report.with(out.last.Secrets)
	}
	return out, nil
}

// policyOf returns the rollback policy of a Manifest. atomic is the time that its installs request.
func policyOf(mr *v1alpha1.Manifest, atomic time.Duration) *rollback.Policy {
	return rollback.PolicyOf(mr.Spec.ForProvider.Rollback, mr.Status.AtProvider.Rollback, atomic)
}

// allows reports whether the policies of a Manifest allow an action.
func allows(mr *v1alpha1.Manifest, action xpv2.ManagementAction) bool {
	p := mr.GetManagementPolicies()
	return len(p) == 0 || slices.Contains(p, xpv2.ManagementActionAll) || slices.Contains(p, action)
}
