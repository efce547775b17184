// SPDX-License-Identifier: Apache-2.0

package integration

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// A chart that no one here wrote.
var _ = Describe("The chart of Crossplane", func() {
	DescribeTable("is installed, upgraded and removed", func(ctx SpecContext, source func(ctx SpecContext) v1alpha1.Source) {
		s := newSpace(ctx)
		m := s.install(ctx, s.manifest("crossplane", s.installOf("crossplane", source(ctx), nil)))
		Expect(m.Status.AtProvider.Version).To(Equal("0.0.1"))
		Expect(m.Status.AtProvider.Resources.Total).To(BeNumerically(">", 10))
		Expect(m.Status.AtProvider.Resources.Ready).To(Equal(m.Status.AtProvider.Resources.Total))
		Expect(s.mustDeployment(ctx, "crossplane").Status.AvailableReplicas).To(BeEquivalentTo(1))
		s.mustDeployment(ctx, "crossplane-rbac-manager")

		s.update(ctx, "crossplane", setValues(values{"replicas": 2, "rbacManager": map[string]any{"deploy": false}}))
		s.awaitReady(ctx, "crossplane")
		Expect(s.mustDeployment(ctx, "crossplane").Status.AvailableReplicas).To(BeEquivalentTo(2))
		Eventually(gone(s.deployment)).WithContext(ctx).WithArguments("crossplane-rbac-manager").Should(BeTrue())

		s.remove(ctx, "crossplane")
		Expect(s.leftovers(ctx, env.target)).To(BeEmpty())
	},
		Entry("as a layer of a module", func(ctx SpecContext) v1alpha1.Source { return crossplaneChart(ctx).pushLayer(ctx) }),
		Entry("as Helm pushes it", func(ctx SpecContext) v1alpha1.Source {
			return helmChart(env.charts(), "crossplane", crossplaneChart(ctx).push(ctx).Tag)
		}),
	)
})
