// SPDX-License-Identifier: Apache-2.0

package kyma

import (
	"context"

	. "github.com/crossplane-contrib/provider-kyma/test/integration/harness"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// paused is the annotation that stops the reconciliation.
const paused = "crossplane.io/paused"

var _ = Describe("A Kyma propagates to its Manifests", func() {
	var (
		s *Space
		m *Offer
	)

	BeforeEach(func(ctx SpecContext) {
		s = NewSpace(ctx)
		m = NewOffer(s, "mod")
		m.Release(ctx, "regular", "1.0.0")
	})

	keep := xpv2.ManagementPolicies{
		xpv2.ManagementActionObserve, xpv2.ManagementActionCreate, xpv2.ManagementActionUpdate, xpv2.ManagementActionLateInitialize,
	}
	policies := func(p ...xpv2.ManagementAction) func(k *v1alpha1.Kyma) {
		return func(k *v1alpha1.Kyma) { k.Spec.ManagementPolicies = p }
	}

	It("its ProviderConfig and its policies", func(ctx SpecContext) {
		s.Config(ctx, "another", Env.Target.Kubeconfig())
		k := OnConfig(s.Kyma("kyma", m.Module()), "another")
		policies(keep...)(k)
		s.Enable(ctx, k)
		manifest := Must(s.Get(ctx, m.Manifest("kyma")))
		Expect(manifest.Spec.ProviderConfigReference).To(HaveValue(Equal(xpv2.ProviderConfigReference{Kind: v1alpha1.ProviderConfigKind, Name: "another"})))
		Expect(manifest.Spec.ManagementPolicies).To(Equal(keep))

		s.UpdateKyma(ctx, "kyma", policies(xpv2.ManagementActionAll))
		Eventually(s.Get).WithContext(ctx).WithTimeout(Prompt).WithArguments(manifest.Name).Should(
			HaveField("Spec.ManagementPolicies", xpv2.ManagementPolicies{xpv2.ManagementActionAll}))
		s.AwaitKyma(ctx, "kyma")
	})

	It("the pause annotation, and its removal", func(ctx SpecContext) {
		s.Enable(ctx, s.Kyma("kyma", m.Module()))
		s.AnnotateKyma(ctx, "kyma", paused, "true")
		Eventually(s.Get).WithContext(ctx).WithArguments(m.Manifest("kyma")).Should(SatisfyAll(
			HaveField("Annotations", SatisfyAll(HaveKeyWithValue(paused, "true"), HaveKeyWithValue(v1alpha1.AnnotationPausedBy, "kyma"))),
			HaveField("Status.Conditions", ContainElement(SatisfyAll(HaveField("Type", xpv2.TypeSynced), HaveField("Reason", xpv2.ReasonReconcilePaused))))))
		Edit(ctx, Must(m.Installed(ctx)), `{"data":{"message":"changed"}}`)
		m.Release(ctx, "regular", "1.1.0")
		Consistently(m.Installed).WithContext(ctx).Should(SatisfyAll(HaveData("message", "changed"), HaveData("version", "1.0.0")))

		s.AnnotateKyma(ctx, "kyma", paused, "")
		m.AwaitVersion(ctx, "1.1.0")
		s.AwaitMessage(ctx, m.Name, "hello")
		s.AwaitKyma(ctx, "kyma")
		Expect(Must(s.Get(ctx, m.Manifest("kyma"))).Annotations).NotTo(Or(HaveKey(paused), HaveKey(v1alpha1.AnnotationPausedBy)))
	})

	It("nothing while another client has paused a Manifest", func(ctx SpecContext) {
		s.Enable(ctx, s.Kyma("kyma", m.Module()))
		s.Update(ctx, m.Manifest("kyma"), Annotate[*v1alpha1.Manifest](paused, "true"))
		stopped := HaveField("Status.Conditions", ContainElement(SatisfyAll(
			HaveField("Type", xpv2.TypeSynced), HaveField("Reason", xpv2.ReasonReconcilePaused))))
		Eventually(s.Get).WithContext(ctx).WithArguments(m.Manifest("kyma")).Should(stopped)
		s.AnnotateKyma(ctx, "kyma", paused, "true")
		Eventually(s.GetKyma).WithContext(ctx).WithArguments("kyma").Should(stopped)
		s.AnnotateKyma(ctx, "kyma", paused, "")
		Consistently(s.Get).WithContext(ctx).WithArguments(m.Manifest("kyma")).Should(HaveField("Annotations", HaveKeyWithValue(paused, "true")))
		s.Update(ctx, m.Manifest("kyma"), Annotate[*v1alpha1.Manifest](paused, ""))
		s.AwaitKyma(ctx, "kyma")
	})

	It("policies without Delete, so that a Kyma with the same name adopts the modules", func(ctx SpecContext) {
		k := s.Kyma("kyma", m.Module())
		policies(keep...)(k)
		s.Enable(ctx, k)
		before := Must(m.Installed(ctx))
		s.RemoveKyma(ctx, "kyma")
		Eventually(s.Manifests).WithContext(ctx).Should(BeEmpty())
		Consistently(m.Installed).WithContext(ctx).Should(SatisfyAll(
			HaveField("UID", before.UID), HaveField("ResourceVersion", before.ResourceVersion), HaveField("DeletionTimestamp", BeNil())))

		s.Enable(ctx, s.Kyma("kyma", m.Module()))
		Expect(Must(m.Installed(ctx)).UID).To(Equal(before.UID))
		s.RemoveKyma(ctx, "kyma")
		Expect(s.Leftovers(ctx, Env.Target)).To(BeEmpty())
	})

	It("policies that change immediately before it is deleted", func(ctx SpecContext) {
		s.Enable(ctx, s.Kyma("kyma", m.Module()))
		before := Must(m.Installed(ctx))
		s.UpdateKyma(ctx, "kyma", policies(keep...))
		s.RemoveKyma(ctx, "kyma")
		Eventually(s.Manifests).WithContext(ctx).Should(BeEmpty())
		Expect(Must(m.Installed(ctx)).UID).To(Equal(before.UID))

		s.Enable(ctx, s.Kyma("kyma", m.Module()))
		s.RemoveKyma(ctx, "kyma")
		Expect(s.Leftovers(ctx, Env.Target)).To(BeEmpty())
	})
})

var _ = Describe("Two Kymas", func() {
	const foreign = "does not belong to this module"
	var (
		s *Space
		m *Offer
	)

	BeforeEach(func(ctx SpecContext) {
		s = NewSpace(ctx)
		m = NewOffer(s, "mod")
		m.Release(ctx, "regular", "1.0.0")
	})

	It("with the same module and target cluster cause an error of the second one, without endless changes", func(ctx SpecContext) {
		s.Enable(ctx, s.Kyma("first", m.Module()))
		installed := Must(m.Installed(ctx))
		s.Create(ctx, s.Kyma("second", m.Module()))
		collides := SatisfyAll(
			HaveKymaState(v1alpha1.StateError, m.Name, foreign), HaveModule(m.Name, v1alpha1.StateError, foreign), HaveField("Status.AtProvider.ModulesReady", "0/1"))
		Eventually(s.GetKyma).WithContext(ctx).WithArguments("second").Should(collides)
		s.AwaitKyma(ctx, "first")
		awaitUnchanged(ctx, s)
		Expect(Must(m.Installed(ctx)).ResourceVersion).To(Equal(installed.ResourceVersion))
		Expect(s.GetKyma(ctx, "first")).To(BeReadyKyma())
		Expect(s.GetKyma(ctx, "second")).To(collides)

		By("installing the module of the second Kyma when the first one is deleted")
		s.RemoveKyma(ctx, "first")
		s.AwaitKyma(ctx, "second")
		Expect(Must(m.Installed(ctx)).UID).NotTo(Equal(installed.UID))
	})

	It("with the same module and target cluster keep the module when the second one is deleted", func(ctx SpecContext) {
		s.Enable(ctx, s.Kyma("first", m.Module()))
		installed := Must(m.Installed(ctx))
		s.Create(ctx, s.Kyma("second", m.Module()))
		Eventually(s.GetKyma).WithContext(ctx).WithArguments("second").Should(HaveModule(m.Name, v1alpha1.StateError, foreign))
		s.RemoveKyma(ctx, "second")
		Expect(Must(m.Installed(ctx)).ResourceVersion).To(Equal(installed.ResourceVersion))
		s.AwaitKyma(ctx, "first")
	})

	It("do not adopt a Manifest that another client created with the same name", func(ctx SpecContext) {
		s.Enable(ctx, s.Kyma("a", m.Module()))
		taken := s.Manifest(m.Manifest("b"), s.InstallOf("web", WebChart().PushLayer(ctx), Values{"workload": false}))
		s.Install(ctx, taken)
		s.Create(ctx, s.Kyma("b", m.Module()))
		Eventually(s.GetKyma).WithContext(ctx).WithArguments("b").Should(HaveModule(m.Name, v1alpha1.StateError, taken.Name, "does not belong"))
		Expect(s.Get(ctx, taken.Name)).To(SatisfyAll(BeReady(), HaveField("OwnerReferences", BeEmpty())))
		s.RemoveKyma(ctx, "b")
		s.AwaitReady(ctx, taken.Name)
	})
})

// awaitUnchanged waits until Kymas and Manifests of the space stop changing: retries after an error must not show.
func awaitUnchanged(ctx context.Context, s *Space) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		before := Must(versionsOf(ctx, s))
		g.Consistently(versionsOf).WithContext(ctx).WithArguments(s).WithTimeout(Calm).Should(Equal(before))
	}).WithContext(ctx).Should(Succeed())
	before := Must(versionsOf(ctx, s))
	Consistently(versionsOf).WithContext(ctx).WithArguments(s).WithTimeout(2 * Calm).Should(Equal(before))
}

// versionsOf returns the resource versions of the Kymas and Manifests of the space, by kind and name.
func versionsOf(ctx context.Context, s *Space) (map[string]string, error) {
	out := map[string]string{}
	kymas, err := s.ListKymas(ctx)
	if err != nil {
		return nil, err
	}
	for i := range kymas {
		out["Kyma "+kymas[i].Name] = kymas[i].ResourceVersion
	}
	manifests, err := s.ListManifests(ctx)
	for i := range manifests {
		out["Manifest "+manifests[i].Name] = manifests[i].ResourceVersion
	}
	return out, err
}
