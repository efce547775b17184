// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/ocm"
)

// signer is the name of the signature that counts, and of the Secret with its public key.
const signer = "acme"

var _ = Describe("Verification", func() {
	var (
		s            *space
		source       v1alpha1.Source
		ours, theirs *rsa.PrivateKey
	)

	BeforeEach(func(ctx SpecContext) {
		ours, theirs = must(rsa.GenerateKey(rand.Reader, 2048)), must(rsa.GenerateKey(rand.Reader, 2048))
		s = newSpace(ctx)
		source = webChart().pushLayer(ctx)
		s.publish(ctx, ours)
		s.config(ctx, own, env.target.Kubeconfig(), verification(v1alpha1.VerificationEnforce))
	})

	manifest := func(descriptor *runtime.RawExtension) *v1alpha1.Manifest {
		m := with(s.web(source), own)
		m.Spec.ForProvider.Descriptor = descriptor
		return m
	}
	describes := func(descriptor *runtime.RawExtension) func(m *v1alpha1.Manifest) {
		return func(m *v1alpha1.Manifest) { m.Spec.ForProvider.Descriptor = descriptor }
	}
	signed := func() *runtime.RawExtension { return sign(descriptorOf(source), signer, ours) }

	It("lets through what is signed, and says by whom", func(ctx SpecContext) {
		s.install(ctx, manifest(signed()))
		Eventually(s.get).WithContext(ctx).WithArguments("web").Should(beVerified(corev1.ConditionTrue, signer))
	})

	DescribeTable("that is enforced lets nothing through to the target that is", func(ctx SpecContext, descriptor func() *runtime.RawExtension, says string) {
		s.create(ctx, manifest(descriptor()))
		Eventually(s.get).WithContext(ctx).WithArguments("web").Should(SatisfyAll(
			beVerified(corev1.ConditionFalse, says), notSynced("nothing is applied", says), notReady(says), readyBecause(v1alpha1.ReasonBlocked), haveState(v1alpha1.StateError, says)))
		s.awaitTrouble(ctx, "web", says)
		Consistently(s.leftovers).WithContext(ctx).WithArguments(env.target).WithPolling(calm).Should(BeEmpty())

		By("continuing once it is signed")
		s.update(ctx, "web", describes(signed()))
		s.awaitReady(ctx, "web")
		Eventually(s.get).WithContext(ctx).WithArguments("web").Should(beVerified(corev1.ConditionTrue, signer))
	},
		Entry("without a descriptor", func() *runtime.RawExtension { return nil }, "neither descriptor nor component"),
		Entry("not signed", func() *runtime.RawExtension { return rawDescriptor(descriptorOf(source)) }, signer),
		Entry("signed with another key", func() *runtime.RawExtension { return sign(descriptorOf(source), signer, theirs) }, signer),
		Entry("signed under another name", func() *runtime.RawExtension { return sign(descriptorOf(source), "somebody", ours) }, signer),
		Entry("edited afterwards", func() *runtime.RawExtension {
			old := newChart("old", "1.0.0").pushLayer(context.Background())
			text := string(sign(descriptorOf(old), signer, ours).Raw)
			hex := func(source v1alpha1.Source) string { return strings.TrimPrefix(source.Ref, "sha256:") }
			return &runtime.RawExtension{Raw: []byte(strings.ReplaceAll(text, hex(old), hex(source)))}
		}, signer),
		Entry("signed for another chart", func() *runtime.RawExtension {
			return sign(descriptorOf(newChart("other", "1.0.0").pushLayer(context.Background())), signer, ours)
		}, `install "web"`),
	)

	It("follows the key: what is no longer trusted is left as it is", func(ctx SpecContext) {
		s.publish(ctx, theirs)
		s.create(ctx, manifest(signed()))
		s.awaitTrouble(ctx, "web", signer)
		s.publish(ctx, ours)
		s.awaitReady(ctx, "web")

		By("repairing nothing")
		s.publish(ctx, theirs)
		Eventually(s.get).WithContext(ctx).WithArguments("web").Should(SatisfyAll(
			beVerified(corev1.ConditionFalse, signer), haveState(v1alpha1.StateError, "nothing is applied")))
		edit(ctx, s.mustConfigMap(ctx, "web-settings"), `{"data":{"message":"changed"}}`)
		Consistently(s.configMap).WithContext(ctx).WithArguments("web-settings").Should(haveData("message", "changed"))

		By("continuing when the key is back")
		s.publish(ctx, ours)
		s.awaitMessage(ctx, "web-settings", "hello")
		s.awaitReady(ctx, "web")

		By("removing what is not trusted")
		s.publish(ctx, theirs)
		Eventually(s.get).WithContext(ctx).WithArguments("web").Should(haveState(v1alpha1.StateError))
		s.remove(ctx, "web")
		Expect(s.leftovers(ctx, env.target)).To(BeEmpty())
	})

	It("that only warns installs, and says so until no one asks", func(ctx SpecContext) {
		s.configure(ctx, own, verification(v1alpha1.VerificationWarn))
		s.install(ctx, manifest(sign(descriptorOf(source), signer, theirs)))
		Eventually(s.get).WithContext(ctx).WithArguments("web").Should(beVerified(corev1.ConditionFalse, signer))
		Eventually(s.events).WithContext(ctx).WithArguments("web").Should(ContainElement(SatisfyAll(
			HavePrefix("Warning NotVerified"), ContainSubstring(signer))))
		s.awaitReady(ctx, "web")

		s.configure(ctx, own, verification(v1alpha1.VerificationOff))
		Eventually(s.get).WithContext(ctx).WithArguments("web").Should(SatisfyAll(beReady(),
			HaveField("Status.Conditions", Not(ContainElement(HaveField("Type", v1alpha1.TypeVerified))))))
	})
})

