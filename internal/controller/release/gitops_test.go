// SPDX-License-Identifier: Apache-2.0

package release

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/gitopstest"
)

// TestGitOps checks how GitOps tools assess a ModuleReleaseMeta.
func TestGitOps(t *testing.T) {
	// with returns a release whose rollout is in a phase.
	with := func(phase v1alpha1.RolloutPhase, change ...func(m *v1alpha1.ModuleReleaseMeta)) *v1alpha1.ModuleReleaseMeta {
		m := newRelease("1.1.0", "regular")
		m.Status.Channels = []v1alpha1.ChannelRollout{*in(phase, 0, "canary")}
		m.Status.Channels[0].Message = "1 Kyma failed in wave canary"
		setConditions(m, "", false)
		for _, f := range change {
			f(m)
		}
		return m
	}
	// after returns a release after a pass in a control plane with some objects.
	after := func(objects ...client.Object) *v1alpha1.ModuleReleaseMeta {
		b := newBench(t, append(objects, newRelease("1.1.0", "regular"))...)
		b.reconcile(t)
		return b.get(t)
	}
	sibling := newRelease("1.1.0", "regular")
	sibling.Name = "sibling"
	changed := func(m *v1alpha1.ModuleReleaseMeta) { m.Generation++ }
	deleted := func(m *v1alpha1.ModuleReleaseMeta) { m.DeletionTimestamp = &metav1.Time{Time: noon} }
	gitopstest.Check(t, map[string]gitopstest.Case{
		"Complete":    {Reason: "Each Kyma has the version.", Object: with(v1alpha1.RolloutComplete), OK: true, Want: gitopstest.Works},
		"Progressing": {Reason: "The version spreads.", Object: with(v1alpha1.RolloutProgressing), Want: gitopstest.Waits},
		"Paused":      {Reason: "A person has paused the rollout, and will resume it.", Object: with(v1alpha1.RolloutPaused), Want: gitopstest.Waits},
		"Failed":      {Reason: "The rollout failed, so someone must act.", Object: with(v1alpha1.RolloutFailed), Want: gitopstest.Failed},
		"RollingBack": {Reason: "Its wave is rolled back.", Object: with(v1alpha1.RolloutRollingBack), Want: gitopstest.Failed},
		"RolledBack":  {Reason: "Its wave has the version before.", Object: with(v1alpha1.RolloutRolledBack), Want: gitopstest.Failed},
		"Sibling":     {Reason: "Another release has the module.", Object: after(newPolicy(), newTemplate("1.1.0"), sibling), Want: gitopstest.Failed},
		"NoPolicy":    {Reason: "A GitOps tool can create the policy later.", Object: after(newTemplate("1.1.0")), Want: gitopstest.Waits},
		"NoTemplate":  {Reason: "It can also create the ModuleTemplate later.", Object: after(newPolicy()), Want: gitopstest.Waits},
		"Changed": {
			Reason: "The built-in rule of Argo CD does not compare generations; the next pass comes within a second.", Object: with(v1alpha1.RolloutComplete, changed),
			Stale: true, Want: gitopstest.Health{Kstatus: "InProgress", ArgoCD: "Healthy", Documented: "Progressing"},
		},
		"Deleting": {Reason: "The release is being deleted.", Object: with(v1alpha1.RolloutComplete, deleted), Want: gitopstest.Removed},
	})
}
