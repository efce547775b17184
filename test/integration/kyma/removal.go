// SPDX-License-Identifier: Apache-2.0

package kyma

import (
	. "github.com/crossplane-contrib/provider-kyma/test/integration/harness"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
)

var _ = Describe("Disabling a module", func() {
	var (
		s           *Space
		stays, goes *Offer
	)

	BeforeEach(func(ctx SpecContext) {
		s = NewSpace(ctx)
		stays, goes = NewOffer(s, "stays"), OfferOperated(s, "goes")
		stays.Release(ctx, "regular", "1.0.0")
		goes.Release(ctx, "regular", "1.0.0")
		s.Create(ctx, s.Kyma("kyma", stays.Module(), goes.Module()))
		goes.Report(ctx, `{"state":"Ready"}`)
		s.AwaitKyma(ctx, "kyma")
	})

	It("removes only this module", func(ctx SpecContext) {
		before, manifest := Must(stays.Installed(ctx)), Must(s.Get(ctx, stays.Manifest("kyma")))
		s.UpdateKyma(ctx, "kyma", SetModules(stays.Module()))
		s.AwaitKyma(ctx, "kyma")
		Expect(goes.Absent(ctx)).To(BeTrue())
		Expect(s.Leftovers(ctx, Env.Target)).NotTo(ContainElement(ContainSubstring(goes.Name)))
		Expect(Must(stays.Installed(ctx)).ResourceVersion).To(Equal(before.ResourceVersion))
		Expect(Must(s.Get(ctx, manifest.Name)).ResourceVersion).To(Equal(manifest.ResourceVersion))
	})

	It("works if its template no longer exists", func(ctx SpecContext) {
		DeleteTemplate(ctx, goes.TemplateName("regular"))
		Eventually(s.GetKyma).WithContext(ctx).WithArguments("kyma").Should(HaveModule(goes.Name, v1alpha1.StateError, goes.Name))
		Consistently(goes.Installed).WithContext(ctx).Should(HaveData("version", "1.0.0"))
		s.UpdateKyma(ctx, "kyma", SetModules(stays.Module()))
		s.AwaitKyma(ctx, "kyma")
		Expect(s.Leftovers(ctx, Env.Target)).NotTo(ContainElement(ContainSubstring(goes.Name)))
	})

	It("works if the registry is unavailable", func(ctx SpecContext) {
		DeferCleanup(func() { Env.Registry.SetFault(nil) })
		Env.Registry.SetFault(Unavailable)
		s.UpdateKyma(ctx, "kyma", SetModules(stays.Module()))
		s.AwaitKyma(ctx, "kyma")
		Expect(s.Leftovers(ctx, Env.Target)).NotTo(ContainElement(ContainSubstring(goes.Name)))
	})

	It("and enabling it again installs it after a complete removal", func(ctx SpecContext) {
		before, manifest := Must(goes.Installed(ctx)), Must(s.Get(ctx, goes.Manifest("kyma")))
		goes.Hold(ctx, true)
		s.UpdateKyma(ctx, "kyma", SetModules(stays.Module()))
		Eventually(s.GetKyma).WithContext(ctx).WithArguments("kyma").Should(HaveModule(goes.Name, v1alpha1.StateDeleting))
		s.UpdateKyma(ctx, "kyma", SetModules(stays.Module(), goes.Module()))
		Eventually(s.GetKyma).WithContext(ctx).WithArguments("kyma").Should(HaveModule(goes.Name, v1alpha1.StateDeleting, "waiting for the previous installation", goes.Says()))
		Consistently(s.Get).WithContext(ctx).WithArguments(manifest.Name).Should(SatisfyAll(
			HaveField("UID", manifest.UID), HaveField("DeletionTimestamp", Not(BeNil()))))

		goes.Hold(ctx, false)
		Eventually(goes.Installed).WithContext(ctx).Should(HaveField("UID", Not(Equal(before.UID))))
		goes.Report(ctx, `{"state":"Ready"}`)
		s.AwaitKyma(ctx, "kyma")
		Expect(Must(s.Get(ctx, manifest.Name)).UID).NotTo(Equal(manifest.UID))
	})

	It("works if the status of the Kyma was cleared", func(ctx SpecContext) {
		Expect(Env.Provider.Terminate(ctx)).To(Succeed())
		DeferCleanup(func(ctx SpecContext) {
			if Env.Provider.Process.State() != nil {
				Expect(Env.Provider.Start(ctx)).To(Succeed())
			}
		})
		Wipe(ctx, Must(s.GetKyma(ctx, "kyma")))
		Wipe(ctx, Must(s.Get(ctx, goes.Manifest("kyma"))))
		s.UpdateKyma(ctx, "kyma", SetModules(stays.Module()))
		Expect(Env.Provider.Start(ctx)).To(Succeed())
		s.AwaitKyma(ctx, "kyma")
		Expect(s.Leftovers(ctx, Env.Target)).NotTo(ContainElement(ContainSubstring(goes.Name)))
	})
})

