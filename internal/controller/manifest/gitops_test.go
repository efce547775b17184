// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/gitopstest"
	readiness "github.com/crossplane-contrib/provider-kyma/internal/controller/manifest/ready"
	"github.com/crossplane-contrib/provider-kyma/internal/ocm"
	engine "github.com/crossplane-contrib/provider-kyma/pkg/manifest"
)

// TestGitOps checks how GitOps tools assess a Manifest.
func TestGitOps(t *testing.T) {
	r := &reporter{}
	// after returns the Manifest after several passes, each of which ends with the condition that the managed reconciler sets.
	after := func(passes ...func(mr *v1alpha1.Manifest) xpv2.Condition) *v1alpha1.Manifest {
		mr := &v1alpha1.Manifest{ObjectMeta: metav1.ObjectMeta{Generation: 1}}
		mr.Status.ObservedGeneration = -1
		for _, pass := range passes {
			mr.SetConditions(pass(mr).WithObservedGeneration(mr.Generation))
		}
		return mr
	}
	observes := func(o engine.Observation, then xpv2.Condition) func(mr *v1alpha1.Manifest) xpv2.Condition {
		return func(mr *v1alpha1.Manifest) xpv2.Condition {
			r.observation(mr, o)
			return then
		}
	}
	in := func(p engine.Phase) engine.Observation {
		return engine.Observation{Exists: true, State: p.State(), Message: "x", Parts: []engine.PartState{{Install: "a", Phase: p, State: p.State()}}}
	}
	works := in(engine.PhaseCeded)
	works.Works = true
	ok, failed := xpv2.ReconcileSuccess(), xpv2.ReconcileError(errors.New("no"))
	ready := observes(in(engine.PhaseReady), ok)
	fails := func(err error) func(mr *v1alpha1.Manifest) xpv2.Condition {
		return func(mr *v1alpha1.Manifest) xpv2.Condition { return xpv2.ReconcileError(r.failure(mr, err)) }
	}
	away := fails(errors.New("no"))
	pauses := func(*v1alpha1.Manifest) xpv2.Condition { return xpv2.ReconcilePaused() }
	rollsBack := func(mr *v1alpha1.Manifest) xpv2.Condition {
		st := &v1alpha1.RollbackStatus{RolledBack: true, Message: "x"}
		r.rollback(mr, st)
		r.observation(mr, broughtBack(mr, st, engine.Observation{Exists: true, State: engine.Ready, UpToDate: true}))
		return ok
	}
	deletes := func(mr *v1alpha1.Manifest) xpv2.Condition {
		now := metav1.Now()
		mr.DeletionTimestamp = &now
		r.waiting(mr, lost, errors.New("no"))
		return failed
	}
	gitopstest.Check(t, map[string]gitopstest.Case{
		"New":        {Reason: "The API server sets a default status until the provider has processed the Manifest.", Object: after(), Want: gitopstest.Waits},
		"NoConfig":   {Reason: "The ProviderConfig cannot be read.", Object: after(away), Want: gitopstest.Refused},
		"Installing": {Reason: "The module is being installed.", Object: after(observes(in(engine.PhaseApplying), ok)), Want: gitopstest.Waits},
		"Starting":   {Reason: "Its objects are starting.", Object: after(observes(in(engine.PhaseProgressing), ok)), Want: gitopstest.Waits},
		"Ready":      {Reason: "All objects are ready.", Object: after(observes(in(engine.PhaseApplying), ok), ready), OK: true, Want: gitopstest.Works},
		"Works":      {Reason: "Other field managers own fields, and the module works.", Object: after(observes(works, ok)), OK: true, Want: gitopstest.Works},
		"Degraded":   {Reason: "An object has lost replicas.", Object: after(ready, observes(in(engine.PhaseDegraded), ok)), Want: gitopstest.Waits},
		"TakenOver":  {Reason: "An object belongs to another Manifest.", Object: after(ready, observes(in(engine.PhaseTakenOver), ok)), Want: gitopstest.Failed},
		"Broken":     {Reason: "An object is missing, which is only reported.", Object: after(ready, observes(in(engine.PhaseBroken), ok)), Want: gitopstest.Failed},
		"Failed":     {Reason: "An object has failed.", Object: after(ready, observes(in(engine.PhaseUnhealthy), ok)), Want: gitopstest.Failed},
		"Refused": {
			Reason: "The API server refuses an object.", Object: after(observes(in(engine.PhaseFailed), failed)),
			Want: gitopstest.Failed,
		},
		"Unsigned":    {Reason: "A signature is missing.", Object: after(ready, fails(&ocm.VerificationError{Reason: "no"})), Want: gitopstest.Failed},
		"Invalid":     {Reason: "A field is invalid.", Object: after(fails(readiness.Final(errors.New("no")))), Want: gitopstest.Failed},
		"Unreachable": {Reason: "The cluster is unreachable.", Object: after(ready, away), Want: gitopstest.Refused},
		"NotApplied": {
			// The condition Synced must be listed before Ready, or Argo CD would consider the Manifest Healthy.
			Reason: "The module works, and the pass fails after the observation.", Object: after(ready, observes(works, failed)), OK: true,
			Want: gitopstest.Health{Kstatus: "Current", ArgoCD: "Degraded", Documented: "Degraded"},
		},
		"RolledBack": {Reason: "The module was rolled back to an earlier revision.", Object: after(ready, rollsBack), Want: gitopstest.Failed},
		"Paused": {
			Reason: "The built-in rule of Argo CD does not know paused resources.", Object: after(ready, ready, pauses), OK: true,
			Want: gitopstest.Health{Kstatus: "Current", ArgoCD: "Degraded", Documented: "Suspended"},
		},
		"Recovered": {Reason: "The cluster is reachable again.", Object: after(ready, away, ready), OK: true, Want: gitopstest.Works},
		"Deleting":  {Reason: "The Manifest is being deleted.", Object: after(ready, deletes), Want: gitopstest.Removed},
	})
}
