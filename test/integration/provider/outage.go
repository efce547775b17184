// SPDX-License-Identifier: Apache-2.0

package provider

import (
	. "github.com/crossplane-contrib/provider-kyma/test/integration/harness"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
)

var _ = Describe("A target cluster with an outage", func() {
	var (
		s    *Space
		edge *controlplane.Cluster
		c    client.Client
	)

	BeforeEach(func(ctx SpecContext) {
		// Cleanups run in reverse order, so the cluster stops after the Manifests are gone.
		edge = Must(controlplane.Start(ctx, controlplane.Options{Name: "edge"}))
		DeferCleanup(edge.Stop)
		s = NewSpace(ctx)
		c = Must(NewClient(edge))
		s.Config(ctx, "edge", edge.Kubeconfig())
		m := s.Manifest("web", s.InstallOf("web", WebChart().PushLayer(ctx), Values{"workload": false}))
		m.Spec.ProviderConfigReference.Name = "edge"
		s.Install(ctx, m)
	})

	settings := func(ctx SpecContext) (*corev1.ConfigMap, error) {
		cm := &corev1.ConfigMap{}
		return cm, c.Get(ctx, s.Key("web-settings"), cm)
	}

	It("delays a removal, which reports it and continues after the outage", func(ctx SpecContext) {
		edge.StopAPIServer()
		s.Delete(ctx, "web")
		Eventually(s.Get).WithContext(ctx).WithArguments("web").Should(SatisfyAll(
			NotSynced(edge.URL(), "connection refused"), NotReady("connection refused"), HaveState(v1alpha1.StateDeleting, edge.URL(), "connection refused")))
		Consistently(Gone(s.Get)).WithContext(ctx).WithArguments("web").Should(BeFalse())

		Expect(edge.StartAPIServer(ctx)).To(Succeed())
		Eventually(Gone(s.Get)).WithContext(ctx).WithTimeout(Recovery).WithArguments("web").Should(BeTrue())
		_, err := settings(ctx)
		Expect(err).To(BeNotFound())
		Expect(s.Leftovers(ctx, edge)).To(BeEmpty())
	})

	It("delays a change, without affecting other clusters", func(ctx SpecContext) {
		edge.Pause()
		DeferCleanup(edge.Resume)
		s.Update(ctx, "web", SetValues(Values{"workload": false, "message": "new"}))
		s.Install(ctx, s.Manifest("elsewhere", s.InstallOf("elsewhere", WebChart().PushLayer(ctx), nil)))

		edge.Resume()
		Eventually(settings).WithContext(ctx).WithTimeout(Recovery).Should(HaveData("message", "new"))
		Eventually(s.Get).WithContext(ctx).WithTimeout(Recovery).WithArguments("web").Should(BeReady())
	})

	It("keeps the applied objects, and gets no writes after the outage", func(ctx SpecContext) {
		before := Must(settings(ctx))
		edge.StopAPIServer()
		Expect(edge.StartAPIServer(ctx)).To(Succeed())
		edited := before.DeepCopy()
		Expect(c.Patch(ctx, edited, client.RawPatch("application/merge-patch+json", []byte(`{"data":{"own":"kept"}}`)))).To(Succeed())
		Consistently(settings).WithContext(ctx).WithTimeout(2 * Calm).Should(HaveField("ResourceVersion", edited.ResourceVersion))

		By("detecting drift with a watch that was reestablished")
		Expect(c.Delete(ctx, edited)).To(Succeed())
		Eventually(settings).WithContext(ctx).WithTimeout(Recovery).Should(HaveField("UID", Not(Equal(before.UID))))
		Eventually(s.Get).WithContext(ctx).WithTimeout(Recovery).WithArguments("web").Should(BeReady())
	})
})
