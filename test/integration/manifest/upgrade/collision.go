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

var _ = Describe("An object that already exists", func() {
	var s *Space

	BeforeEach(func(ctx SpecContext) { s = NewSpace(ctx) })

	It("is reported and not changed, unless adoption is requested", func(ctx SpecContext) {
		foreign := &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: s.Name, Name: "web-settings"}, Data: map[string]string{"message": "foreign", "own": "kept"},
		}
		Expect(Env.TargetClient.Create(ctx, foreign)).To(Succeed())
		s.Create(ctx, s.Manifest("web", s.InstallOf("web", WebChart().PushLayer(ctx), nil)))
		Eventually(s.Get).WithContext(ctx).WithArguments("web").Should(SatisfyAll(
			NotSynced("ConfigMap "+s.Name+"/web-settings", "already exists and does not belong to this module", "adopt"),
			NotReady("ConfigMap "+s.Name+"/web-settings", "already exists and does not belong to this module"), ReadyBecause(v1alpha1.ReasonModuleFailed),
			HaveState(v1alpha1.StateError),
			HaveInstall("web", v1alpha1.StateError, "web-settings")))
		Expect(s.MustConfigMap(ctx, "web-settings").ResourceVersion).To(Equal(foreign.ResourceVersion))

		s.Update(ctx, "web", func(m *v1alpha1.Manifest) { m.Spec.ForProvider.Adoption = v1alpha1.AdoptionPolicyAdopt })
		s.AwaitReady(ctx, "web")
		taken := s.MustConfigMap(ctx, "web-settings")
		Expect(taken.UID).To(Equal(foreign.UID))
		Expect(taken.Data).To(Equal(map[string]string{"message": "hello", "level": "info", "own": "kept"}))
		Expect(taken.Labels).To(HaveKeyWithValue(LabelManagedBy, ManagedBy))
	})

	It("stays when the Manifest that it conflicts with is removed", func(ctx SpecContext) {
		foreign := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: s.Name, Name: "web-settings"}}
		Expect(Env.TargetClient.Create(ctx, foreign)).To(Succeed())
		s.Create(ctx, s.Manifest("web", s.InstallOf("web", WebChart().PushLayer(ctx), nil)))
		Eventually(s.Get).WithContext(ctx).WithArguments("web").Should(NotSynced("web-settings"))
		s.Remove(ctx, "web")
		Expect(s.MustConfigMap(ctx, "web-settings").ResourceVersion).To(Equal(foreign.ResourceVersion))
		Expect(s.Leftovers(ctx, Env.Target)).To(BeEmpty())
	})

	It("belongs to the Manifest that applied it first", func(ctx SpecContext) {
		source := WebChart().PushLayer(ctx)
		s.Install(ctx, s.Manifest("first", s.InstallOf("first", source, Values{"shared": "shared"})))
		shared := s.MustConfigMap(ctx, "shared")
		s.Create(ctx, s.Manifest("second", s.InstallOf("second", source, Values{"shared": "shared"})))
		Eventually(s.Get).WithContext(ctx).WithArguments("second").Should(SatisfyAll(
			NotSynced("ConfigMap "+s.Name+"/shared", "belongs to Manifest "+s.Name+"/first"), HaveState(v1alpha1.StateError)))
		Expect(s.MustConfigMap(ctx, "shared").ResourceVersion).To(Equal(shared.ResourceVersion))
		s.AwaitReady(ctx, "first")

		By("removing the first Manifest, after which the second one creates the object")
		s.Remove(ctx, "first")
		s.AwaitReady(ctx, "second")
		Expect(s.MustConfigMap(ctx, "shared")).To(HaveData("owner", "second"))
	})

	It("is not changed by a copy of its Manifest", func(ctx SpecContext) {
		s.Install(ctx, s.Manifest("web", s.InstallOf("web", WebChart().PushLayer(ctx), nil)))
		before := s.MustConfigMap(ctx, "web-settings")

		By("copying the Manifest with its annotations, as kubectl get, sed and kubectl apply do")
		second, err := s.Get(ctx, "web")
		Expect(err).NotTo(HaveOccurred())
		second.ObjectMeta = metav1.ObjectMeta{Namespace: s.Name, Name: "web2", Annotations: second.Annotations, Finalizers: second.Finalizers}
		Expect(second.Annotations).To(HaveKey("crossplane.io/external-name"))
		second.Spec.ForProvider.Installs[0].Name = "web2"
		s.Create(ctx, second)
		owned := "is the inventory of Manifest " + s.Name + "/web"
		Eventually(s.Get).WithContext(ctx).WithArguments("web2").Should(SatisfyAll(
			NotSynced(owned, "adopt"), HaveState(v1alpha1.StateError)))

		By("deleting the copy")
		s.Remove(ctx, "web2")
		Eventually(Events).WithContext(ctx).WithArguments(s, "web2").Should(ContainElement(SatisfyAll(
			HavePrefix("Warning LeftBehind Removed no objects: "), ContainSubstring(owned))))
		Expect(s.MustConfigMap(ctx, "web-settings").ResourceVersion).To(Equal(before.ResourceVersion))
		s.AwaitReady(ctx, "web")
		s.Remove(ctx, "web")
		Expect(s.Leftovers(ctx, Env.Target)).To(BeEmpty())
	})
})
