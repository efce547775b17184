// SPDX-License-Identifier: Apache-2.0

package sources

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"strings"

	. "github.com/crossplane-contrib/provider-kyma/test/integration/harness"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/ocm"
)

var _ = Describe("Signature verification", func() {
	var (
		s            *Space
		source       v1alpha1.Source
		ours, theirs *rsa.PrivateKey
	)

	BeforeEach(func(ctx SpecContext) {
		ours, theirs = Must(rsa.GenerateKey(rand.Reader, 2048)), Must(rsa.GenerateKey(rand.Reader, 2048))
		s = NewSpace(ctx)
		source = WebChart().PushLayer(ctx)
		Publish(ctx, s, ours)
		s.Config(ctx, Own, Env.Target.Kubeconfig(), Verification(v1alpha1.VerificationEnforce))
	})

	manifest := func(descriptor *runtime.RawExtension) *v1alpha1.Manifest {
		m := With(Web(s, source), Own)
		m.Spec.ForProvider.Descriptor = descriptor
		return m
	}
	describes := func(descriptor *runtime.RawExtension) func(m *v1alpha1.Manifest) {
		return func(m *v1alpha1.Manifest) { m.Spec.ForProvider.Descriptor = descriptor }
	}
	signed := func() *runtime.RawExtension { return sign(descriptorOf(source), Signer, ours) }

	It("accepts signed content, and reports the signer", func(ctx SpecContext) {
		s.Install(ctx, manifest(signed()))
		Eventually(s.Get).WithContext(ctx).WithArguments("web").Should(BeVerified(corev1.ConditionTrue, Signer))
	})

	DescribeTable("in mode Enforce rejects content that is", func(ctx SpecContext, descriptor func() *runtime.RawExtension, says string) {
		s.Create(ctx, manifest(descriptor()))
		Eventually(s.Get).WithContext(ctx).WithArguments("web").Should(SatisfyAll(
			BeVerified(corev1.ConditionFalse, says), NotSynced("a valid signature is required", says), NotReady(says), ReadyBecause(v1alpha1.ReasonBlocked), HaveState(v1alpha1.StateError, says)))
		AwaitTrouble(ctx, s, "web", says)
		Consistently(s.Leftovers).WithContext(ctx).WithArguments(Env.Target).WithPolling(Calm).Should(BeEmpty())

		By("continuing once it is signed")
		s.Update(ctx, "web", describes(signed()))
		s.AwaitReady(ctx, "web")
		Eventually(s.Get).WithContext(ctx).WithArguments("web").Should(BeVerified(corev1.ConditionTrue, Signer))
	},
		Entry("without a descriptor", func() *runtime.RawExtension { return nil }, "neither descriptor nor component"),
		Entry("not signed", func() *runtime.RawExtension { return rawDescriptor(descriptorOf(source)) }, Signer),
		Entry("signed with another key", func() *runtime.RawExtension { return sign(descriptorOf(source), Signer, theirs) }, Signer),
		Entry("signed under another name", func() *runtime.RawExtension { return sign(descriptorOf(source), "other", ours) }, Signer),
		Entry("changed after it was signed", func() *runtime.RawExtension {
			old := NewChart("old", "1.0.0").PushLayer(context.Background())
			text := string(sign(descriptorOf(old), Signer, ours).Raw)
			hex := func(source v1alpha1.Source) string { return strings.TrimPrefix(source.Ref, "sha256:") }
			return &runtime.RawExtension{Raw: []byte(strings.ReplaceAll(text, hex(old), hex(source)))}
		}, Signer),
		Entry("signed for another chart", func() *runtime.RawExtension {
			return sign(descriptorOf(NewChart("other", "1.0.0").PushLayer(context.Background())), Signer, ours)
		}, `install "web"`),
	)

	It("applies a changed key: content that is no longer trusted stays as it is", func(ctx SpecContext) {
		Publish(ctx, s, theirs)
		s.Create(ctx, manifest(signed()))
		AwaitTrouble(ctx, s, "web", Signer)
		Publish(ctx, s, ours)
		s.AwaitReady(ctx, "web")

		By("repairing nothing")
		Publish(ctx, s, theirs)
		Eventually(s.Get).WithContext(ctx).WithArguments("web").Should(SatisfyAll(
			BeVerified(corev1.ConditionFalse, Signer), HaveState(v1alpha1.StateError, "a valid signature is required")))
		Edit(ctx, s.MustConfigMap(ctx, "web-settings"), `{"data":{"message":"changed"}}`)
		Consistently(s.ConfigMap).WithContext(ctx).WithArguments("web-settings").Should(HaveData("message", "changed"))

		By("continuing when the key is restored")
		Publish(ctx, s, ours)
		s.AwaitMessage(ctx, "web-settings", "hello")
		s.AwaitReady(ctx, "web")

		By("removing the Manifest while its content is not trusted")
		Publish(ctx, s, theirs)
		Eventually(s.Get).WithContext(ctx).WithArguments("web").Should(HaveState(v1alpha1.StateError))
		s.Remove(ctx, "web")
		Expect(s.Leftovers(ctx, Env.Target)).To(BeEmpty())
	})

	It("in mode Warn installs with a warning, until it is turned off", func(ctx SpecContext) {
		Configure(ctx, s, Own, Verification(v1alpha1.VerificationWarn))
		s.Install(ctx, manifest(sign(descriptorOf(source), Signer, theirs)))
		Eventually(s.Get).WithContext(ctx).WithArguments("web").Should(BeVerified(corev1.ConditionFalse, Signer))
		Eventually(Events).WithContext(ctx).WithArguments(s, "web").Should(ContainElement(SatisfyAll(
			HavePrefix("Warning NotVerified"), ContainSubstring(Signer))))
		s.AwaitReady(ctx, "web")

		Configure(ctx, s, Own, Verification(v1alpha1.VerificationOff))
		Eventually(s.Get).WithContext(ctx).WithArguments("web").Should(SatisfyAll(BeReady(),
			HaveField("Status.Conditions", Not(ContainElement(HaveField("Type", v1alpha1.TypeVerified))))))
	})
})

// descriptorOf returns the component descriptor of a module with one chart.
func descriptorOf(source v1alpha1.Source) *ocm.Descriptor {
	GinkgoHelper()
	return Must(ocm.Decode(Must(json.Marshal(map[string]any{
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
	return rawDescriptor(Must(ocm.Sign(d, name, key)))
}

func rawDescriptor(d *ocm.Descriptor) *runtime.RawExtension {
	return &runtime.RawExtension{Raw: d.JSON()}
}
