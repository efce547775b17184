// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
)

// getConfig returns the ProviderConfig that is trouble, or is about to be.
func (s *space) getConfig(ctx context.Context) (*v1alpha1.ProviderConfig, error) {
	pc := &v1alpha1.ProviderConfig{}
	return pc, env.controlClient.Get(ctx, s.key(own), pc)
}

// beReachable matches a ProviderConfig by the status and the reason of Reachable, and parts of its message. Ready agrees with it.
func beReachable(status corev1.ConditionStatus, reason xpv2.ConditionReason, message ...string) types.GomegaMatcher {
	condition := func(t xpv2.ConditionType) func(pc *v1alpha1.ProviderConfig) xpv2.Condition {
		return func(pc *v1alpha1.ProviderConfig) xpv2.Condition { return pc.Status.GetCondition(t) }
	}
	return SatisfyAll(
		WithTransform(condition(v1alpha1.TypeReachable), SatisfyAll(
			HaveField("Status", status), HaveField("Reason", reason), HaveField("Message", containAll(message)))),
		WithTransform(condition(xpv2.TypeReady), HaveField("Status", status)))
}

var _ = Describe("A ProviderConfig", func() {
	var s *space

	BeforeEach(func(ctx SpecContext) { s = newSpace(ctx) })

	It("reports whether its cluster can be used, and why not", func(ctx SpecContext) {
		version := must(must(discovery.NewDiscoveryClientForConfig(env.target.Config())).ServerVersion()).GitVersion
		s.config(ctx, own, at("https://127.0.0.1:1")())
		Consistently(s.getConfig).WithContext(ctx).WithTimeout(calm).Should(HaveField("Status.Conditions", BeEmpty()), "nothing uses it")
		s.create(ctx, with(s.web(webChart().pushLayer(ctx)), own))
		Eventually(s.getConfig).WithContext(ctx).Should(SatisfyAll(
			beReachable(corev1.ConditionFalse, v1alpha1.ReasonUnreachable, "API server https://127.0.0.1:1", "connection refused"),
			HaveField("Status.Endpoint", "127.0.0.1:1"), HaveField("Status.KubernetesVersion", "")))

		By("connecting with a good kubeconfig")
		s.kubeconfig(ctx, env.target.Kubeconfig())
		connected := SatisfyAll(beReachable(corev1.ConditionTrue, v1alpha1.ReasonConnected, env.target.URL()),
			WithTransform(func(pc *v1alpha1.ProviderConfig) string { return "https://" + pc.Status.Endpoint }, Equal(env.target.URL())),
			HaveField("Status.KubernetesVersion", version))
		Eventually(s.getConfig).WithContext(ctx).Should(connected)
		s.awaitReady(ctx, "web")

		By("being refused")
		s.kubeconfig(ctx, kubeconfigOf(env.target, &rest.Config{
			Host: env.target.URL(), BearerToken: password, TLSClientConfig: rest.TLSClientConfig{CAData: env.target.Config().CAData},
		}))
		Eventually(s.getConfig).WithContext(ctx).Should(beReachable(corev1.ConditionFalse, v1alpha1.ReasonUnauthorized, "401"))

		By("having no kubeconfig")
		s.kubeconfig(ctx, []byte("{"))
		Eventually(s.getConfig).WithContext(ctx).Should(SatisfyAll(
			beReachable(corev1.ConditionFalse, v1alpha1.ReasonInvalidCredentials, "kubeconfig cannot be read"), HaveField("Status.Endpoint", "")))

		By("being used no more")
		s.kubeconfig(ctx, env.target.Kubeconfig())
		Eventually(s.getConfig).WithContext(ctx).Should(connected)
		Eventually(s.eventsOf).WithContext(ctx).WithArguments(v1alpha1.ProviderConfigKind, own).Should(ConsistOf(
			beEvent("Warning Unreachable"), beEvent("Normal Connected"), beEvent("Normal Connected"), beEvent("Warning Unauthorized"),
			beEvent("Warning InvalidCredentials")))
		s.remove(ctx, "web")
		Eventually(s.getConfig).WithContext(ctx).Should(SatisfyAll(
			HaveField("Status.Conditions", BeEmpty()), HaveField("Status.KubernetesVersion", ""), HaveField("Status.Endpoint", "")))
	})

	It("reports an outage and its end, and writes nothing in between", func(ctx SpecContext) {
		edge := must(controlplane.Start(ctx, controlplane.Options{Name: "edge"}))
		DeferCleanup(edge.Stop)
		s.config(ctx, own, edge.Kubeconfig())
		s.create(ctx, with(s.web(webChart().pushLayer(ctx)), own))
		Eventually(s.getConfig).WithContext(ctx).Should(beReachable(corev1.ConditionTrue, v1alpha1.ReasonConnected))
		DeferCleanup(func(ctx SpecContext) { s.remove(ctx, "web") })

		edge.StopAPIServer()
		Eventually(s.getConfig).WithContext(ctx).WithTimeout(recovery).Should(beReachable(corev1.ConditionFalse, v1alpha1.ReasonUnreachable, edge.URL(), "connection refused"))
		before := must(s.getConfig(ctx))
		Expect(before.Status.KubernetesVersion).NotTo(BeEmpty(), "it is the last that was known")
		Consistently(s.getConfig).WithContext(ctx).WithTimeout(2 * calm).Should(HaveField("ResourceVersion", before.ResourceVersion))

		Expect(edge.StartAPIServer(ctx)).To(Succeed())
		Eventually(s.getConfig).WithContext(ctx).WithTimeout(recovery).Should(beReachable(corev1.ConditionTrue, v1alpha1.ReasonConnected, edge.URL()))
	})
})
