// SPDX-License-Identifier: Apache-2.0

package drift

import (
	"context"
	"slices"
	"strings"

	. "github.com/crossplane-contrib/provider-kyma/test/integration/harness"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

var _ = Describe("A drift policy", func() {
	var s *Space

	BeforeEach(func(ctx SpecContext) { s = NewSpace(ctx) })

	installed := func(ctx SpecContext, policy v1alpha1.DriftPolicy) {
		m := s.Manifest("web", s.InstallOf("web", WebChart().PushLayer(ctx), Values{"replicas": 1}))
		m.Spec.ForProvider.Drift = policy
		s.Install(ctx, m)
	}
	setPolicy := func(policy v1alpha1.DriftPolicy) func(m *v1alpha1.Manifest) {
		return func(m *v1alpha1.Manifest) { m.Spec.ForProvider.Drift = policy }
	}
	// detected returns the events DriftDetected.
	detected := func(ctx context.Context) ([]string, error) {
		events, err := s.EventsOf(ctx, v1alpha1.ManifestKind, "web")
		return slices.DeleteFunc(events, func(e string) bool { return !strings.HasPrefix(e, "Warning DriftDetected") }), err
	}

	It("Report reports each change once, and writes nothing to the target cluster", func(ctx SpecContext) {
		installed(ctx, v1alpha1.DriftPolicyReport)
		Edit(ctx, s.MustDeployment(ctx, "web"), `{"spec":{"replicas":2}}`)
		Edit(ctx, s.MustConfigMap(ctx, "web-settings"), `{"data":{"message":"hidden-value"}}`)
		config := s.MustConfigMap(ctx, "web-settings")
		what := "ConfigMap " + s.Name + "/web-settings was changed at data.message; Deployment " + s.Name + "/web was changed at spec.replicas"
		Eventually(s.Get).WithContext(ctx).WithArguments("web").Should(SatisfyAll(
			HaveDrift("ConfigMap "+s.Name+"/web-settings", v1alpha1.DriftChangeChanged, "data.message"),
			HaveDrift("Deployment "+s.Name+"/web", v1alpha1.DriftChangeChanged, "spec.replicas"), Synced(),
			HaveState(v1alpha1.StateWarning, "was changed at"),
			HaveCondition("Ready", corev1.ConditionTrue, ContainSubstring("was changed at")), ReadyBecause(v1alpha1.ReasonDrifted),
			HaveField("Status.AtProvider.Resources", HaveValue(Equal(v1alpha1.ResourceCounts{Ready: 4, Total: 4})))))
		Eventually(Events).WithContext(ctx).WithArguments(s, "web").Should(ContainElement(HavePrefix("Warning DriftDetected Drift detected, but not repaired (spec.forProvider.drift is Report): " + what)))

		By("not reporting it again, even after a restart")
		AwaitIdle(ctx)
		before, since := Must(detected(ctx)), Must(s.Get(ctx, "web")).Status.AtProvider.Drift.ObservedTime
		Expect(len(before)).To(BeNumerically("<=", 2), "one for each of the two changes, at most: %q", before)
		Expect(Env.Provider.Terminate(ctx)).To(Succeed())
		Expect(Env.Provider.Start(ctx)).To(Succeed())
		AwaitIdle(ctx)
		Expect(detected(ctx)).To(ConsistOf(before))
		Expect(Must(s.Get(ctx, "web")).Status.AtProvider.Drift.ObservedTime.Equal(&since)).To(BeTrue())
		Expect(Must(Env.Provider.Scrape(ctx)).Requests(ControlRequests)).To(WriteNothing())
		Expect(s.MustConfigMap(ctx, "web-settings").ResourceVersion).To(Equal(config.ResourceVersion))
		ExpectNowhere(ctx, s, Must(s.Get(ctx, "web")), "hidden-value")

		By("not being Ready while an object is missing")
		Expect(Env.TargetClient.Delete(ctx, config)).To(Succeed())
		Eventually(s.Get).WithContext(ctx).WithArguments("web").Should(SatisfyAll(
			NotReady("was"), ReadyBecause(v1alpha1.ReasonDrifted), HaveDrift("ConfigMap "+s.Name+"/web-settings", v1alpha1.DriftChangeDeleted)))
		Consistently(Gone(s.ConfigMap)).WithContext(ctx).WithArguments("web-settings").Should(BeTrue())

		By("repairing everything with Repair")
		s.Update(ctx, "web", setPolicy(v1alpha1.DriftPolicyRepair))
		s.AwaitMessage(ctx, "web-settings", "hello")
		Eventually(s.Deployment).WithContext(ctx).WithArguments("web").Should(HaveField("Spec.Replicas", HaveValue(BeEquivalentTo(1))))
		s.AwaitReady(ctx, "web")
	})

	It("Ignore repairs nothing, and an upgrade applies only its own changes", func(ctx SpecContext) {
		installed(ctx, v1alpha1.DriftPolicyIgnore)
		Edit(ctx, s.MustDeployment(ctx, "web"), `{"spec":{"replicas":2}}`)
		Expect(Env.TargetClient.Delete(ctx, s.MustConfigMap(ctx, "web-settings"))).To(Succeed())
		Eventually(s.Get).WithContext(ctx).WithArguments("web").Should(SatisfyAll(
			BeReady(), HaveState(v1alpha1.StateReady, "ConfigMap "+s.Name+"/web-settings is missing"),
			HaveField("Status.AtProvider.Resources", HaveValue(Equal(v1alpha1.ResourceCounts{Ready: 3, Total: 4})))))
		Expect(s.MustDeployment(ctx, "web").Spec.Replicas).To(HaveValue(BeEquivalentTo(2)))

		s.Update(ctx, "web", SetValues(Values{"replicas": 1, "password": "x"}))
		Eventually(s.Get).WithContext(ctx).WithArguments("web").Should(HaveField("Status.AtProvider.Resources.Total", BeEquivalentTo(5)))
		s.AwaitReady(ctx, "web")
		Expect(s.MustDeployment(ctx, "web").Spec.Replicas).To(HaveValue(BeEquivalentTo(2)))
		s.Update(ctx, "web", SetValues(Values{"replicas": 1, "message": "new"}))
		s.AwaitMessage(ctx, "web-settings", "new")
		Expect(Events(ctx, s, "web")).NotTo(ContainElement(ContainSubstring("DriftDetected")))
	})
})
