// SPDX-License-Identifier: Apache-2.0

package kymactl

import (
	"os"
	"path/filepath"

	. "github.com/crossplane-contrib/provider-kyma/test/integration/harness"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/crossplane-contrib/provider-kyma/cluster/tools"
)

// original is the API group of the original objects, with a slash.
const original = "operator.kyma-project.io/"

var _ = Describe("kymactl module convert", func() {
	DescribeTable("converts a module and a Kyma of the original, which work as before", func(ctx SpecContext, version string, kyma Values) {
		s := NewSpace(ctx)
		p, m := NewPerson(s), OfferOperated(s, "mod")
		pushed := Push(ctx, m.Component("1.0.0"))
		template := Values{
			"apiVersion": original + version, "kind": "ModuleTemplate",
			"metadata": Values{
				"name": m.TemplateName("regular"), "namespace": "kcp-system", "resourceVersion": "7", "uid": "5a9d7a4b-2b4c-4c9f-8f53-0d6d1ad8f6c1",
				"labels": Values{"operator.kyma-project.io/module-name": m.Name, LabelSpec: s.Name},
			},
			"spec": Values{
				"channel": "regular", "descriptor": runtime.RawExtension{Raw: pushed.Descriptor},
				"data": m.Template("regular", m.Component("1.0.0")).Spec.Data,
			},
		}
		kyma["modules"] = []any{Values{"name": m.Name, "customResourcePolicy": "CreateAndDelete"}}
		owner := Values{
			"apiVersion": original + version, "kind": "Kyma", "metadata": Values{"name": "kyma", "namespace": "kcp-system"}, "spec": kyma,
		}
		theirs := []string{p.Input("template.yaml", Must(yaml.Marshal(template))), p.Input("kyma.yaml", Must(yaml.Marshal(owner)))}
		convert := append([]string{"module", "convert", "--provider-config", ConfigName, "-n", s.Name}, theirs...)
		ours := p.Ok(ctx, append(convert, "-o", p.Output("ours.yaml"))...)
		Expect(ours).To(BeEmpty())
		Expect(p.Ok(ctx, convert...)).To(Equal(string(Must(os.ReadFile(filepath.Join(p.Path("work"), "ours.yaml"))))))

		p.Kubectl(ctx, "", "apply", "-f", filepath.Join(p.Path("work"), "ours.yaml"))
		m.AwaitResolved(ctx, m.TemplateName("regular"), "1.0.0")
		m.Report(ctx, `{"state":"Ready"}`)
		p.Ok(ctx, "wait", "kyma", "--timeout", "1m")
		Expect(Must(s.GetKyma(ctx, "kyma"))).To(HaveVersion(m.Name, "1.0.0", "regular"))
		Expect(Must(m.Installed(ctx))).To(HaveData("version", "1.0.0"))
		p.Ok(ctx, "module", "disable", m.Name, "--wait")
		Expect(s.Leftovers(ctx, Env.Target)).To(BeEmpty())
	},
		Entry("v1alpha1", "v1alpha1", Values{"channel": "regular", "sync": Values{"enabled": true}}),
		Entry("v1beta2", "v1beta2", Values{"channel": "regular"}),
	)

	It("converts all samples of the original to objects that the API server accepts", func(ctx SpecContext) {
		s := NewSpace(ctx)
		p, root := NewPerson(s), Must(tools.Root())
		for _, dir := range []string{"internal/module/testdata/moduletemplates", "internal/module/convert/testdata"} {
			files := Must(filepath.Glob(filepath.Join(root, dir, "*.yaml")))
			Expect(files).NotTo(BeEmpty())
			ours := p.Ok(ctx, append([]string{"module", "convert", "--channel", "regular", "-n", s.Name, "--provider-config", ConfigName}, files...)...)
			p.Kubectl(ctx, ours, "apply", "--dry-run=server", "-f", "-")
		}
	})
})
