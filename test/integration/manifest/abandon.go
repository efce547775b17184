// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"

	. "github.com/crossplane-contrib/provider-kyma/test/integration/harness"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
)

var _ = Describe("A cluster that no longer exists", func() {
	const hint = "if the cluster no longer exists, annotate the Manifest with kyma.m.crossplane.io/abandon=true"

	// abandon annotates a Manifest so that its deletion does not wait for the cluster.
	abandon := func(m *v1alpha1.Manifest) {
		metav1.SetMetaDataAnnotation(&m.ObjectMeta, v1alpha1.AnnotationAbandon, "true")
	}
	abandoned := func(says ...string) func(ctx context.Context, s *Space, name string) {
		return func(ctx context.Context, s *Space, name string) {
			GinkgoHelper()
			Eventually(Events).WithContext(ctx).WithArguments(s, name).Should(ContainElement(SatisfyAll(HavePrefix("Warning Abandoned"), ContainAll(says))))
		}
	}

	It("is abandoned only if the annotation requests it", func(ctx SpecContext) {
		edge := Must(controlplane.Start(ctx, controlplane.Options{Name: "edge"}))
		DeferCleanup(edge.Stop)
		s := NewSpace(ctx)
		s.Config(ctx, "edge", edge.Kubeconfig())
		source := WebChart().PushLayer(ctx)
		s.Create(ctx, With(s.Manifest("early", s.InstallOf("early", source, Values{"workload": false})), "edge"))
		s.Install(ctx, With(s.Manifest("web", s.InstallOf("web", source, Values{"workload": false})), "edge"))
		s.AwaitReady(ctx, "early")

		By("removing as usual while the cluster responds")
		s.Update(ctx, "early", abandon)
		s.Remove(ctx, "early")
		Expect(s.Leftovers(ctx, edge)).NotTo(ContainElement(ContainSubstring("early")))
		Expect(Events(ctx, s, "early")).NotTo(ContainElement(ContainSubstring("Abandoned")))

		By("waiting for a cluster that does not respond")
		edge.StopAPIServer()
		s.Delete(ctx, "web")
		Eventually(s.Get).WithContext(ctx).WithArguments("web").Should(SatisfyAll(
			NotReady("connection refused", hint), HaveState(v1alpha1.StateDeleting, edge.URL(), "connection refused", hint)))
		Consistently(Gone(s.Get)).WithContext(ctx).WithArguments("web").WithTimeout(5 * Calm).Should(BeFalse())
		Expect(Events(ctx, s, "web")).NotTo(ContainElement(ContainSubstring("Abandoned")))

		By("orphaning the objects after the annotation is set")
		s.Update(ctx, "web", abandon)
		Eventually(Gone(s.Get)).WithContext(ctx).WithArguments("web").WithTimeout(Patience / 2).Should(BeTrue())
		abandoned("ProviderConfig "+s.Name+"/edge", "inventory Secret "+s.Name+".web", "install web 1.0.0 in namespace "+s.Name,
			" objects;", "connection refused")(ctx, s, "web")
	})

	It("is abandoned if its ProviderConfig or kubeconfig was deleted, too", func(ctx SpecContext) {
		s := NewSpace(ctx)
		s.Config(ctx, Own, Env.Target.Kubeconfig())
		s.Install(ctx, With(Web(s, WebChart().PushLayer(ctx)), Own))

		By("stopping the provider, which closes its connection")
		Expect(Env.Provider.Terminate(ctx)).To(Succeed())
		DeferCleanup(func(ctx SpecContext) {
			if Env.Provider.Process.State() != nil {
				Expect(Env.Provider.Start(ctx)).To(Succeed())
			}
		})
		SecretGone(ctx, s, Own)
		s.Delete(ctx, "web")
		Expect(Env.Provider.Start(ctx)).To(Succeed())
		Eventually(s.Get).WithContext(ctx).WithArguments("web").Should(
			HaveState(v1alpha1.StateDeleting, "Secret "+s.Name+"/own does not exist", hint))
		Consistently(Gone(s.Get)).WithContext(ctx).WithArguments("web").Should(BeFalse())

		s.Update(ctx, "web", abandon)
		Eventually(Gone(s.Get)).WithContext(ctx).WithArguments("web").WithTimeout(Patience / 2).Should(BeTrue())
		abandoned("ProviderConfig "+s.Name+"/own", "Secret "+s.Name+"/own does not exist")(ctx, s, "web")

		By("keeping the objects that the event lists")
		s.MustConfigMap(ctx, "web-settings")
		inventory := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: InventoryNamespace, Name: s.Name + ".web"}}
		Expect(Env.TargetClient.Delete(ctx, inventory)).To(Succeed())
	})
})
