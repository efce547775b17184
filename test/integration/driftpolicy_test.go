// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

var _ = Describe("A drift policy", func() {
	var s *space

	BeforeEach(func(ctx SpecContext) { s = newSpace(ctx) })

	installed := func(ctx SpecContext, policy v1alpha1.DriftPolicy) {
		m := s.manifest("web", s.installOf("web", webChart().pushLayer(ctx), values{"replicas": 1}))
		m.Spec.ForProvider.Drift = policy
		s.install(ctx, m)
	}
	setPolicy := func(policy v1alpha1.DriftPolicy) func(m *v1alpha1.Manifest) {
		return func(m *v1alpha1.Manifest) { m.Spec.ForProvider.Drift = policy }
	}
	// detected are the events about drift that was found.
	detected := func(ctx context.Context) ([]string, error) {
		events, err := s.eventsOf(ctx, v1alpha1.ManifestKind, "web")
		return slices.DeleteFunc(events, func(e string) bool { return !strings.HasPrefix(e, "Warning DriftDetected") }), err
	}

	It("Report says what was changed, once, and writes nothing to the target", func(ctx SpecContext) {
		installed(ctx, v1alpha1.DriftPolicyReport)
		edit(ctx, s.mustDeployment(ctx, "web"), `{"spec":{"replicas":2}}`)
		edit(ctx, s.mustConfigMap(ctx, "web-settings"), `{"data":{"message":"hidden-value"}}`)
		config := s.mustConfigMap(ctx, "web-settings")
		what := "ConfigMap " + s.name + "/web-settings was changed at data.message; Deployment " + s.name + "/web was changed at spec.replicas"
		Eventually(s.get).WithContext(ctx).WithArguments("web").Should(SatisfyAll(
			haveDrift("ConfigMap "+s.name+"/web-settings", v1alpha1.DriftChangeChanged, "data.message"),
			haveDrift("Deployment "+s.name+"/web", v1alpha1.DriftChangeChanged, "spec.replicas"), synced(),
			haveState(v1alpha1.StateWarning, "was changed at"),
			haveCondition("Ready", corev1.ConditionTrue, ContainSubstring("was changed at")), readyBecause(v1alpha1.ReasonDrifted),
			HaveField("Status.AtProvider.Resources", HaveValue(Equal(v1alpha1.ResourceCounts{Ready: 4, Total: 4})))))
		Eventually(s.events).WithContext(ctx).WithArguments("web").Should(ContainElement("Warning DriftDetected Found drift, and leave it: " + what))

		By("being quiet about it from then on, and after a restart")
		awaitSettled(ctx)
		before, since := must(detected(ctx)), must(s.get(ctx, "web")).Status.AtProvider.Drift.ObservedTime
		Expect(len(before)).To(BeNumerically("<=", 2), "one for each of the two changes, at most: %q", before)
		Expect(env.provider.terminate(ctx)).To(Succeed())
		Expect(env.provider.start(ctx)).To(Succeed())
		awaitSettled(ctx)
		Expect(detected(ctx)).To(ConsistOf(before))
		Expect(must(s.get(ctx, "web")).Status.AtProvider.Drift.ObservedTime.Equal(&since)).To(BeTrue())
		Expect(must(env.provider.scrape(ctx)).requests(controlRequests)).To(writeNothing())
		Expect(s.mustConfigMap(ctx, "web-settings").ResourceVersion).To(Equal(config.ResourceVersion))
		s.expectNowhere(ctx, must(s.get(ctx, "web")), "hidden-value")

		By("not being Ready where an object is missing")
		Expect(env.targetClient.Delete(ctx, config)).To(Succeed())
		Eventually(s.get).WithContext(ctx).WithArguments("web").Should(SatisfyAll(
			notReady("was"), readyBecause(v1alpha1.ReasonDrifted), haveDrift("ConfigMap "+s.name+"/web-settings", v1alpha1.DriftChangeDeleted)))
		Consistently(gone(s.configMap)).WithContext(ctx).WithArguments("web-settings").Should(BeTrue())

		By("putting all back with Repair")
		s.update(ctx, "web", setPolicy(v1alpha1.DriftPolicyRepair))
		s.awaitMessage(ctx, "web-settings", "hello")
		Eventually(s.deployment).WithContext(ctx).WithArguments("web").Should(HaveField("Spec.Replicas", HaveValue(BeEquivalentTo(1))))
		s.awaitReady(ctx, "web")
	})

	It("Ignore leaves all as it is, and an upgrade applies what it changes", func(ctx SpecContext) {
		installed(ctx, v1alpha1.DriftPolicyIgnore)
		edit(ctx, s.mustDeployment(ctx, "web"), `{"spec":{"replicas":2}}`)
		Expect(env.targetClient.Delete(ctx, s.mustConfigMap(ctx, "web-settings"))).To(Succeed())
		Eventually(s.get).WithContext(ctx).WithArguments("web").Should(SatisfyAll(
			beReady(), haveState(v1alpha1.StateReady, "ConfigMap "+s.name+"/web-settings is missing"),
			HaveField("Status.AtProvider.Resources", HaveValue(Equal(v1alpha1.ResourceCounts{Ready: 3, Total: 4})))))
		Expect(s.mustDeployment(ctx, "web").Spec.Replicas).To(HaveValue(BeEquivalentTo(2)))

		s.update(ctx, "web", setValues(values{"replicas": 1, "password": "x"}))
		Eventually(s.get).WithContext(ctx).WithArguments("web").Should(HaveField("Status.AtProvider.Resources.Total", BeEquivalentTo(5)))
		s.awaitReady(ctx, "web")
		Expect(s.mustDeployment(ctx, "web").Spec.Replicas).To(HaveValue(BeEquivalentTo(2)))
		s.update(ctx, "web", setValues(values{"replicas": 1, "message": "new"}))
		s.awaitMessage(ctx, "web-settings", "new")
		Expect(s.events(ctx, "web")).NotTo(ContainElement(ContainSubstring("DriftDetected")))
	})
})
