// SPDX-License-Identifier: Apache-2.0

package kymactl

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"path/filepath"

	. "github.com/crossplane-contrib/provider-kyma/test/integration/harness"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

var _ = Describe("A module with a chart of Helm's media type", func() {
	It("can be signed, installed with signatures enforced, upgraded, and pulled by Helm", func(ctx SpecContext) {
		key := Must(rsa.GenerateKey(rand.Reader, 2048))
		s := NewSpace(ctx)
		m, p := NewOffer(s, "mod"), NewPerson(s)
		Publish(ctx, s, key)
		s.Config(ctx, Own, Env.Target.Kubeconfig(), Verification(v1alpha1.VerificationEnforce))
		file := p.Input("key.pem", pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: Must(x509.MarshalPKCS8PrivateKey(key))}))
		base := Env.Registry.Host() + "/" + s.Name

		release := func(version string) {
			GinkgoHelper()
			dir := "helm-" + version
			for name, content := range m.Chart(version).Files {
				p.Input(filepath.Join(dir, "chart", name), content)
			}
			path := filepath.Dir(p.Input(filepath.Join(dir, "module.yaml"), fmt.Appendf(nil,
				"name: example.org/module/%[1]s\nversion: %[2]s\nlabels: {%[3]s: %[4]s}\ncharts: [{name: %[1]s, path: chart, format: helm}]\n",
				m.Name, version, LabelSpec, s.Name)))
			layout, template := p.Output(dir+".tar"), p.Output(dir+".yaml")
			p.Ok(ctx, "module", "create", path, "-o", layout, "--key", file, "--signature-name", Signer)
			pushed := Lines(p.Ok(ctx, "module", "push", layout, base))
			p.Ok(ctx, "module", "template", pushed[0], "-o", template)
			p.Kubectl(ctx, "", "apply", "-f", filepath.Join(p.Path("work"), template))
			m.AwaitResolved(ctx, m.TemplateName("regular"), version)
		}
		release("1.0.0")
		s.Create(ctx, OnConfig(s.Kyma("kyma", m.Module()), Own))
		s.AwaitKyma(ctx, "kyma")
		Expect(Must(m.Installed(ctx))).To(HaveData("version", "1.0.0"))
		Eventually(s.GetKyma).WithContext(ctx).WithArguments("kyma").Should(HaveCondition(v1alpha1.TypeVerified, corev1.ConditionTrue, BeEmpty()))

		release("1.1.0")
		Eventually(m.Installed).WithContext(ctx).Should(HaveData("version", "1.1.0"))

		Expect(Helm(ctx, s, "template", m.Name, "oci://"+base+"/charts/module", "--version", "1.1.0", "--plain-http")).To(ContainSubstring(`version: "1.1.0"`))
	})
})
