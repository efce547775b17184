// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	. "github.com/crossplane-contrib/provider-kyma/test/integration/harness"
)

var _ = Describe("Objects with helm.sh/resource-policy: keep", func() {
	var s *Space

	BeforeEach(func(ctx SpecContext) { s = NewSpace(ctx) })

	It("are kept without an owner, and can be adopted again", func(ctx SpecContext) {
		data := "\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: data\n  annotations: {helm.sh/resource-policy: keep}\n"
		with := NewChart("web", "1.0.0").With("templates/data.yaml", data).With("templates/other.yaml", "\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: other}\n")
		source := with.PushLayer(ctx)
		s.Install(ctx, s.Manifest("web", s.InstallOf("web", source, nil)))
		uid := s.MustConfigMap(ctx, "data").UID

		By("upgrading to a version without the object")
		s.Update(ctx, "web", SetSource(with.Without("templates/data.yaml").Version("2.0.0").PushLayer(ctx)))
		s.AwaitReady(ctx, "web")
		Eventually(Events).WithContext(ctx).WithArguments(s, "web").Should(ContainElement(SatisfyAll(
			ContainSubstring("Kept"), ContainSubstring("ConfigMap "+s.Name+"/data"))))
		Expect(s.MustConfigMap(ctx, "data")).To(SatisfyAll(HaveField("UID", uid), HaveField("Labels", Not(HaveKey(LabelManagedBy))),
			HaveField("Labels", Not(HaveKey("applyset.kubernetes.io/part-of")))))

		By("adopting the object again, and removing the Manifest")
		s.Update(ctx, "web", SetSource(source))
		s.AwaitReady(ctx, "web")
		Expect(s.MustConfigMap(ctx, "data")).To(SatisfyAll(HaveField("UID", uid), HaveField("Labels", HaveKey(LabelManagedBy))))
		s.Remove(ctx, "web")
		Expect(s.MustConfigMap(ctx, "data").UID).To(Equal(uid))
		Expect(Gone(s.ConfigMap)(ctx, "other")).To(BeTrue())
		Expect(s.Leftovers(ctx, Env.Target)).To(BeEmpty())
	})
})
