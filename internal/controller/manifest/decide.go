// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"
	"slices"
	"sync"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/manifest/rollback"
	engine "github.com/crossplane-contrib/provider-kyma/pkg/manifest"
)

// A choice is what a pass installs: what the Manifest says, or the snapshot that replaces it.
type choice struct {
	rollback.Decision

	bundle *engine.Bundle
	// keep is the snapshot of the bundle as it is stored, to be kept once the bundle is Ready; nil to keep none.
	keep []byte
	// report also redacts the values in the snapshot.
	report *reporter
	// last is the snapshot of what was Ready last; nil for none.
	last *snapshot
}

// same reports whether another choice installs the same.
func (c *choice) same(o choice) bool {
	return c.Action == o.Action && (c.Action != rollback.BringBack || c.last.digest == o.last.digest)
}

// A checkpoint is what the inventory says about rollbacks.
type checkpoint struct {
	// data of the snapshot of what was Ready last; nil for none.
	data []byte
	// atomic is how long an upgrade may take where the config of an install asks for a rollback; 0 where none does.
	atomic time.Duration
}

// checkpointIn an observation.
func checkpointIn(o engine.Observation) checkpoint {
	return checkpoint{data: o.Checkpoint, atomic: o.Atomic}
}

// A decider decides what a pass installs: it feeds the state machine of package rollback, and makes the bundle that the
// machine asks for.
type decider struct {
	// bundle is what the Manifest says, secrets are the values of Secrets in it.
	bundle   *engine.Bundle
	secrets  []any
	bundleOf func(mr *v1alpha1.Manifest) (*engine.Bundle, error)
	verify   func(ctx context.Context, mr *v1alpha1.Manifest) error
	now      func() time.Time

	memory *memory
	key    client.ObjectKey
	// desired is the snapshot of bundle; nil until it is needed.
	desired *snapshot
}

// choose what to install, by the status and a checkpoint. For a snapshot to restore, the caller makes the
// bundle with bringBack.
func (d *decider) choose(mr *v1alpha1.Manifest, report *reporter, cp checkpoint) (choice, error) {
	out := choice{bundle: d.bundle, report: report}
	in := rollback.Input{Status: mr.Status.AtProvider.Rollback, Now: d.now()}
	if mayUpdate(mr) {
		in.Policy = policyOf(mr, cp.atomic)
	}
	if in.Policy != nil {
		if err := d.describe(mr); err != nil {
			return out, err
		}
		in.Desired = rollback.Desired{Digest: d.desired.digest, Token: rollback.TokenOf(mr.GetAnnotations()[meta.AnnotationKeyReconcileRequestedAt])}
		if out.last = readSnapshot(cp.data); out.last != nil {
			in.Checkpoint = rollback.Checkpoint{Digest: out.last.digest, Version: out.last.version()}
		}
	}
	out.Decision = rollback.Decide(in)
	switch out.Action {
	case rollback.Install:
	case rollback.InstallAndKeep:
		out.keep = d.desired.data
	case rollback.BringBack:
		out.keep, out.report = out.last.data, report.with(out.last.Secrets)
	}
	return out, nil
}

// describe what is desired, once in a pass.
func (d *decider) describe(mr *v1alpha1.Manifest) (err error) {
	if d.desired == nil {
		d.desired, err = snapshotOf(mr, d.bundle, d.secrets)
	}
	return err
}

// bringBack returns the bundle of a snapshot. Its sources are verified as those of any other bundle.
func (d *decider) bringBack(ctx context.Context, mr *v1alpha1.Manifest, c choice) (*engine.Bundle, error) {
	restored := c.last.restored(mr)
	if err := d.verify(ctx, restored); err != nil {
		return nil, err
	}
	return d.bundleOf(restored)
}

// policyOf a Manifest, where its installs ask for some time.
func policyOf(mr *v1alpha1.Manifest, atomic time.Duration) *rollback.Policy {
	return rollback.PolicyOf(mr.Spec.ForProvider.Rollback, mr.Status.AtProvider.Rollback, atomic)
}

// mayUpdate reports whether the policies of a Manifest allow to change what is installed.
func mayUpdate(mr *v1alpha1.Manifest) bool {
	p := mr.GetManagementPolicies()
	return len(p) == 0 || slices.Contains(p, xpv2.ManagementActionAll) || slices.Contains(p, xpv2.ManagementActionUpdate)
}

// evaluate an observation of the choice. What the caller knows about it stands in seen already. An upgrade that does not work in
// time is rolled back in the next pass, once the status is written.
func (e *external) evaluate(mr *v1alpha1.Manifest, o engine.Observation, seen rollback.Observed) engine.Observation {
	c := &e.choice
	seen.Ready, seen.Failed, seen.Message = o.State == engine.Ready || o.Works, o.State == engine.Error, c.report.text(o.Message)
	if o.UpToDate && len(o.Parts) > 0 {
		seen.Version = o.Parts[0].Version
	}
	next, begins := rollback.Evaluate(c.Decision, seen, e.decider.now())
	c.Status = next
	c.report.rollback(mr, next)
	if begins {
		c.report.recordRollback(mr, next)
		e.again()
	}
	if c.Action == rollback.BringBack {
		return broughtBack(mr, next, o)
	}
	return o
}

// take what the last pass learned.
func (d *decider) take() checkpoint { return d.memory.take(d.key) }

// learn what the next pass needs before it observes: the snapshot, while an upgrade is being watched or rolled back.
func (d *decider) learn(c choice, o engine.Observation) {
	cp := checkpointIn(o)
	if c.Status == nil {
		cp.data = nil
	}
	d.memory.set(d.key, cp)
}

// A memory holds the checkpoints of Manifests between passes. Each pass checks what it takes, so the memory can be lost at
// any time.
type memory struct {
	by sync.Map // client.ObjectKey to checkpoint.
}

// take the checkpoint of a Manifest out of the memory.
func (m *memory) take(key client.ObjectKey) checkpoint {
	v, _ := m.by.LoadAndDelete(key)
	cp, _ := v.(checkpoint)
	return cp
}

// set the checkpoint of a Manifest. Most have none, and take no room.
func (m *memory) set(key client.ObjectKey, cp checkpoint) {
	if len(cp.data) == 0 && cp.atomic == 0 {
		m.by.Delete(key)
		return
	}
	m.by.Store(key, cp)
}
