// SPDX-License-Identifier: Apache-2.0

package integration

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

var _ = Describe("Objects that Helm must not delete", func() {
	var s *space

	BeforeEach(func(ctx SpecContext) { s = newSpace(ctx) })

	It("are kept, belong to no one, and are found again", func(ctx SpecContext) {
		data := "\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: data\n  annotations: {helm.sh/resource-policy: keep}\n"
		with := newChart("web", "1.0.0").with("templates/data.yaml", data).with("templates/other.yaml", "\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: other}\n")
		source := with.pushLayer(ctx)
		s.install(ctx, s.manifest("web", s.installOf("web", source, nil)))
		uid := s.mustConfigMap(ctx, "data").UID

		By("leaving it where a new version does not have it")
		s.update(ctx, "web", setSource(with.without("templates/data.yaml").version("2.0.0").pushLayer(ctx)))
		s.awaitReady(ctx, "web")
		Eventually(s.events).WithContext(ctx).WithArguments("web").Should(ContainElement(SatisfyAll(
			ContainSubstring("Kept"), ContainSubstring("ConfigMap "+s.name+"/data"))))
		Expect(s.mustConfigMap(ctx, "data")).To(SatisfyAll(HaveField("UID", uid), HaveField("Labels", Not(HaveKey(labelManagedBy))),
			HaveField("Labels", Not(HaveKey("applyset.kubernetes.io/part-of")))))

		By("adopting it with a version that has it again, and leaving it once more with the Manifest")
		s.update(ctx, "web", setSource(source))
		s.awaitReady(ctx, "web")
		Expect(s.mustConfigMap(ctx, "data")).To(SatisfyAll(HaveField("UID", uid), HaveField("Labels", HaveKey(labelManagedBy))))
		s.remove(ctx, "web")
		Expect(s.mustConfigMap(ctx, "data").UID).To(Equal(uid))
		Expect(gone(s.configMap)(ctx, "other")).To(BeTrue())
		Expect(s.leftovers(ctx, env.target)).To(BeEmpty())
	})
})
