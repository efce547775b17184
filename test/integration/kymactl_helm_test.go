// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

var _ = Describe("A module whose chart is one of Helm's own type", func() {
	It("is signed, installed where signatures are enforced, upgraded, and pulled by Helm", func(ctx SpecContext) {
		key := must(rsa.GenerateKey(rand.Reader, 2048))
		s := newSpace(ctx)
		m, p := s.offer("mod"), s.person()
		s.publish(ctx, key)
		s.config(ctx, own, env.target.Kubeconfig(), verification(v1alpha1.VerificationEnforce))
		file := p.input("key.pem", pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: must(x509.MarshalPKCS8PrivateKey(key))}))
		base := env.registry.Host() + "/" + s.name

		release := func(version string) {
			GinkgoHelper()
			folder := "helm-" + version
			for name, content := range m.chart(version).files {
				p.input(filepath.Join(folder, "chart", name), content)
			}
			path := filepath.Dir(p.input(filepath.Join(folder, "module.yaml"), fmt.Appendf(nil,
				"name: example.org/module/%[1]s\nversion: %[2]s\nlabels: {%[3]s: %[4]s}\ncharts: [{name: %[1]s, path: chart, format: helm}]\n",
				m.name, version, labelSpec, s.name)))
			layout, template := p.output(folder+".tar"), p.output(folder+".yaml")
			p.ok(ctx, "module", "create", path, "-o", layout, "--key", file, "--signature-name", signer)
			pushed := lines(p.ok(ctx, "module", "push", layout, base))
			p.ok(ctx, "module", "template", pushed[0], "-o", template)
			p.kubectl(ctx, "", "apply", "-f", filepath.Join(p.path("work"), template))
			m.awaitResolved(ctx, m.templateName("regular"), version)
		}
		release("1.0.0")
		s.create(ctx, onConfig(s.kyma("kyma", m.module()), own))
		s.awaitKyma(ctx, "kyma")
		Expect(must(m.installed(ctx))).To(haveData("version", "1.0.0"))
		Eventually(s.getKyma).WithContext(ctx).WithArguments("kyma").Should(haveCondition(v1alpha1.TypeVerified, corev1.ConditionTrue, BeEmpty()))

		release("1.1.0")
		Eventually(m.installed).WithContext(ctx).Should(haveData("version", "1.1.0"))

		Expect(s.helm(ctx, "template", m.name, "oci://"+base+"/charts/module", "--version", "1.1.0", "--plain-http")).To(ContainSubstring(`version: "1.1.0"`))
	})
})
