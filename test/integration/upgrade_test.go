// SPDX-License-Identifier: Apache-2.0

package integration

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

var _ = Describe("Changing a Manifest", func() {
	var s *space

	BeforeEach(func(ctx SpecContext) { s = newSpace(ctx) })

	It("prunes what a new version no longer has, and nothing else", func(ctx SpecContext) {
		foreign := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: s.name, Name: "foreign", Labels: map[string]string{"app": "web"}}}
		Expect(env.targetClient.Create(ctx, foreign)).To(Succeed())
		old := webChart().pushLayer(ctx)
		s.create(ctx, s.manifest("other", s.installOf("other", old, nil)))
		s.install(ctx, s.manifest("web", s.installOf("web", old, nil)))
		s.awaitReady(ctx, "other")
		others := s.mustConfigMap(ctx, "other-settings")
		deployment := s.mustDeployment(ctx, "web")

		s.update(ctx, "web", setSource(webChart2().pushLayer(ctx)))
		m := s.awaitReady(ctx, "web")
		Expect(m.Status.AtProvider.Version).To(Equal("2.0.0"))
		Expect(m.Status.AtProvider.Resources).To(HaveValue(Equal(v1alpha1.ResourceCounts{Ready: 4, Total: 4})))
		s.mustConfigMap(ctx, "web-options")
		Expect(gone(s.configMap)(ctx, "web-settings")).To(BeTrue())
		Eventually(s.events).WithContext(ctx).WithArguments("web").Should(ContainElement(SatisfyAll(
			ContainSubstring("Pruned"), ContainSubstring("ConfigMap "+s.name+"/web-settings"))))

		Expect(s.mustConfigMap(ctx, "foreign").ResourceVersion).To(Equal(foreign.ResourceVersion))
		Expect(s.mustConfigMap(ctx, "other-settings").ResourceVersion).To(Equal(others.ResourceVersion))
		Expect(s.mustDeployment(ctx, "web").UID).To(Equal(deployment.UID))
	})

	It("applies changed values", func(ctx SpecContext) {
		s.install(ctx, s.manifest("web", s.installOf("web", webChart().pushLayer(ctx), values{"message": "one"})))
		account := must(fetched(ctx, s.key("web"), &corev1.ServiceAccount{}))
		s.update(ctx, "web", setValues(values{"message": "two", "replicas": 3}))
		s.awaitReady(ctx, "web")
		Expect(s.mustConfigMap(ctx, "web-settings")).To(haveData("message", "two"))
		Expect(s.mustDeployment(ctx, "web").Status.AvailableReplicas).To(BeEquivalentTo(3))

		By("leaving alone what the values do not change")
		Expect(must(fetched(ctx, s.key("web"), &corev1.ServiceAccount{})).ResourceVersion).To(Equal(account.ResourceVersion))
	})

	It("goes back to an older digest", func(ctx SpecContext) {
		old, recent := webChart().pushLayer(ctx), webChart2().pushLayer(ctx)
		s.install(ctx, s.manifest("web", s.installOf("web", old, nil)))
		s.update(ctx, "web", setSource(recent))
		s.awaitReady(ctx, "web")
		s.update(ctx, "web", setSource(old))
		Expect(s.awaitReady(ctx, "web").Status.AtProvider.Version).To(Equal("1.0.0"))
		s.mustConfigMap(ctx, "web-settings")
		Expect(gone(s.configMap)(ctx, "web-options")).To(BeTrue())
	})

	It("keeps what works when the new version cannot be installed", func(ctx SpecContext) {
		s.install(ctx, s.manifest("web", s.installOf("web", webChart().pushLayer(ctx), nil)))
		broken := webChart2().with("templates/broken.yaml", `{{ fail "not this one" }}`).pushLayer(ctx)
		s.update(ctx, "web", setSource(broken))
		Eventually(s.get).WithContext(ctx).WithArguments("web").Should(SatisfyAll(
			notSynced("templates/broken.yaml:1", "not this one"), notReady("web", "not this one"), haveState(v1alpha1.StateError)))
		s.mustConfigMap(ctx, "web-settings")
		Expect(gone(s.configMap)(ctx, "web-options")).To(BeTrue())
	})

	It("adds an install and removes another", func(ctx SpecContext) {
		source := webChart().pushLayer(ctx)
		s.install(ctx, s.manifest("web", s.installOf("first", source, nil)))
		s.update(ctx, "web", func(m *v1alpha1.Manifest) {
			m.Spec.ForProvider.Installs = []v1alpha1.Install{s.installOf("second", source, nil)}
		})
		m := s.awaitReady(ctx, "web")
		Expect(m.Status.AtProvider.Installs).To(ConsistOf(v1alpha1.InstallStatus{Name: "second", State: v1alpha1.StateReady, Version: "1.0.0"}))
		s.mustDeployment(ctx, "second")
		Expect(gone(s.deployment)(ctx, "first")).To(BeTrue())
	})
})
