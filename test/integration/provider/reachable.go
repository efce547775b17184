// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"context"

	. "github.com/crossplane-contrib/provider-kyma/test/integration/harness"

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

// getConfig returns the ProviderConfig Own.
func getConfig(ctx context.Context, s *Space) (*v1alpha1.ProviderConfig, error) {
	pc := &v1alpha1.ProviderConfig{}
	return pc, Env.ControlClient.Get(ctx, s.Key(Own), pc)
}

// beReachable matches a ProviderConfig by its condition Reachable, with parts of the message. Ready must have the same status.
func beReachable(status corev1.ConditionStatus, reason xpv2.ConditionReason, message ...string) types.GomegaMatcher {
	condition := func(t xpv2.ConditionType) func(pc *v1alpha1.ProviderConfig) xpv2.Condition {
		return func(pc *v1alpha1.ProviderConfig) xpv2.Condition { return pc.Status.GetCondition(t) }
	}
	return SatisfyAll(
		WithTransform(condition(v1alpha1.TypeReachable), SatisfyAll(
			HaveField("Status", status), HaveField("Reason", reason), HaveField("Message", ContainAll(message)))),
		WithTransform(condition(xpv2.TypeReady), HaveField("Status", status)))
}

var _ = Describe("A ProviderConfig", func() {
	var s *Space

	BeforeEach(func(ctx SpecContext) { s = NewSpace(ctx) })

	It("reports whether its cluster can be used, and why not", func(ctx SpecContext) {
		version := Must(Must(discovery.NewDiscoveryClientForConfig(Env.Target.Config())).ServerVersion()).GitVersion
		s.Config(ctx, Own, At("https://127.0.0.1:1")())
		Consistently(getConfig).WithContext(ctx).WithArguments(s).WithTimeout(Calm).Should(HaveField("Status.Conditions", BeEmpty()), "nothing uses it")
		s.Create(ctx, With(Web(s, WebChart().PushLayer(ctx)), Own))
		Eventually(getConfig).WithContext(ctx).WithArguments(s).Should(SatisfyAll(
			beReachable(corev1.ConditionFalse, v1alpha1.ReasonUnreachable, "API server https://127.0.0.1:1", "connection refused"),
			HaveField("Status.Endpoint", "127.0.0.1:1"), HaveField("Status.KubernetesVersion", "")))

		By("connecting with a valid kubeconfig")
		s.PutKubeconfig(ctx, Env.Target.Kubeconfig())
		connected := SatisfyAll(beReachable(corev1.ConditionTrue, v1alpha1.ReasonConnected, Env.Target.URL()),
			WithTransform(func(pc *v1alpha1.ProviderConfig) string { return "https://" + pc.Status.Endpoint }, Equal(Env.Target.URL())),
			HaveField("Status.KubernetesVersion", version))
		Eventually(getConfig).WithContext(ctx).WithArguments(s).Should(connected)
		s.AwaitReady(ctx, "web")

		By("using a token that is rejected")
		s.PutKubeconfig(ctx, KubeconfigOf(Env.Target, &rest.Config{
			Host: Env.Target.URL(), BearerToken: Password, TLSClientConfig: rest.TLSClientConfig{CAData: Env.Target.Config().CAData},
		}))
		Eventually(getConfig).WithContext(ctx).WithArguments(s).Should(beReachable(corev1.ConditionFalse, v1alpha1.ReasonUnauthorized, "401"))

		By("using an invalid kubeconfig")
		s.PutKubeconfig(ctx, []byte("{"))
		Eventually(getConfig).WithContext(ctx).WithArguments(s).Should(SatisfyAll(
			beReachable(corev1.ConditionFalse, v1alpha1.ReasonInvalidCredentials, "cannot read kubeconfig"), HaveField("Status.Endpoint", "")))

		By("removing the last user")
		s.PutKubeconfig(ctx, Env.Target.Kubeconfig())
		Eventually(getConfig).WithContext(ctx).WithArguments(s).Should(connected)
		Eventually(s.EventsOf).WithContext(ctx).WithArguments(v1alpha1.ProviderConfigKind, Own).Should(ConsistOf(
			BeEvent("Warning Unreachable"), BeEvent("Normal Connected"), BeEvent("Normal Connected"), BeEvent("Warning Unauthorized"),
			BeEvent("Warning InvalidCredentials")))
		s.Remove(ctx, "web")
		Eventually(getConfig).WithContext(ctx).WithArguments(s).Should(SatisfyAll(
			HaveField("Status.Conditions", BeEmpty()), HaveField("Status.KubernetesVersion", ""), HaveField("Status.Endpoint", "")))
	})

	It("reports the start and the end of an outage, and writes nothing in between", func(ctx SpecContext) {
		edge := Must(controlplane.Start(ctx, controlplane.Options{Name: "edge"}))
		DeferCleanup(edge.Stop)
		s.Config(ctx, Own, edge.Kubeconfig())
		s.Create(ctx, With(Web(s, WebChart().PushLayer(ctx)), Own))
		Eventually(getConfig).WithContext(ctx).WithArguments(s).Should(beReachable(corev1.ConditionTrue, v1alpha1.ReasonConnected))
		DeferCleanup(func(ctx SpecContext) { s.Remove(ctx, "web") })

		edge.StopAPIServer()
		Eventually(getConfig).WithContext(ctx).WithArguments(s).WithTimeout(Recovery).Should(beReachable(corev1.ConditionFalse, v1alpha1.ReasonUnreachable, edge.URL(), "connection refused"))
		before := Must(getConfig(ctx, s))
		Expect(before.Status.KubernetesVersion).NotTo(BeEmpty(), "it is the last that was known")
		Consistently(getConfig).WithContext(ctx).WithArguments(s).WithTimeout(2 * Calm).Should(HaveField("ResourceVersion", before.ResourceVersion))

		Expect(edge.StartAPIServer(ctx)).To(Succeed())
		Eventually(getConfig).WithContext(ctx).WithArguments(s).WithTimeout(Recovery).Should(beReachable(corev1.ConditionTrue, v1alpha1.ReasonConnected, edge.URL()))
	})
})
