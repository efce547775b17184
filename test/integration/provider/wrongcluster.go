// SPDX-License-Identifier: Apache-2.0

package provider

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"

	. "github.com/crossplane-contrib/provider-kyma/test/integration/harness"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

var _ = Describe("A ProviderConfig that points to another cluster", func() {
	var s *Space

	BeforeEach(func(ctx SpecContext) { s = NewSpace(ctx) })

	It("changes nothing until an annotation confirms it", func(ctx SpecContext) {
		first, second := uidOf(ctx, Env.TargetClient), uidOf(ctx, Env.ControlClient)
		lead := func(data []byte) {
			s.Secret(ctx, "moving", corev1.SecretTypeOpaque, map[string][]byte{KubeconfigKey: data})
		}
		wrong := SatisfyAll(NotSynced(first, second), ReadyBecause(v1alpha1.ReasonWrongCluster))
		settings := func(ctx SpecContext) error {
			return Env.ControlClient.Get(ctx, s.Key("web-settings"), &corev1.ConfigMap{})
		}

		s.Config(ctx, "moving", Env.Target.Kubeconfig())
		m := s.Manifest("web", s.InstallOf("web", WebChart().PushLayer(ctx), Values{"workload": false}))
		m.Spec.ProviderConfigReference.Name = "moving"
		s.Install(ctx, m)
		Eventually(s.Get).WithContext(ctx).WithArguments("web").Should(HaveField("Status.AtProvider.ClusterUID", first))
		Eventually(func(ctx SpecContext) (string, error) {
			pc := &v1alpha1.ProviderConfig{}
			err := Env.ControlClient.Get(ctx, s.Key("moving"), pc)
			return pc.Status.ClusterUID, err
		}).WithContext(ctx).Should(Equal(first))

		By("changing the kubeconfig to another cluster")
		lead(Env.Control.Kubeconfig())
		Eventually(s.Get).WithContext(ctx).WithArguments("web").Should(wrong)
		Expect(settings(ctx)).To(BeNotFound())
		Expect(s.Leftovers(ctx, Env.Control)).To(BeEmpty())
		Expect(s.MustConfigMap(ctx, "web-settings").UID).NotTo(BeEmpty())

		By("changing the kubeconfig back")
		lead(Env.Target.Kubeconfig())
		s.AwaitReady(ctx, "web")

		By("confirming the other cluster with the annotation")
		lead(Env.Control.Kubeconfig())
		Eventually(s.Get).WithContext(ctx).WithArguments("web").Should(wrong)
		s.Update(ctx, "web", Annotate[*v1alpha1.Manifest](v1alpha1.AnnotationClusterChanged, second))
		s.AwaitReady(ctx, "web")
		Eventually(s.Get).WithContext(ctx).WithArguments("web").Should(HaveField("Status.AtProvider.ClusterUID", second))
		Expect(settings(ctx)).To(Succeed())

		By("deleting the Manifest while the kubeconfig is that of the first cluster")
		lead(Env.Target.Kubeconfig())
		Eventually(s.Get).WithContext(ctx).WithArguments("web").Should(wrong)
		Expect(Env.ControlClient.Delete(ctx, Must(s.Get(ctx, "web")))).To(Succeed())
		Eventually(s.Get).WithContext(ctx).WithArguments("web").Should(SatisfyAll(
			HaveField("DeletionTimestamp", Not(BeNil())), HaveState(v1alpha1.StateDeleting), ReadyBecause(v1alpha1.ReasonWrongCluster)))
		Expect(settings(ctx)).To(Succeed())
		Expect(s.MustConfigMap(ctx, "web-settings").UID).NotTo(BeEmpty())
		lead(Env.Control.Kubeconfig())
		s.Remove(ctx, "web")
		Expect(settings(ctx)).To(BeNotFound())
		Expect(s.Leftovers(ctx, Env.Control)).To(BeEmpty())

		By("adopting the objects in the first cluster")
		s.Install(ctx, s.Manifest("web", s.InstallOf("web", WebChart().PushLayer(ctx), Values{"workload": false})))
		s.Remove(ctx, "web")
		Expect(s.Leftovers(ctx, Env.Target)).To(BeEmpty())
	})
})
