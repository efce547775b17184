// SPDX-License-Identifier: Apache-2.0

package upgrade

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	. "github.com/crossplane-contrib/provider-kyma/test/integration/harness"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

var _ = Describe("Changing a Manifest", func() {
	var s *Space

	BeforeEach(func(ctx SpecContext) { s = NewSpace(ctx) })

	It("prunes the objects that a new version no longer has, and nothing else", func(ctx SpecContext) {
		foreign := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: s.Name, Name: "foreign", Labels: map[string]string{"app": "web"}}}
		Expect(Env.TargetClient.Create(ctx, foreign)).To(Succeed())
		old := WebChart().PushLayer(ctx)
		s.Create(ctx, s.Manifest("other", s.InstallOf("other", old, nil)))
		s.Install(ctx, s.Manifest("web", s.InstallOf("web", old, nil)))
		s.AwaitReady(ctx, "other")
		others := s.MustConfigMap(ctx, "other-settings")
		deployment := s.MustDeployment(ctx, "web")

		s.Update(ctx, "web", SetSource(WebChart2().PushLayer(ctx)))
		m := s.AwaitReady(ctx, "web")
		Expect(m.Status.AtProvider.Version).To(Equal("2.0.0"))
		Expect(m.Status.AtProvider.Resources).To(HaveValue(Equal(v1alpha1.ResourceCounts{Ready: 4, Total: 4})))
		s.MustConfigMap(ctx, "web-options")
		Expect(Gone(s.ConfigMap)(ctx, "web-settings")).To(BeTrue())
		Eventually(Events).WithContext(ctx).WithArguments(s, "web").Should(ContainElement(SatisfyAll(
			ContainSubstring("Pruned"), ContainSubstring("ConfigMap "+s.Name+"/web-settings"))))

		Expect(s.MustConfigMap(ctx, "foreign").ResourceVersion).To(Equal(foreign.ResourceVersion))
		Expect(s.MustConfigMap(ctx, "other-settings").ResourceVersion).To(Equal(others.ResourceVersion))
		Expect(s.MustDeployment(ctx, "web").UID).To(Equal(deployment.UID))
	})

	It("applies changed values", func(ctx SpecContext) {
		s.Install(ctx, s.Manifest("web", s.InstallOf("web", WebChart().PushLayer(ctx), Values{"message": "one"})))
		account := Must(Fetched(ctx, s.Key("web"), &corev1.ServiceAccount{}))
		s.Update(ctx, "web", SetValues(Values{"message": "two", "replicas": 3}))
		s.AwaitReady(ctx, "web")
		Expect(s.MustConfigMap(ctx, "web-settings")).To(HaveData("message", "two"))
		Expect(s.MustDeployment(ctx, "web").Status.AvailableReplicas).To(BeEquivalentTo(3))

		By("not changing other objects")
		Expect(Must(Fetched(ctx, s.Key("web"), &corev1.ServiceAccount{})).ResourceVersion).To(Equal(account.ResourceVersion))
	})

	It("can return to an older digest", func(ctx SpecContext) {
		old, recent := WebChart().PushLayer(ctx), WebChart2().PushLayer(ctx)
		s.Install(ctx, s.Manifest("web", s.InstallOf("web", old, nil)))
		s.Update(ctx, "web", SetSource(recent))
		s.AwaitReady(ctx, "web")
		s.Update(ctx, "web", SetSource(old))
		Expect(s.AwaitReady(ctx, "web").Status.AtProvider.Version).To(Equal("1.0.0"))
		s.MustConfigMap(ctx, "web-settings")
		Expect(Gone(s.ConfigMap)(ctx, "web-options")).To(BeTrue())
	})

	It("keeps the old version if the new one cannot be installed", func(ctx SpecContext) {
		s.Install(ctx, s.Manifest("web", s.InstallOf("web", WebChart().PushLayer(ctx), nil)))
		broken := WebChart2().With("templates/broken.yaml", `{{ fail "not this one" }}`).PushLayer(ctx)
		s.Update(ctx, "web", SetSource(broken))
		Eventually(s.Get).WithContext(ctx).WithArguments("web").Should(SatisfyAll(
			NotSynced("templates/broken.yaml:1", "not this one"), NotReady("web", "not this one"), HaveState(v1alpha1.StateError)))
		s.MustConfigMap(ctx, "web-settings")
		Expect(Gone(s.ConfigMap)(ctx, "web-options")).To(BeTrue())
	})

	It("can add an install and remove another one", func(ctx SpecContext) {
		source := WebChart().PushLayer(ctx)
		s.Install(ctx, s.Manifest("web", s.InstallOf("first", source, nil)))
		s.Update(ctx, "web", func(m *v1alpha1.Manifest) {
			m.Spec.ForProvider.Installs = []v1alpha1.Install{s.InstallOf("second", source, nil)}
		})
		m := s.AwaitReady(ctx, "web")
		Expect(m.Status.AtProvider.Installs).To(ConsistOf(v1alpha1.InstallStatus{Name: "second", State: v1alpha1.StateReady, Version: "1.0.0"}))
		s.MustDeployment(ctx, "second")
		Expect(Gone(s.Deployment)(ctx, "first")).To(BeTrue())
	})
})
