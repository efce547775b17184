// SPDX-License-Identifier: Apache-2.0

package integration

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

var _ = Describe("An object without the label by which it is watched", func() {
	DescribeTable("goes with its Manifest", func(ctx SpecContext, policy v1alpha1.DriftPolicy) {
		s := newSpace(ctx)
		m := s.manifest("web", s.installOf("web", webChart().pushLayer(ctx), nil))
		m.Spec.ForProvider.Drift = policy
		s.install(ctx, m)
		s.kubectl(ctx, "label", "configmap", "web-settings", labelManagedBy+"-")
		s.remove(ctx, "web")
		Expect(s.leftovers(ctx, env.target)).To(BeEmpty())
		Eventually(gone(s.configMap)).WithContext(ctx).WithArguments("web-settings").Should(BeTrue())
	},
		Entry("which repairs it", v1alpha1.DriftPolicyRepair),
		Entry("which reports it", v1alpha1.DriftPolicyReport),
		Entry("which ignores it", v1alpha1.DriftPolicyIgnore))
})
