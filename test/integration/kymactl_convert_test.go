// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"os"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/crossplane-contrib/provider-kyma/cluster/tools"
)

// original is the group of the objects of the original.
const original = "operator.kyma-project.io/"

var _ = Describe("kymactl module convert", func() {
	DescribeTable("carries a module and a Kyma of the original over, which work as they did", func(ctx SpecContext, version string, kyma values) {
		s := newSpace(ctx)
		p, m := s.person(), s.operated("mod")
		pushed := push(ctx, m.component("1.0.0"))
		template := values{
			"apiVersion": original + version, "kind": "ModuleTemplate",
			"metadata": values{
				"name": m.templateName("regular"), "namespace": "kcp-system", "resourceVersion": "7", "uid": "5a9d7a4b-2b4c-4c9f-8f53-0d6d1ad8f6c1",
				"labels": values{"operator.kyma-project.io/module-name": m.name, labelSpec: s.name},
			},
			"spec": values{
				"channel": "regular", "descriptor": runtime.RawExtension{Raw: pushed.Descriptor},
				"data": m.template("regular", m.component("1.0.0")).Spec.Data,
			},
		}
		kyma["modules"] = []any{values{"name": m.name, "customResourcePolicy": "CreateAndDelete"}}
		owner := values{
			"apiVersion": original + version, "kind": "Kyma", "metadata": values{"name": "kyma", "namespace": "kcp-system"}, "spec": kyma,
		}
		theirs := []string{p.input("template.yaml", must(yaml.Marshal(template))), p.input("kyma.yaml", must(yaml.Marshal(owner)))}
		convert := append([]string{"module", "convert", "--provider-config", configName, "-n", s.name}, theirs...)
		ours := p.ok(ctx, append(convert, "-o", p.output("ours.yaml"))...)
		Expect(ours).To(BeEmpty())
		Expect(p.ok(ctx, convert...)).To(Equal(string(must(os.ReadFile(filepath.Join(p.path("work"), "ours.yaml"))))))

		p.kubectl(ctx, "", "apply", "-f", filepath.Join(p.path("work"), "ours.yaml"))
		m.awaitResolved(ctx, m.templateName("regular"), "1.0.0")
		m.report(ctx, `{"state":"Ready"}`)
		p.ok(ctx, "wait", "kyma", "--timeout", "1m")
		Expect(must(s.getKyma(ctx, "kyma"))).To(haveVersion(m.name, "1.0.0", "regular"))
		Expect(must(m.installed(ctx))).To(haveData("version", "1.0.0"))
		p.ok(ctx, "module", "disable", m.name, "--wait")
		Expect(s.leftovers(ctx, env.target)).To(BeEmpty())
	},
		Entry("v1alpha1", "v1alpha1", values{"channel": "regular", "sync": values{"enabled": true}}),
		Entry("v1beta2", "v1beta2", values{"channel": "regular"}),
	)

	It("makes what the API server accepts of everything that the original is known to have had", func(ctx SpecContext) {
		s := newSpace(ctx)
		p, root := s.person(), must(tools.Root())
		for _, folder := range []string{"internal/module/testdata/moduletemplates", "internal/module/convert/testdata"} {
			files := must(filepath.Glob(filepath.Join(root, folder, "*.yaml")))
			Expect(files).NotTo(BeEmpty())
			ours := p.ok(ctx, append([]string{"module", "convert", "--channel", "regular", "-n", s.name, "--provider-config", configName}, files...)...)
			p.kubectl(ctx, ours, "apply", "--dry-run=server", "-f", "-")
		}
	})
})
