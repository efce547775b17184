// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
)

var _ = Describe("The signature of a Kyma's module", func() {
	var (
		s            *space
		m            *offer
		ours, theirs *rsa.PrivateKey
	)

	BeforeEach(func(ctx SpecContext) {
		ours, theirs = must(rsa.GenerateKey(rand.Reader, 2048)), must(rsa.GenerateKey(rand.Reader, 2048))
		s = newSpace(ctx)
		m = s.offer("mod")
		s.publish(ctx, ours)
		s.config(ctx, own, env.target.Kubeconfig(), verification(v1alpha1.VerificationEnforce))
	})

	// signed is a version that is signed with a key.
	signed := func(version string, key *rsa.PrivateKey) controlplane.Component {
		c := m.component(version)
		c.Sign = &controlplane.Signing{Name: signer, Key: key}
		return c
	}
	// tampered is a version that names another chart since it was signed: one that the registry has.
	tampered := func(ctx SpecContext, version string) controlplane.Component {
		other := push(ctx, m.component("6.6.6"))
		was := push(ctx, m.component(version))
		c := signed(version, ours)
		c.Resources = append(c.Resources, controlplane.ComponentResource{Name: "unused", Type: "plainText", Files: m.chart("6.6.6").files})
		c.Tamper = func(d []byte) []byte { return bytes.ReplaceAll(d, []byte(chartOf(was)), []byte(chartOf(other))) }
		return c
	}
	create := func(ctx SpecContext, c controlplane.Component, isInline bool) {
		pushed := push(ctx, c)
		t := m.template("regular", c)
		if isInline {
			t.Spec.Component, t.Spec.Descriptor = nil, inline(pushed)
		}
		s.create(ctx, t)
		m.awaitResolved(ctx, t.Name, c.Version)
		s.create(ctx, onConfig(s.kyma("kyma", m.module()), own))
	}

	DescribeTable("that is valid lets it through", func(ctx SpecContext, isInline bool) {
		create(ctx, signed("1.0.0", ours), isInline)
		s.awaitKyma(ctx, "kyma")
		Eventually(s.getKyma).WithContext(ctx).WithArguments("kyma").Should(haveCondition(v1alpha1.TypeVerified, corev1.ConditionTrue, BeEmpty()))
		Expect(must(s.get(ctx, m.manifest("kyma")))).To(beVerified(corev1.ConditionTrue, signer))
		Expect(must(m.installed(ctx))).To(haveData("version", "1.0.0"))
	},
		Entry("of a component in a registry", false),
		Entry("of a descriptor in the ModuleTemplate", true),
	)

	It("covers what the component references", func(ctx SpecContext) {
		base := controlplane.Component{
			Name: "example.org/module/" + s.name + "-base", Version: "0.3.0",
			Resources: []controlplane.ComponentResource{{Name: "base", Type: "helm-chart", Files: m.chart("0.3.0").files}},
		}
		c := signed("1.0.0", ours)
		c.References = []controlplane.ComponentReference{
			{Name: s.name, Component: base.Name, Version: base.Version, Descriptor: push(ctx, base).Descriptor},
		}
		create(ctx, c, false)
		s.awaitKyma(ctx, "kyma")
		Expect(s.mustConfigMap(ctx, s.name+"-base")).To(haveData("version", "0.3.0"))
	})

	DescribeTable("that is enforced keeps out what is", func(ctx SpecContext, component func(ctx SpecContext) controlplane.Component, isInline bool) {
		create(ctx, component(ctx), isInline)
		Eventually(s.getKyma).WithContext(ctx).WithArguments("kyma").Should(SatisfyAll(
			haveKymaState(v1alpha1.StateError, m.name, signer), haveModule(m.name, v1alpha1.StateError, signer),
			haveCondition(v1alpha1.TypeVerified, corev1.ConditionFalse, ContainSubstring(m.name))))
		Consistently(s.leftovers).WithContext(ctx).WithArguments(env.target).WithPolling(calm).Should(BeEmpty())

		By("continuing with a version that is signed")
		c := signed("1.0.1", ours)
		push(ctx, c)
		updateTemplate(ctx, m.templateName("regular"), func(t *v1alpha1.ModuleTemplate) {
			t.Spec.Descriptor, t.Spec.Component = nil, componentAt(c)
		})
		s.awaitKyma(ctx, "kyma")
		Expect(must(m.installed(ctx))).To(haveData("version", "1.0.1"))
	},
		Entry("not signed", func(SpecContext) controlplane.Component { return m.component("1.0.0") }, false),
		Entry("not signed, inline", func(SpecContext) controlplane.Component { return m.component("1.0.0") }, true),
		Entry("signed with another key", func(SpecContext) controlplane.Component { return signed("1.0.0", theirs) }, false),
		Entry("tampered with", func(ctx SpecContext) controlplane.Component { return tampered(ctx, "1.0.0") }, false),
		Entry("tampered with, inline", func(ctx SpecContext) controlplane.Component { return tampered(ctx, "1.0.0") }, true),
	)

	It("keeps what runs where the next version has none", func(ctx SpecContext) {
		create(ctx, signed("1.0.0", ours), false)
		s.awaitKyma(ctx, "kyma")
		m.release(ctx, "regular", "1.1.0")
		Eventually(s.getKyma).WithContext(ctx).WithArguments("kyma").Should(haveModule(m.name, v1alpha1.StateError, signer))
		Consistently(m.installed).WithContext(ctx).Should(haveData("version", "1.0.0"))
		s.removeKyma(ctx, "kyma")
		Expect(s.leftovers(ctx, env.target)).To(BeEmpty())
	})

	It("that is only asked for lets it through, and says so, until no one asks", func(ctx SpecContext) {
		s.configure(ctx, own, verification(v1alpha1.VerificationWarn))
		create(ctx, m.component("1.0.0"), false)
		s.awaitKyma(ctx, "kyma")
		Eventually(s.getKyma).WithContext(ctx).WithArguments("kyma").Should(
			haveCondition(v1alpha1.TypeVerified, corev1.ConditionFalse, SatisfyAll(ContainSubstring(m.name), ContainSubstring(signer))))
		Expect(must(m.installed(ctx))).To(haveData("version", "1.0.0"))

		s.configure(ctx, own, verification(v1alpha1.VerificationOff))
		Eventually(s.getKyma).WithContext(ctx).WithArguments("kyma").Should(SatisfyAll(
			beReadyKyma(), HaveField("Status.Conditions", Not(ContainElement(HaveField("Type", v1alpha1.TypeVerified))))))
		Eventually(s.get).WithContext(ctx).WithArguments(m.manifest("kyma")).Should(SatisfyAll(
			HaveField("Spec.ForProvider.Component", BeNil()), HaveField("Spec.ForProvider.Descriptor", BeNil())))
	})

	It("shows in the ModuleTemplate where the provider has keys", func(ctx SpecContext) {
		file := filepath.Join(env.dir, s.name+".pem")
		der := must(x509.MarshalPKIXPublicKey(&ours.PublicKey))
		Expect(os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}), 0o600)).To(Succeed())
		withProvider(ctx, func(p *provider) { p.args = []string{"--module-verification-key=" + signer + "=" + file} })
		c := signed("1.0.0", ours)
		push(ctx, c)
		s.create(ctx, m.template("regular", c))
		verified := func(status corev1.ConditionStatus, message ...string) {
			GinkgoHelper()
			Eventually(getTemplate).WithContext(ctx).WithArguments(m.templateName("regular")).Should(
				HaveField("Status.Conditions", ContainElement(SatisfyAll(
					HaveField("Type", v1alpha1.TypeVerified), HaveField("Status", status), HaveField("Message", containAll(message))))))
		}
		verified(corev1.ConditionTrue)
		m.release(ctx, "regular", "1.0.1")
		verified(corev1.ConditionFalse, signer)
		c = signed("1.0.2", ours)
		push(ctx, c)
		updateTemplate(ctx, m.templateName("regular"), func(t *v1alpha1.ModuleTemplate) { t.Spec.Component = componentAt(c) })
		verified(corev1.ConditionTrue)
	})
})

// chartOf a component is the digest of its first resource, in hexadecimal digits.
func chartOf(p controlplane.PushedComponent) string {
	_, digest, _ := strings.Cut(string(p.Descriptor), "sha256:")
	return digest[:64]
}