var _ = Describe("The Manifest of a module", func() {
	var (
		s *Space
		m *Offer
	)

	BeforeEach(func(ctx SpecContext) {
		s = NewSpace(ctx)
		m = OfferOperated(s, "mod")
		m.Release(ctx, "regular", "1.0.0")
		s.Create(ctx, s.Kyma("kyma", m.Module()))
		m.Report(ctx, `{"state":"Ready"}`)
		s.AwaitKyma(ctx, "kyma")
	})

	It("is recreated if a user deletes it, after its objects are deleted", func(ctx SpecContext) {
		before, manifest := Must(m.Installed(ctx)), Must(s.Get(ctx, m.Manifest("kyma")))
		m.Hold(ctx, true)
		s.Delete(ctx, manifest.Name)
		Eventually(s.GetKyma).WithContext(ctx).WithArguments("kyma").Should(HaveModule(m.Name, v1alpha1.StateDeleting, m.Says()))
		Consistently(s.Get).WithContext(ctx).WithArguments(manifest.Name).Should(SatisfyAll(
			HaveField("UID", manifest.UID), HaveField("Finalizers", Not(BeEmpty())), HaveField("Generation", BeNumerically("<=", manifest.Generation+1))))
		m.Hold(ctx, false)
		m.Report(ctx, `{"state":"Ready"}`)
		s.AwaitKyma(ctx, "kyma")
		Expect(Must(m.Installed(ctx)).UID).NotTo(Equal(before.UID))
		Expect(Must(s.Get(ctx, manifest.Name)).UID).NotTo(Equal(manifest.UID))
	})

	It("is restored if a user changes it", func(ctx SpecContext) {
		name := m.Manifest("kyma")
		want := Must(s.Get(ctx, name)).Spec.ForProvider
		s.Update(ctx, name, SetValues(Values{"message": "edited"}))
		Eventually(s.Get).WithContext(ctx).WithTimeout(Prompt).WithArguments(name).Should(HaveField("Spec.ForProvider", Equal(want)))
		s.Update(ctx, name, func(m *v1alpha1.Manifest) { m.Spec.ForProvider.Version = "0.0.1" })
		Eventually(s.Get).WithContext(ctx).WithTimeout(Prompt).WithArguments(name).Should(HaveField("Spec.ForProvider.Version", "1.0.0"))
		s.Update(ctx, name, func(m *v1alpha1.Manifest) { delete(m.Labels, v1alpha1.LabelModuleName) })
		Eventually(s.Get).WithContext(ctx).WithTimeout(Prompt).WithArguments(name).Should(HaveField("Labels", HaveKeyWithValue(v1alpha1.LabelModuleName, m.Name)))
		s.AwaitKyma(ctx, "kyma")
		Expect(Must(m.Installed(ctx))).To(HaveData("message", "hello"))
	})

	It("repairs objects that a user changes in the target cluster", func(ctx SpecContext) {
		Edit(ctx, Must(m.Installed(ctx)), `{"data":{"message":"changed"}}`)
		s.AwaitMessage(ctx, m.Name, "hello")
	})
})

