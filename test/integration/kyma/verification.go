// SPDX-License-Identifier: Apache-2.0

package kyma

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"strings"

	. "github.com/crossplane-contrib/provider-kyma/test/integration/harness"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
)

var _ = Describe("The signature of a module", func() {
	var (
		s            *Space
		m            *Offer
		ours, theirs *rsa.PrivateKey
	)

	BeforeEach(func(ctx SpecContext) {
		ours, theirs = Must(rsa.GenerateKey(rand.Reader, 2048)), Must(rsa.GenerateKey(rand.Reader, 2048))
		s = NewSpace(ctx)
		m = NewOffer(s, "mod")
		Publish(ctx, s, ours)
		s.Config(ctx, Own, Env.Target.Kubeconfig(), Verification(v1alpha1.VerificationEnforce))
	})

	// signed returns a version of the component that is signed with a key.
	signed := func(version string, key *rsa.PrivateKey) controlplane.Component {
		c := m.Component(version)
		c.Sign = &controlplane.Signing{Name: Signer, Key: key}
		return c
	}
	// tampered returns a version whose descriptor was changed after it was signed, to another chart in the registry.
	tampered := func(ctx SpecContext, version string) controlplane.Component {
		other := Push(ctx, m.Component("6.6.6"))
		was := Push(ctx, m.Component(version))
		c := signed(version, ours)
		c.Resources = append(c.Resources, controlplane.ComponentResource{Name: "unused", Type: "plainText", Files: m.Chart("6.6.6").Files})
		c.Tamper = func(d []byte) []byte { return bytes.ReplaceAll(d, []byte(chartOf(was)), []byte(chartOf(other))) }
		return c
	}
	create := func(ctx SpecContext, c controlplane.Component, isInline bool) {
		pushed := Push(ctx, c)
		t := m.Template("regular", c)
		if isInline {
			t.Spec.Component, t.Spec.Descriptor = nil, Inline(pushed)
		}
		s.Create(ctx, t)
		m.AwaitResolved(ctx, t.Name, c.Version)
		s.Create(ctx, OnConfig(s.Kyma("kyma", m.Module()), Own))
	}

	DescribeTable("is accepted if it is valid", func(ctx SpecContext, isInline bool) {
		create(ctx, signed("1.0.0", ours), isInline)
		s.AwaitKyma(ctx, "kyma")
		Eventually(s.GetKyma).WithContext(ctx).WithArguments("kyma").Should(HaveCondition(v1alpha1.TypeVerified, corev1.ConditionTrue, BeEmpty()))
		Expect(Must(s.Get(ctx, m.Manifest("kyma")))).To(BeVerified(corev1.ConditionTrue, Signer))
		Expect(Must(m.Installed(ctx))).To(HaveData("version", "1.0.0"))
	},
		Entry("of a component in a registry", false),
		Entry("of a descriptor in the ModuleTemplate", true),
	)

	It("covers referenced components", func(ctx SpecContext) {
		base := controlplane.Component{
			Name: "example.org/module/" + s.Name + "-base", Version: "0.3.0",
			Resources: []controlplane.ComponentResource{{Name: "base", Type: "helm-chart", Files: m.Chart("0.3.0").Files}},
		}
		c := signed("1.0.0", ours)
		c.References = []controlplane.ComponentReference{
			{Name: s.Name, Component: base.Name, Version: base.Version, Descriptor: Push(ctx, base).Descriptor},
		}
		create(ctx, c, false)
		s.AwaitKyma(ctx, "kyma")
		Expect(s.MustConfigMap(ctx, s.Name+"-base")).To(HaveData("version", "0.3.0"))
	})

	DescribeTable("in mode Enforce prevents the install of a component that is", func(ctx SpecContext, component func(ctx SpecContext) controlplane.Component, isInline bool) {
		create(ctx, component(ctx), isInline)
		Eventually(s.GetKyma).WithContext(ctx).WithArguments("kyma").Should(SatisfyAll(
			HaveKymaState(v1alpha1.StateError, m.Name, Signer), HaveModule(m.Name, v1alpha1.StateError, Signer),
			HaveCondition(v1alpha1.TypeVerified, corev1.ConditionFalse, ContainSubstring(m.Name))))
		Consistently(s.Leftovers).WithContext(ctx).WithArguments(Env.Target).WithPolling(Calm).Should(BeEmpty())

		By("upgrading to a signed version")
		c := signed("1.0.1", ours)
		Push(ctx, c)
		UpdateTemplate(ctx, m.TemplateName("regular"), func(t *v1alpha1.ModuleTemplate) {
			t.Spec.Descriptor, t.Spec.Component = nil, ComponentAt(c)
		})
		s.AwaitKyma(ctx, "kyma")
		Expect(Must(m.Installed(ctx))).To(HaveData("version", "1.0.1"))
	},
		Entry("not signed", func(SpecContext) controlplane.Component { return m.Component("1.0.0") }, false),
		Entry("not signed, inline", func(SpecContext) controlplane.Component { return m.Component("1.0.0") }, true),
		Entry("signed with another key", func(SpecContext) controlplane.Component { return signed("1.0.0", theirs) }, false),
		Entry("tampered with", func(ctx SpecContext) controlplane.Component { return tampered(ctx, "1.0.0") }, false),
		Entry("tampered with, inline", func(ctx SpecContext) controlplane.Component { return tampered(ctx, "1.0.0") }, true),
	)

	It("keeps the installed version if the next one is not signed", func(ctx SpecContext) {
		create(ctx, signed("1.0.0", ours), false)
		s.AwaitKyma(ctx, "kyma")
		m.Release(ctx, "regular", "1.1.0")
		Eventually(s.GetKyma).WithContext(ctx).WithArguments("kyma").Should(HaveModule(m.Name, v1alpha1.StateError, Signer))
		Consistently(m.Installed).WithContext(ctx).Should(HaveData("version", "1.0.0"))
		s.RemoveKyma(ctx, "kyma")
		Expect(s.Leftovers(ctx, Env.Target)).To(BeEmpty())
	})

	It("in mode Warn is reported if it is missing, until verification is turned off", func(ctx SpecContext) {
		Configure(ctx, s, Own, Verification(v1alpha1.VerificationWarn))
		create(ctx, m.Component("1.0.0"), false)
		s.AwaitKyma(ctx, "kyma")
		Eventually(s.GetKyma).WithContext(ctx).WithArguments("kyma").Should(
			HaveCondition(v1alpha1.TypeVerified, corev1.ConditionFalse, SatisfyAll(ContainSubstring(m.Name), ContainSubstring(Signer))))
		Expect(Must(m.Installed(ctx))).To(HaveData("version", "1.0.0"))

		Configure(ctx, s, Own, Verification(v1alpha1.VerificationOff))
		Eventually(s.GetKyma).WithContext(ctx).WithArguments("kyma").Should(SatisfyAll(
			BeReadyKyma(), HaveField("Status.Conditions", Not(ContainElement(HaveField("Type", v1alpha1.TypeVerified))))))
		Eventually(s.Get).WithContext(ctx).WithArguments(m.Manifest("kyma")).Should(SatisfyAll(
			HaveField("Spec.ForProvider.Component", BeNil()), HaveField("Spec.ForProvider.Descriptor", BeNil())))
	})

	It("is reported in the ModuleTemplate if the provider has keys", func(ctx SpecContext) {
		file := filepath.Join(Env.Dir, s.Name+".pem")
		der := Must(x509.MarshalPKIXPublicKey(&ours.PublicKey))
		Expect(os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}), 0o600)).To(Succeed())
		WithProvider(ctx, func(p *Provider) { p.Args = []string{"--module-verification-key=" + Signer + "=" + file} })
		c := signed("1.0.0", ours)
		Push(ctx, c)
		s.Create(ctx, m.Template("regular", c))
		verified := func(status corev1.ConditionStatus, message ...string) {
			GinkgoHelper()
			Eventually(GetTemplate).WithContext(ctx).WithArguments(m.TemplateName("regular")).Should(
				HaveField("Status.Conditions", ContainElement(SatisfyAll(
					HaveField("Type", v1alpha1.TypeVerified), HaveField("Status", status), HaveField("Message", ContainAll(message))))))
		}
		verified(corev1.ConditionTrue)
		m.Release(ctx, "regular", "1.0.1")
		verified(corev1.ConditionFalse, Signer)
		c = signed("1.0.2", ours)
		Push(ctx, c)
		UpdateTemplate(ctx, m.TemplateName("regular"), func(t *v1alpha1.ModuleTemplate) { t.Spec.Component = ComponentAt(c) })
		verified(corev1.ConditionTrue)
	})
})

// chartOf returns the digest of the first resource of a component, in hexadecimal digits.
func chartOf(p controlplane.PushedComponent) string {
	_, digest, _ := strings.Cut(string(p.Descriptor), "sha256:")
	return digest[:64]
}
