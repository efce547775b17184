// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
)

// recovery is how long it may take until a cluster that was away is checked again: the longest pause, and some more.
const recovery = 90 * time.Second

var _ = Describe("A target that is away", func() {
	var (
		s    *space
		edge *controlplane.Cluster
		c    client.Client
	)

	BeforeEach(func(ctx SpecContext) {
		// It is stopped after the Manifests are gone: what is begun last is ended first.
		edge = must(controlplane.Start(ctx, controlplane.Options{Name: "edge"}))
		DeferCleanup(edge.Stop)
		s = newSpace(ctx)
		c = must(newClient(edge))
		s.config(ctx, "edge", edge.Kubeconfig())
		m := s.manifest("web", s.installOf("web", webChart().pushLayer(ctx), values{"workload": false}))
		m.Spec.ProviderConfigReference.Name = "edge"
		s.install(ctx, m)
	})

	settings := func(ctx SpecContext) (*corev1.ConfigMap, error) {
		cm := &corev1.ConfigMap{}
		return cm, c.Get(ctx, s.key("web-settings"), cm)
	}

	It("delays a removal, which says so and continues when it is back", func(ctx SpecContext) {
		edge.StopAPIServer()
		s.delete(ctx, "web")
		Eventually(s.get).WithContext(ctx).WithArguments("web").Should(SatisfyAll(
			notSynced(edge.URL(), "connection refused"), notReady("connection refused"), haveState(v1alpha1.StateDeleting, edge.URL(), "connection refused")))
		Consistently(gone(s.get)).WithContext(ctx).WithArguments("web").Should(BeFalse())

		Expect(edge.StartAPIServer(ctx)).To(Succeed())
		Eventually(gone(s.get)).WithContext(ctx).WithTimeout(recovery).WithArguments("web").Should(BeTrue())
		_, err := settings(ctx)
		Expect(err).To(beNotFound())
		Expect(s.leftovers(ctx, edge)).To(BeEmpty())
	})

	It("delays a change, while other targets are served as ever", func(ctx SpecContext) {
		edge.Pause()
		DeferCleanup(edge.Resume)
		s.update(ctx, "web", setValues(values{"workload": false, "message": "new"}))
		s.install(ctx, s.manifest("elsewhere", s.installOf("elsewhere", webChart().pushLayer(ctx), nil)))

		edge.Resume()
		Eventually(settings).WithContext(ctx).WithTimeout(recovery).Should(haveData("message", "new"))
		Eventually(s.get).WithContext(ctx).WithTimeout(recovery).WithArguments("web").Should(beReady())
	})

	It("keeps what was applied, and is not written to when it comes back", func(ctx SpecContext) {
		before := must(settings(ctx))
		edge.StopAPIServer()
		Expect(edge.StartAPIServer(ctx)).To(Succeed())
		edited := before.DeepCopy()
		Expect(c.Patch(ctx, edited, client.RawPatch("application/merge-patch+json", []byte(`{"data":{"own":"kept"}}`)))).To(Succeed())
		Consistently(settings).WithContext(ctx).WithTimeout(2 * calm).Should(HaveField("ResourceVersion", edited.ResourceVersion))

		By("seeing drift over a watch that came back")
		Expect(c.Delete(ctx, edited)).To(Succeed())
		Eventually(settings).WithContext(ctx).WithTimeout(recovery).Should(HaveField("UID", Not(Equal(before.UID))))
		Eventually(s.get).WithContext(ctx).WithTimeout(recovery).WithArguments("web").Should(beReady())
	})
})
