// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// paused is the annotation that stops the reconciliation.
const paused = "crossplane.io/paused"

var _ = Describe("A Kyma hands on", func() {
	var (
		s *space
		m *offer
	)

	BeforeEach(func(ctx SpecContext) {
		s = newSpace(ctx)
		m = s.offer("mod")
		m.release(ctx, "regular", "1.0.0")
	})

	keep := xpv2.ManagementPolicies{
		xpv2.ManagementActionObserve, xpv2.ManagementActionCreate, xpv2.ManagementActionUpdate, xpv2.ManagementActionLateInitialize,
	}
	policies := func(p ...xpv2.ManagementAction) func(k *v1alpha1.Kyma) {
		return func(k *v1alpha1.Kyma) { k.Spec.ManagementPolicies = p }
	}

	It("its ProviderConfig and its policies", func(ctx SpecContext) {
		s.config(ctx, "another", env.target.Kubeconfig())
		k := onConfig(s.kyma("kyma", m.module()), "another")
		policies(keep...)(k)
		s.enable(ctx, k)
		manifest := must(s.get(ctx, m.manifest("kyma")))
		Expect(manifest.Spec.ProviderConfigReference).To(HaveValue(Equal(xpv2.ProviderConfigReference{Kind: v1alpha1.ProviderConfigKind, Name: "another"})))
		Expect(manifest.Spec.ManagementPolicies).To(Equal(keep))

		s.updateKyma(ctx, "kyma", policies(xpv2.ManagementActionAll))
		Eventually(s.get).WithContext(ctx).WithTimeout(prompt).WithArguments(manifest.Name).Should(
			HaveField("Spec.ManagementPolicies", xpv2.ManagementPolicies{xpv2.ManagementActionAll}))
		s.awaitKyma(ctx, "kyma")
	})

	It("that it is paused, and that it no longer is", func(ctx SpecContext) {
		s.enable(ctx, s.kyma("kyma", m.module()))
		s.annotateKyma(ctx, "kyma", paused, "true")
		Eventually(s.get).WithContext(ctx).WithArguments(m.manifest("kyma")).Should(SatisfyAll(
			HaveField("Annotations", SatisfyAll(HaveKeyWithValue(paused, "true"), HaveKeyWithValue(v1alpha1.AnnotationPausedBy, "kyma"))),
			HaveField("Status.Conditions", ContainElement(SatisfyAll(HaveField("Type", xpv2.TypeSynced), HaveField("Reason", xpv2.ReasonReconcilePaused))))))
		edit(ctx, must(m.installed(ctx)), `{"data":{"message":"changed"}}`)
		m.release(ctx, "regular", "1.1.0")
		Consistently(m.installed).WithContext(ctx).Should(SatisfyAll(haveData("message", "changed"), haveData("version", "1.0.0")))

		s.annotateKyma(ctx, "kyma", paused, "")
		m.awaitVersion(ctx, "1.1.0")
		s.awaitMessage(ctx, m.name, "hello")
		s.awaitKyma(ctx, "kyma")
		Expect(must(s.get(ctx, m.manifest("kyma"))).Annotations).NotTo(Or(HaveKey(paused), HaveKey(v1alpha1.AnnotationPausedBy)))
	})

	It("nothing to a Manifest that another client has paused", func(ctx SpecContext) {
		s.enable(ctx, s.kyma("kyma", m.module()))
		s.update(ctx, m.manifest("kyma"), annotate[*v1alpha1.Manifest](paused, "true"))
		stopped := HaveField("Status.Conditions", ContainElement(SatisfyAll(
			HaveField("Type", xpv2.TypeSynced), HaveField("Reason", xpv2.ReasonReconcilePaused))))
		Eventually(s.get).WithContext(ctx).WithArguments(m.manifest("kyma")).Should(stopped)
		s.annotateKyma(ctx, "kyma", paused, "true")
		Eventually(s.getKyma).WithContext(ctx).WithArguments("kyma").Should(stopped)
		s.annotateKyma(ctx, "kyma", paused, "")
		Consistently(s.get).WithContext(ctx).WithArguments(m.manifest("kyma")).Should(HaveField("Annotations", HaveKeyWithValue(paused, "true")))
		s.update(ctx, m.manifest("kyma"), annotate[*v1alpha1.Manifest](paused, ""))
		s.awaitKyma(ctx, "kyma")
	})

	It("that everything is left behind, for a Kyma of the same name to find", func(ctx SpecContext) {
		k := s.kyma("kyma", m.module())
		policies(keep...)(k)
		s.enable(ctx, k)
		before := must(m.installed(ctx))
		s.removeKyma(ctx, "kyma")
		Eventually(s.manifests).WithContext(ctx).Should(BeEmpty())
		Consistently(m.installed).WithContext(ctx).Should(SatisfyAll(
			HaveField("UID", before.UID), HaveField("ResourceVersion", before.ResourceVersion), HaveField("DeletionTimestamp", BeNil())))

		s.enable(ctx, s.kyma("kyma", m.module()))
		Expect(must(m.installed(ctx)).UID).To(Equal(before.UID))
		s.removeKyma(ctx, "kyma")
		Expect(s.leftovers(ctx, env.target)).To(BeEmpty())
	})

	It("that it changes too late, when it is being deleted", func(ctx SpecContext) {
		s.enable(ctx, s.kyma("kyma", m.module()))
		before := must(m.installed(ctx))
		s.updateKyma(ctx, "kyma", policies(keep...))
		s.removeKyma(ctx, "kyma")
		Eventually(s.manifests).WithContext(ctx).Should(BeEmpty())
		Expect(must(m.installed(ctx)).UID).To(Equal(before.UID))

		s.enable(ctx, s.kyma("kyma", m.module()))
		s.removeKyma(ctx, "kyma")
		Expect(s.leftovers(ctx, env.target)).To(BeEmpty())
	})
})

