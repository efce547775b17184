// SPDX-License-Identifier: Apache-2.0

package kyma

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/gitopstest"
)

// TestGitOps checks how GitOps tools assess a Kyma.
func TestGitOps(t *testing.T) {
	one := func(state v1alpha1.State, reason xpv2.ConditionReason) step {
		return step{demand: wanted, status: v1alpha1.ModuleStatus{Name: "a", State: state, Reason: string(reason), Message: "x"}}
	}
	stalled := func(s step) step {
		s.stalled = true
		return s
	}
	ok := xpv2.ReconcileSuccess()
	ready := []step{one(v1alpha1.StateReady, xpv2.ReasonAvailable)}
	// after returns the Kyma after a successful pass and a pass with these steps. Each pass ends with the condition that the
	// managed reconciler sets.
	after := func(then xpv2.Condition, steps ...step) *v1alpha1.Kyma {
		k := newKyma()
		k.Generation, k.Status.ObservedGeneration = 1, -1
		report(k, ready)
		k.SetConditions(ok.WithObservedGeneration(1))
		report(k, steps)
		k.SetConditions(then.WithObservedGeneration(1))
		return k
	}
	fresh := newKyma()
	fresh.Generation, fresh.Status.ObservedGeneration = 1, -1
	recovered := after(ok, stalled(one(v1alpha1.StateError, v1alpha1.ReasonModuleFailed)))
	report(recovered, ready)
	deleted := after(ok, stalled(one(v1alpha1.StateError, v1alpha1.ReasonModuleFailed)))
	now := metav1.Now()
	deleted.DeletionTimestamp = &now
	report(deleted, []step{{status: v1alpha1.ModuleStatus{Name: "a", State: v1alpha1.StateDeleting}}})
	gitopstest.Check(t, map[string]gitopstest.Case{
		"New":        {Reason: "The API server sets a default status until the provider has processed the Kyma.", Object: fresh, Want: gitopstest.Waits},
		"Empty":      {Reason: "A Kyma without modules is Ready.", Object: after(ok), OK: true, Want: gitopstest.Works},
		"Ready":      {Reason: "All modules are Ready.", Object: after(ok, ready...), OK: true, Want: gitopstest.Works},
		"Installing": {Reason: "A module is being installed.", Object: after(ok, one(v1alpha1.StateProcessing, v1alpha1.ReasonProgressing)), Want: gitopstest.Waits},
		"Missing":    {Reason: "The channel does not have the module yet.", Object: after(ok, one(v1alpha1.StateError, v1alpha1.ReasonBlocked)), Want: gitopstest.Waits},
		"Failed":     {Reason: "A module has failed.", Object: after(ok, stalled(one(v1alpha1.StateError, v1alpha1.ReasonModuleFailed))), Want: gitopstest.Failed},
		"Downgrade":  {Reason: "A downgrade must be allowed by the user.", Object: after(ok, stalled(one(v1alpha1.StateWarning, v1alpha1.ReasonDowngradeBlocked))), Want: gitopstest.Failed},
		"RolledBack": {Reason: "The module was rolled back to an earlier revision.", Object: after(ok, stalled(one(v1alpha1.StateWarning, v1alpha1.ReasonRolledBack))), Want: gitopstest.Failed},
		"Recovered":  {Reason: "The failed module works again.", Object: recovered, OK: true, Want: gitopstest.Works},
		"Planned":    {Reason: "The module is only planned.", Object: after(ok, one(v1alpha1.StateProcessing, v1alpha1.ReasonPlanned)), Want: gitopstest.Waits},
		"Removing": {
			Reason: "A disabled module is being removed.", Object: after(ok, step{status: v1alpha1.ModuleStatus{Name: "a", State: v1alpha1.StateDeleting}}),
			Want: gitopstest.Waits,
		},
		"NotSynced": {
			Reason: "The provider is not allowed to change a Manifest.",
			Object: after(xpv2.ReconcileError(errors.New("no")), one(v1alpha1.StateError, v1alpha1.ReasonBlocked)), Want: gitopstest.Refused,
		},
		"Paused": {
			Reason: "The built-in rule of Argo CD does not know paused resources.", Object: after(xpv2.ReconcilePaused(), ready...), OK: true,
			Want: gitopstest.Health{Kstatus: "Current", ArgoCD: "Degraded", Documented: "Suspended"},
		},
		"Deleting": {Reason: "The Kyma is being deleted.", Object: deleted, Want: gitopstest.Removed},
	})
}
