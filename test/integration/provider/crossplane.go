// SPDX-License-Identifier: Apache-2.0

package provider

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	. "github.com/crossplane-contrib/provider-kyma/test/integration/harness"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// This chart is published by another project.
var _ = Describe("The Helm chart of Crossplane", func() {
	DescribeTable("is installed, upgraded and removed", func(ctx SpecContext, source func(ctx SpecContext) v1alpha1.Source) {
		s := NewSpace(ctx)
		m := s.Install(ctx, s.Manifest("crossplane", s.InstallOf("crossplane", source(ctx), nil)))
		Expect(m.Status.AtProvider.Version).To(Equal("0.0.1"))
		Expect(m.Status.AtProvider.Resources.Total).To(BeNumerically(">", 10))
		Expect(m.Status.AtProvider.Resources.Ready).To(Equal(m.Status.AtProvider.Resources.Total))
		Expect(s.MustDeployment(ctx, "crossplane").Status.AvailableReplicas).To(BeEquivalentTo(1))
		s.MustDeployment(ctx, "crossplane-rbac-manager")

		s.Update(ctx, "crossplane", SetValues(Values{"replicas": 2, "rbacManager": map[string]any{"deploy": false}}))
		s.AwaitReady(ctx, "crossplane")
		Expect(s.MustDeployment(ctx, "crossplane").Status.AvailableReplicas).To(BeEquivalentTo(2))
		Eventually(Gone(s.Deployment)).WithContext(ctx).WithArguments("crossplane-rbac-manager").Should(BeTrue())

		s.Remove(ctx, "crossplane")
		Expect(s.Leftovers(ctx, Env.Target)).To(BeEmpty())
	},
		Entry("from a layer of a module", func(ctx SpecContext) v1alpha1.Source { return CrossplaneChart(ctx).PushLayer(ctx) }),
		Entry("as pushed by Helm", func(ctx SpecContext) v1alpha1.Source {
			return HelmChart(Env.Charts(), "crossplane", CrossplaneChart(ctx).Push(ctx).Tag)
		}),
	)
})
