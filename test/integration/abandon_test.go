// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
)

var _ = Describe("A cluster that is gone for good", func() {
	const tells = "if the cluster is gone for good, annotate with kyma.m.crossplane.io/abandon=true"

	// abandon says that no one need wait for the cluster of a Manifest.
	abandon := func(m *v1alpha1.Manifest) {
		metav1.SetMetaDataAnnotation(&m.ObjectMeta, v1alpha1.AnnotationAbandon, "true")
	}
	abandoned := func(says ...string) func(ctx context.Context, s *space, name string) {
		return func(ctx context.Context, s *space, name string) {
			GinkgoHelper()
			Eventually(s.events).WithContext(ctx).WithArguments(name).Should(ContainElement(SatisfyAll(HavePrefix("Warning Abandoned"), containAll(says))))
		}
	}

	It("is given up when someone says so, and only then", func(ctx SpecContext) {
		edge := must(controlplane.Start(ctx, controlplane.Options{Name: "edge"}))
		DeferCleanup(edge.Stop)
		s := newSpace(ctx)
		s.config(ctx, "edge", edge.Kubeconfig())
		source := webChart().pushLayer(ctx)
		s.create(ctx, with(s.manifest("early", s.installOf("early", source, values{"workload": false})), "edge"))
		s.install(ctx, with(s.manifest("web", s.installOf("web", source, values{"workload": false})), "edge"))
		s.awaitReady(ctx, "early")

		By("removing as ever while the cluster answers")
		s.update(ctx, "early", abandon)
		s.remove(ctx, "early")
		Expect(s.leftovers(ctx, edge)).NotTo(ContainElement(ContainSubstring("early")))
		Expect(s.events(ctx, "early")).NotTo(ContainElement(ContainSubstring("Abandoned")))

		By("waiting for a cluster that does not answer")
		edge.StopAPIServer()
		s.delete(ctx, "web")
		Eventually(s.get).WithContext(ctx).WithArguments("web").Should(SatisfyAll(
			notReady("connection refused", tells), haveState(v1alpha1.StateDeleting, edge.URL(), "connection refused", tells)))
		Consistently(gone(s.get)).WithContext(ctx).WithArguments("web").WithTimeout(5 * calm).Should(BeFalse())
		Expect(s.events(ctx, "web")).NotTo(ContainElement(ContainSubstring("Abandoned")))

		By("orphaning it once it is said")
		s.update(ctx, "web", abandon)
		Eventually(gone(s.get)).WithContext(ctx).WithArguments("web").WithTimeout(patience / 2).Should(BeTrue())
		abandoned("ProviderConfig "+s.name+"/edge", "inventory Secret "+s.name+".web", "install web 1.0.0 in namespace "+s.name,
			" objects;", "connection refused")(ctx, s, "web")
	})

	It("is given up too when the way to it was deleted", func(ctx SpecContext) {
		s := newSpace(ctx)
		s.config(ctx, own, env.target.Kubeconfig())
		s.install(ctx, with(s.web(webChart().pushLayer(ctx)), own))

		By("forgetting the connection that stands")
		Expect(env.provider.terminate(ctx)).To(Succeed())
		DeferCleanup(func(ctx SpecContext) {
			if env.provider.process.State() != nil {
				Expect(env.provider.start(ctx)).To(Succeed())
			}
		})
		s.secretGone(ctx, own)
		s.delete(ctx, "web")
		Expect(env.provider.start(ctx)).To(Succeed())
		Eventually(s.get).WithContext(ctx).WithArguments("web").Should(
			haveState(v1alpha1.StateDeleting, "Secret "+s.name+"/own does not exist", tells))
		Consistently(gone(s.get)).WithContext(ctx).WithArguments("web").Should(BeFalse())

		s.update(ctx, "web", abandon)
		Eventually(gone(s.get)).WithContext(ctx).WithArguments("web").WithTimeout(patience / 2).Should(BeTrue())
		abandoned("ProviderConfig "+s.name+"/own", "Secret "+s.name+"/own does not exist")(ctx, s, "web")

		By("leaving behind what the event names")
		s.mustConfigMap(ctx, "web-settings")
		inventory := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: inventoryNamespace, Name: s.name + ".web"}}
		Expect(env.targetClient.Delete(ctx, inventory)).To(Succeed())
	})
})