// publish the public key of a signer.
func (s *space) publish(ctx context.Context, key *rsa.PrivateKey) {
	GinkgoHelper()
	der := must(x509.MarshalPKIXPublicKey(&key.PublicKey))
	s.secret(ctx, signer, corev1.SecretTypeOpaque, map[string][]byte{"key": pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})})
}

// verification in a mode, with the key of the signer.
func verification(mode v1alpha1.VerificationMode) func(spec *v1alpha1.ProviderConfigSpec) {
	return func(spec *v1alpha1.ProviderConfigSpec) {
		spec.Verification = &v1alpha1.Verification{Mode: mode, Keys: []v1alpha1.VerificationKey{{
			SignatureName: signer, PublicKeySecretRef: v1alpha1.SecretKeySelector{Name: signer, Key: "key"},
		}}}
	}
}

// descriptorOf a module that consists of one chart.
func descriptorOf(source v1alpha1.Source) *ocm.Descriptor {
	GinkgoHelper()
	return must(ocm.Decode(must(json.Marshal(map[string]any{
		"meta": map[string]any{"schemaVersion": "v2"},
		"component": map[string]any{
			"name": "example.org/module/test", "version": "1.0.0", "provider": "internal",
			"repositoryContexts": []any{}, "sources": []any{}, "componentReferences": []any{},
			"resources": []any{map[string]any{
				"name": "web", "version": "1.0.0", "type": "helm-chart", "relation": "local",
				"access": map[string]any{"type": "localOciBlob", "digest": source.Ref},
				"digest": map[string]any{
					"hashAlgorithm": "sha256", "normalisationAlgorithm": "genericBlobDigest/v1", "value": strings.TrimPrefix(source.Ref, "sha256:"),
				},
			}},
		},
	}))))
}

func sign(d *ocm.Descriptor, name string, key *rsa.PrivateKey) *runtime.RawExtension {
	GinkgoHelper()
	return rawDescriptor(must(ocm.Sign(d, name, key)))
}

func rawDescriptor(d *ocm.Descriptor) *runtime.RawExtension {
	return &runtime.RawExtension{Raw: d.JSON()}
}

// beVerified matches a Manifest by its condition Verified.
func beVerified(status corev1.ConditionStatus, message ...string) types.GomegaMatcher {
	return haveCondition(v1alpha1.TypeVerified, status, containAll(message))
}