var _ = Describe("Two Kymas", func() {
	const foreign = "does not belong to this module"
	var (
		s *space
		m *offer
	)

	BeforeEach(func(ctx SpecContext) {
		s = newSpace(ctx)
		m = s.offer("mod")
		m.release(ctx, "regular", "1.0.0")
	})

	It("with the same module and target: the second one says so, and nothing flaps", func(ctx SpecContext) {
		s.enable(ctx, s.kyma("first", m.module()))
		installed := must(m.installed(ctx))
		s.create(ctx, s.kyma("second", m.module()))
		collides := SatisfyAll(
			haveKymaState(v1alpha1.StateError, m.name, foreign), haveModule(m.name, v1alpha1.StateError, foreign), HaveField("Status.AtProvider.ModulesReady", "0/1"))
		Eventually(s.getKyma).WithContext(ctx).WithArguments("second").Should(collides)
		s.awaitKyma(ctx, "first")
		awaitUnchanged(ctx, s)
		Expect(must(m.installed(ctx)).ResourceVersion).To(Equal(installed.ResourceVersion))
		Expect(s.getKyma(ctx, "first")).To(beReadyKyma())
		Expect(s.getKyma(ctx, "second")).To(collides)

		By("getting its turn when the first one is gone")
		s.removeKyma(ctx, "first")
		s.awaitKyma(ctx, "second")
		Expect(must(m.installed(ctx)).UID).NotTo(Equal(installed.UID))
	})

	It("with the same module and target: the second one goes, and takes nothing along", func(ctx SpecContext) {
		s.enable(ctx, s.kyma("first", m.module()))
		installed := must(m.installed(ctx))
		s.create(ctx, s.kyma("second", m.module()))
		Eventually(s.getKyma).WithContext(ctx).WithArguments("second").Should(haveModule(m.name, v1alpha1.StateError, foreign))
		s.removeKyma(ctx, "second")
		Expect(must(m.installed(ctx)).ResourceVersion).To(Equal(installed.ResourceVersion))
		s.awaitKyma(ctx, "first")
	})

	It("do not take a Manifest that another client has made under the name of theirs", func(ctx SpecContext) {
		s.enable(ctx, s.kyma("a", m.module()))
		taken := s.manifest(m.manifest("b"), s.installOf("web", webChart().pushLayer(ctx), values{"workload": false}))
		s.install(ctx, taken)
		s.create(ctx, s.kyma("b", m.module()))
		Eventually(s.getKyma).WithContext(ctx).WithArguments("b").Should(haveModule(m.name, v1alpha1.StateError, taken.Name, "does not belong"))
		Expect(s.get(ctx, taken.Name)).To(SatisfyAll(beReady(), HaveField("OwnerReferences", BeEmpty())))
		s.removeKyma(ctx, "b")
		s.awaitReady(ctx, taken.Name)
	})
})

// awaitUnchanged waits until neither Kymas nor Manifests of the space change any more: an error is tried again now and
// then, and that must not show.
func awaitUnchanged(ctx context.Context, s *space) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		before := must(s.versions(ctx))
		g.Consistently(s.versions).WithContext(ctx).WithTimeout(calm).Should(Equal(before))
	}).WithContext(ctx).Should(Succeed())
	before := must(s.versions(ctx))
	Consistently(s.versions).WithContext(ctx).WithTimeout(2 * calm).Should(Equal(before))
}

// versions of the Kymas and Manifests of the space, as the API server counts them.
func (s *space) versions(ctx context.Context) (map[string]string, error) {
	out := map[string]string{}
	kymas, err := s.listKymas(ctx)
	if err != nil {
		return nil, err
	}
	for i := range kymas {
		out["Kyma "+kymas[i].Name] = kymas[i].ResourceVersion
	}
	manifests, err := s.listManifests(ctx)
	for i := range manifests {
		out["Manifest "+manifests[i].Name] = manifests[i].ResourceVersion
	}
	return out, err
}
