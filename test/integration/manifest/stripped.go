// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	. "github.com/crossplane-contrib/provider-kyma/test/integration/harness"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

var _ = Describe("An object that lost the label that the provider watches", func() {
	DescribeTable("is deleted with its Manifest", func(ctx SpecContext, policy v1alpha1.DriftPolicy) {
		s := NewSpace(ctx)
		m := s.Manifest("web", s.InstallOf("web", WebChart().PushLayer(ctx), nil))
		m.Spec.ForProvider.Drift = policy
		s.Install(ctx, m)
		s.Kubectl(ctx, "label", "configmap", "web-settings", LabelManagedBy+"-")
		s.Remove(ctx, "web")
		Expect(s.Leftovers(ctx, Env.Target)).To(BeEmpty())
		Eventually(Gone(s.ConfigMap)).WithContext(ctx).WithArguments("web-settings").Should(BeTrue())
	},
		Entry("with drift policy Repair", v1alpha1.DriftPolicyRepair),
		Entry("with drift policy Report", v1alpha1.DriftPolicyReport),
		Entry("with drift policy Ignore", v1alpha1.DriftPolicyIgnore))
})