var _ = Describe("Deleting a Kyma", func() {
	var (
		s *Space
		m *Offer
	)

	BeforeEach(func(ctx SpecContext) {
		s = NewSpace(ctx)
		m = OfferOperated(s, "mod")
		m.Release(ctx, "regular", "1.0.0")
	})

	ready := func(ctx SpecContext) {
		s.Create(ctx, s.Kyma("kyma", m.Module()))
		m.Report(ctx, `{"state":"Ready"}`)
		s.AwaitKyma(ctx, "kyma")
	}
	expectNothing := func(ctx SpecContext) {
		Expect(s.Manifests(ctx)).To(BeEmpty())
		Expect(s.Leftovers(ctx, Env.Target)).To(BeEmpty())
	}

	DescribeTable("removes all modules before the Kyma is gone", func(ctx SpecContext, propagation metav1.DeletionPropagation) {
		ready(ctx)
		m.Hold(ctx, true)
		s.DeleteKyma(ctx, "kyma", client.PropagationPolicy(propagation))
		Eventually(s.GetKyma).WithContext(ctx).WithArguments("kyma").Should(SatisfyAll(
			HaveKymaState(v1alpha1.StateDeleting, m.Name, m.Says()), HaveModule(m.Name, v1alpha1.StateDeleting, m.Says(), "example.org/hold")))
		Consistently(Gone(s.GetKyma)).WithContext(ctx).WithArguments("kyma").Should(BeFalse())
		m.Hold(ctx, false)
		s.AwaitKymaGone(ctx, "kyma")
		expectNothing(ctx)
	},
		Entry("with background propagation", metav1.DeletePropagationBackground),
		Entry("with foreground propagation", metav1.DeletePropagationForeground),
	)

	It("removes all modules without templates, status and registry", func(ctx SpecContext) {
		ready(ctx)
		DeferCleanup(func() { Env.Registry.SetFault(nil) })
		Env.Registry.SetFault(Unavailable)
		DeleteTemplate(ctx, m.TemplateName("regular"))
		Wipe(ctx, Must(s.GetKyma(ctx, "kyma")))
		Wipe(ctx, Must(s.Get(ctx, m.Manifest("kyma"))))
		s.RemoveKyma(ctx, "kyma")
		expectNothing(ctx)
	})

	It("waits for an unreachable cluster, and abandons it only on request", func(ctx SpecContext) {
		edge := Must(controlplane.Start(ctx, controlplane.Options{Name: "edge"}))
		DeferCleanup(edge.Stop)
		s.Config(ctx, "edge", edge.Kubeconfig())
		simple := NewOffer(s, "simple")
		simple.Release(ctx, "regular", "1.0.0")
		c := Must(NewClient(edge))
		Expect(c.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.Name}})).To(Succeed())
		s.Enable(ctx, OnConfig(s.Kyma("first", simple.Module()), "edge"))

		By("completing after the outage")
		edge.StopAPIServer()
		s.DeleteKyma(ctx, "first")
		Eventually(s.GetKyma).WithContext(ctx).WithArguments("first").Should(HaveModule(simple.Name, v1alpha1.StateDeleting, "connection refused"))
		Consistently(Gone(s.GetKyma)).WithContext(ctx).WithArguments("first").Should(BeFalse())
		Expect(edge.StartAPIServer(ctx)).To(Succeed())
		Eventually(Gone(s.GetKyma)).WithContext(ctx).WithTimeout(Recovery).WithArguments("first").Should(BeTrue())
		Expect(s.Leftovers(ctx, edge)).To(BeEmpty())

		By("abandoning a cluster that no longer exists")
		s.Enable(ctx, OnConfig(s.Kyma("second", simple.Module()), "edge"))
		edge.StopAPIServer()
		s.DeleteKyma(ctx, "second")
		Eventually(s.GetKyma).WithContext(ctx).WithArguments("second").Should(HaveModule(simple.Name, v1alpha1.StateDeleting, v1alpha1.AnnotationAbandon))
		Consistently(Gone(s.GetKyma)).WithContext(ctx).WithArguments("second").Should(BeFalse())
		s.AnnotateKyma(ctx, "second", v1alpha1.AnnotationAbandon, "true")
		s.AwaitKymaGone(ctx, "second")
		Expect(s.Manifests(ctx)).To(BeEmpty())
		Eventually(s.KymaEvents).WithContext(ctx).WithArguments("second").Should(ContainElement(BeEvent("Warning Abandoned", simple.Name, "edge")))
	})

	It("works without the permission to delete Manifests, but not without the permission to read them", func(ctx SpecContext) {
		kubeconfig := Restricted(ctx, s)
		WithProvider(ctx, func(p *Provider) { p.Kubeconfig = kubeconfig })
		other := NewOffer(s, "other")
		other.Release(ctx, "regular", "1.0.0")
		s.Create(ctx, s.Kyma("kyma", m.Module(), other.Module()))
		m.Report(ctx, `{"state":"Ready"}`)
		s.AwaitKyma(ctx, "kyma")

		By("disabling a module")
		s.UpdateKyma(ctx, "kyma", SetModules(m.Module()))
		s.AwaitKyma(ctx, "kyma")
		Expect(other.Absent(ctx)).To(BeTrue())

		By("enabling it again")
		s.UpdateKyma(ctx, "kyma", SetModules(m.Module(), other.Module()))
		s.AwaitKyma(ctx, "kyma")
		Expect(other.Absent(ctx)).To(BeFalse())

		By("deleting the Kyma while the permissions are missing")
		m.Hold(ctx, true)
		s.DeleteKyma(ctx, "kyma")
		Eventually(s.GetKyma).WithContext(ctx).WithArguments("kyma").Should(HaveModule(m.Name, v1alpha1.StateDeleting, "example.org/hold"))
		Allow(ctx, s, "get", "watch")
		AwaitDenied(ctx, Env.ControlClient, s.Name, authorizationv1.ResourceAttributes{Namespace: s.Name, Verb: "update", Group: v1alpha1.Group, Resource: "manifests"})
		m.Hold(ctx, false)
		Consistently(Gone(s.GetKyma)).WithContext(ctx).WithArguments("kyma").Should(BeFalse())
		Allow(ctx, s, ProviderVerbs()...)
		Eventually(Gone(s.GetKyma)).WithContext(ctx).WithTimeout(Recovery).WithArguments("kyma").Should(BeTrue())
		expectNothing(ctx)
	})
})
