// SPDX-License-Identifier: Apache-2.0

package integration

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

var _ = Describe("An object that exists already", func() {
	var s *space

	BeforeEach(func(ctx SpecContext) { s = newSpace(ctx) })

	It("is left alone and reported, and taken over when that is asked for", func(ctx SpecContext) {
		foreign := &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: s.name, Name: "web-settings"}, Data: map[string]string{"message": "foreign", "own": "kept"},
		}
		Expect(env.targetClient.Create(ctx, foreign)).To(Succeed())
		s.create(ctx, s.manifest("web", s.installOf("web", webChart().pushLayer(ctx), nil)))
		Eventually(s.get).WithContext(ctx).WithArguments("web").Should(SatisfyAll(
			notSynced("ConfigMap "+s.name+"/web-settings", "exists and does not belong to this module", "adopt"),
			notReady("ConfigMap "+s.name+"/web-settings", "exists and does not belong to this module"), readyBecause(v1alpha1.ReasonModuleFailed),
			haveState(v1alpha1.StateError),
			haveInstall("web", v1alpha1.StateError, "web-settings")))
		Expect(s.mustConfigMap(ctx, "web-settings").ResourceVersion).To(Equal(foreign.ResourceVersion))

		s.update(ctx, "web", func(m *v1alpha1.Manifest) { m.Spec.ForProvider.Adoption = v1alpha1.AdoptionPolicyAdopt })
		s.awaitReady(ctx, "web")
		taken := s.mustConfigMap(ctx, "web-settings")
		Expect(taken.UID).To(Equal(foreign.UID))
		Expect(taken.Data).To(Equal(map[string]string{"message": "hello", "level": "info", "own": "kept"}))
		Expect(taken.Labels).To(HaveKeyWithValue(labelManagedBy, managedBy))
	})

	It("stays when the Manifest that it was in the way of is removed", func(ctx SpecContext) {
		foreign := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: s.name, Name: "web-settings"}}
		Expect(env.targetClient.Create(ctx, foreign)).To(Succeed())
		s.create(ctx, s.manifest("web", s.installOf("web", webChart().pushLayer(ctx), nil)))
		Eventually(s.get).WithContext(ctx).WithArguments("web").Should(notSynced("web-settings"))
		s.remove(ctx, "web")
		Expect(s.mustConfigMap(ctx, "web-settings").ResourceVersion).To(Equal(foreign.ResourceVersion))
		Expect(s.leftovers(ctx, env.target)).To(BeEmpty())
	})

	It("belongs to the Manifest that was first", func(ctx SpecContext) {
		source := webChart().pushLayer(ctx)
		s.install(ctx, s.manifest("first", s.installOf("first", source, values{"shared": "shared"})))
		shared := s.mustConfigMap(ctx, "shared")
		s.create(ctx, s.manifest("second", s.installOf("second", source, values{"shared": "shared"})))
		Eventually(s.get).WithContext(ctx).WithArguments("second").Should(SatisfyAll(
			notSynced("ConfigMap "+s.name+"/shared", "belongs to Manifest "+s.name+"/first"), haveState(v1alpha1.StateError)))
		Expect(s.mustConfigMap(ctx, "shared").ResourceVersion).To(Equal(shared.ResourceVersion))
		s.awaitReady(ctx, "first")

		By("going with the first, after which the second gets its own")
		s.remove(ctx, "first")
		s.awaitReady(ctx, "second")
		Expect(s.mustConfigMap(ctx, "shared")).To(haveData("owner", "second"))
	})

	It("is not shared with a copy of its Manifest", func(ctx SpecContext) {
		s.install(ctx, s.manifest("web", s.installOf("web", webChart().pushLayer(ctx), nil)))
		before := s.mustConfigMap(ctx, "web-settings")

		By("copying the Manifest with its annotations, as kubectl get, sed and kubectl apply do")
		second, err := s.get(ctx, "web")
		Expect(err).NotTo(HaveOccurred())
		second.ObjectMeta = metav1.ObjectMeta{Namespace: s.name, Name: "web2", Annotations: second.Annotations, Finalizers: second.Finalizers}
		Expect(second.Annotations).To(HaveKey("crossplane.io/external-name"))
		second.Spec.ForProvider.Installs[0].Name = "web2"
		s.create(ctx, second)
		owned := "is the inventory of Manifest " + s.name + "/web"
		Eventually(s.get).WithContext(ctx).WithArguments("web2").Should(SatisfyAll(
			notSynced(owned, "adopt"), haveState(v1alpha1.StateError)))

		By("deleting the copy")
		s.remove(ctx, "web2")
		Eventually(s.events).WithContext(ctx).WithArguments("web2").Should(ContainElement(SatisfyAll(
			HavePrefix("Warning LeftBehind Nothing was removed: "), ContainSubstring(owned))))
		Expect(s.mustConfigMap(ctx, "web-settings").ResourceVersion).To(Equal(before.ResourceVersion))
		s.awaitReady(ctx, "web")
		s.remove(ctx, "web")
		Expect(s.leftovers(ctx, env.target)).To(BeEmpty())
	})
})
