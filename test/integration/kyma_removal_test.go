// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"os"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
)

var _ = Describe("Disabling a module", func() {
	var (
		s           *space
		stays, goes *offer
	)

	BeforeEach(func(ctx SpecContext) {
		s = newSpace(ctx)
		stays, goes = s.offer("stays"), s.operated("goes")
		stays.release(ctx, "regular", "1.0.0")
		goes.release(ctx, "regular", "1.0.0")
		s.create(ctx, s.kyma("kyma", stays.module(), goes.module()))
		goes.report(ctx, `{"state":"Ready"}`)
		s.awaitKyma(ctx, "kyma")
	})

	It("removes it, and only it", func(ctx SpecContext) {
		before, manifest := must(stays.installed(ctx)), must(s.get(ctx, stays.manifest("kyma")))
		s.updateKyma(ctx, "kyma", setModules(stays.module()))
		s.awaitKyma(ctx, "kyma")
		Expect(goes.absent(ctx)).To(BeTrue())
		Expect(s.leftovers(ctx, env.target)).NotTo(ContainElement(ContainSubstring(goes.name)))
		Expect(must(stays.installed(ctx)).ResourceVersion).To(Equal(before.ResourceVersion))
		Expect(must(s.get(ctx, manifest.Name)).ResourceVersion).To(Equal(manifest.ResourceVersion))
	})

	It("works when its template is gone by then", func(ctx SpecContext) {
		deleteTemplate(ctx, goes.templateName("regular"))
		Eventually(s.getKyma).WithContext(ctx).WithArguments("kyma").Should(haveModule(goes.name, v1alpha1.StateError, goes.name))
		Consistently(goes.installed).WithContext(ctx).Should(haveData("version", "1.0.0"))
		s.updateKyma(ctx, "kyma", setModules(stays.module()))
		s.awaitKyma(ctx, "kyma")
		Expect(s.leftovers(ctx, env.target)).NotTo(ContainElement(ContainSubstring(goes.name)))
	})

	It("works when the registry is away by then", func(ctx SpecContext) {
		DeferCleanup(func() { env.registry.SetFault(nil) })
		env.registry.SetFault(unavailable)
		s.updateKyma(ctx, "kyma", setModules(stays.module()))
		s.awaitKyma(ctx, "kyma")
		Expect(s.leftovers(ctx, env.target)).NotTo(ContainElement(ContainSubstring(goes.name)))
	})

	It("and enabling it at once waits for the removal, which is complete", func(ctx SpecContext) {
		before, manifest := must(goes.installed(ctx)), must(s.get(ctx, goes.manifest("kyma")))
		goes.hold(ctx, true)
		s.updateKyma(ctx, "kyma", setModules(stays.module()))
		Eventually(s.getKyma).WithContext(ctx).WithArguments("kyma").Should(haveModule(goes.name, v1alpha1.StateDeleting))
		s.updateKyma(ctx, "kyma", setModules(stays.module(), goes.module()))
		Eventually(s.getKyma).WithContext(ctx).WithArguments("kyma").Should(haveModule(goes.name, v1alpha1.StateDeleting, "waits until", goes.says()))
		Consistently(s.get).WithContext(ctx).WithArguments(manifest.Name).Should(SatisfyAll(
			HaveField("UID", manifest.UID), HaveField("DeletionTimestamp", Not(BeNil()))))

		goes.hold(ctx, false)
		Eventually(goes.installed).WithContext(ctx).Should(HaveField("UID", Not(Equal(before.UID))))
		goes.report(ctx, `{"state":"Ready"}`)
		s.awaitKyma(ctx, "kyma")
		Expect(must(s.get(ctx, manifest.Name)).UID).NotTo(Equal(manifest.UID))
	})

	It("still happens after the status of the Kyma was wiped", func(ctx SpecContext) {
		Expect(env.provider.terminate(ctx)).To(Succeed())
		DeferCleanup(func(ctx SpecContext) {
			if env.provider.process.State() != nil {
				Expect(env.provider.start(ctx)).To(Succeed())
			}
		})
		wipe(ctx, must(s.getKyma(ctx, "kyma")))
		wipe(ctx, must(s.get(ctx, goes.manifest("kyma"))))
		s.updateKyma(ctx, "kyma", setModules(stays.module()))
		Expect(env.provider.start(ctx)).To(Succeed())
		s.awaitKyma(ctx, "kyma")
		Expect(s.leftovers(ctx, env.target)).NotTo(ContainElement(ContainSubstring(goes.name)))
	})
})

var _ = Describe("The Manifest of a Kyma's module", func() {
	var (
		s *space
		m *offer
	)

	BeforeEach(func(ctx SpecContext) {
		s = newSpace(ctx)
		m = s.operated("mod")
		m.release(ctx, "regular", "1.0.0")
		s.create(ctx, s.kyma("kyma", m.module()))
		m.report(ctx, `{"state":"Ready"}`)
		s.awaitKyma(ctx, "kyma")
	})

	It("comes back when someone deletes it, after what it installed is gone", func(ctx SpecContext) {
		before, manifest := must(m.installed(ctx)), must(s.get(ctx, m.manifest("kyma")))
		m.hold(ctx, true)
		s.delete(ctx, manifest.Name)
		Eventually(s.getKyma).WithContext(ctx).WithArguments("kyma").Should(haveModule(m.name, v1alpha1.StateDeleting, m.says()))
		Consistently(s.get).WithContext(ctx).WithArguments(manifest.Name).Should(SatisfyAll(
			HaveField("UID", manifest.UID), HaveField("Finalizers", Not(BeEmpty())), HaveField("Generation", BeNumerically("<=", manifest.Generation+1))))
		m.hold(ctx, false)
		m.report(ctx, `{"state":"Ready"}`)
		s.awaitKyma(ctx, "kyma")
		Expect(must(m.installed(ctx)).UID).NotTo(Equal(before.UID))
		Expect(must(s.get(ctx, manifest.Name)).UID).NotTo(Equal(manifest.UID))
	})

	It("is restored when someone edits it", func(ctx SpecContext) {
		name := m.manifest("kyma")
		want := must(s.get(ctx, name)).Spec.ForProvider
		s.update(ctx, name, setValues(values{"message": "edited"}))
		Eventually(s.get).WithContext(ctx).WithTimeout(prompt).WithArguments(name).Should(HaveField("Spec.ForProvider", Equal(want)))
		s.update(ctx, name, func(m *v1alpha1.Manifest) { m.Spec.ForProvider.Version = "0.0.1" })
		Eventually(s.get).WithContext(ctx).WithTimeout(prompt).WithArguments(name).Should(HaveField("Spec.ForProvider.Version", "1.0.0"))
		s.update(ctx, name, func(m *v1alpha1.Manifest) { delete(m.Labels, v1alpha1.LabelModuleName) })
		Eventually(s.get).WithContext(ctx).WithTimeout(prompt).WithArguments(name).Should(HaveField("Labels", HaveKeyWithValue(v1alpha1.LabelModuleName, m.name)))
		s.awaitKyma(ctx, "kyma")
		Expect(must(m.installed(ctx))).To(haveData("message", "hello"))
	})

	It("repairs what someone edits in the target", func(ctx SpecContext) {
		edit(ctx, must(m.installed(ctx)), `{"data":{"message":"changed"}}`)
		s.awaitMessage(ctx, m.name, "hello")
	})
})

var _ = Describe("Deleting a Kyma", func() {
	var (
		s *space
		m *offer
	)

	BeforeEach(func(ctx SpecContext) {
		s = newSpace(ctx)
		m = s.operated("mod")
		m.release(ctx, "regular", "1.0.0")
	})

	ready := func(ctx SpecContext) {
		s.create(ctx, s.kyma("kyma", m.module()))
		m.report(ctx, `{"state":"Ready"}`)
		s.awaitKyma(ctx, "kyma")
	}
	expectNothing := func(ctx SpecContext) {
		Expect(s.manifests(ctx)).To(BeEmpty())
		Expect(s.leftovers(ctx, env.target)).To(BeEmpty())
	}

	DescribeTable("removes everything before the Kyma goes", func(ctx SpecContext, propagation metav1.DeletionPropagation) {
		ready(ctx)
		m.hold(ctx, true)
		s.deleteKyma(ctx, "kyma", client.PropagationPolicy(propagation))
		Eventually(s.getKyma).WithContext(ctx).WithArguments("kyma").Should(SatisfyAll(
			haveKymaState(v1alpha1.StateDeleting, m.name, m.says()), haveModule(m.name, v1alpha1.StateDeleting, m.says(), "example.org/hold")))
		Consistently(gone(s.getKyma)).WithContext(ctx).WithArguments("kyma").Should(BeFalse())
		m.hold(ctx, false)
		s.awaitKymaGone(ctx, "kyma")
		expectNothing(ctx)
	},
		Entry("in the background", metav1.DeletePropagationBackground),
		Entry("in the foreground", metav1.DeletePropagationForeground),
	)

	It("removes everything when template, status and registry are gone", func(ctx SpecContext) {
		ready(ctx)
		DeferCleanup(func() { env.registry.SetFault(nil) })
		env.registry.SetFault(unavailable)
		deleteTemplate(ctx, m.templateName("regular"))
		wipe(ctx, must(s.getKyma(ctx, "kyma")))
		wipe(ctx, must(s.get(ctx, m.manifest("kyma"))))
		s.removeKyma(ctx, "kyma")
		expectNothing(ctx)
	})

	It("waits for a cluster that is away, and gives it up only when someone says so", func(ctx SpecContext) {
		edge := must(controlplane.Start(ctx, controlplane.Options{Name: "edge"}))
		DeferCleanup(edge.Stop)
		s.config(ctx, "edge", edge.Kubeconfig())
		simple := s.offer("simple")
		simple.release(ctx, "regular", "1.0.0")
		c := must(newClient(edge))
		Expect(c.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.name}})).To(Succeed())
		s.enable(ctx, onConfig(s.kyma("first", simple.module()), "edge"))

		By("finishing when the cluster is back")
		edge.StopAPIServer()
		s.deleteKyma(ctx, "first")
		Eventually(s.getKyma).WithContext(ctx).WithArguments("first").Should(haveModule(simple.name, v1alpha1.StateDeleting, "connection refused"))
		Consistently(gone(s.getKyma)).WithContext(ctx).WithArguments("first").Should(BeFalse())
		Expect(edge.StartAPIServer(ctx)).To(Succeed())
		Eventually(gone(s.getKyma)).WithContext(ctx).WithTimeout(recovery).WithArguments("first").Should(BeTrue())
		Expect(s.leftovers(ctx, edge)).To(BeEmpty())

		By("abandoning a cluster that is gone for good")
		s.enable(ctx, onConfig(s.kyma("second", simple.module()), "edge"))
		edge.StopAPIServer()
		s.deleteKyma(ctx, "second")
		Eventually(s.getKyma).WithContext(ctx).WithArguments("second").Should(haveModule(simple.name, v1alpha1.StateDeleting, v1alpha1.AnnotationAbandon))
		Consistently(gone(s.getKyma)).WithContext(ctx).WithArguments("second").Should(BeFalse())
		s.annotateKyma(ctx, "second", v1alpha1.AnnotationAbandon, "true")
		s.awaitKymaGone(ctx, "second")
		Expect(s.manifests(ctx)).To(BeEmpty())
		Eventually(s.kymaEvents).WithContext(ctx).WithArguments("second").Should(ContainElement(beEvent("Warning Abandoned", simple.name, "edge")))
	})

	It("works without the right to delete Manifests, and not without that to see them", func(ctx SpecContext) {
		kubeconfig := s.restricted(ctx)
		withProvider(ctx, func(p *provider) { p.kubeconfig = kubeconfig })
		other := s.offer("other")
		other.release(ctx, "regular", "1.0.0")
		s.create(ctx, s.kyma("kyma", m.module(), other.module()))
		m.report(ctx, `{"state":"Ready"}`)
		s.awaitKyma(ctx, "kyma")

		By("disabling a module")
		s.updateKyma(ctx, "kyma", setModules(m.module()))
		s.awaitKyma(ctx, "kyma")
		Expect(other.absent(ctx)).To(BeTrue())

		By("enabling it again")
		s.updateKyma(ctx, "kyma", setModules(m.module(), other.module()))
		s.awaitKyma(ctx, "kyma")
		Expect(other.absent(ctx)).To(BeFalse())

		By("deleting the Kyma while its rights are gone")
		m.hold(ctx, true)
		s.deleteKyma(ctx, "kyma")
		Eventually(s.getKyma).WithContext(ctx).WithArguments("kyma").Should(haveModule(m.name, v1alpha1.StateDeleting, "example.org/hold"))
		s.allow(ctx, "get", "watch")
		m.hold(ctx, false)
		Consistently(gone(s.getKyma)).WithContext(ctx).WithArguments("kyma").Should(BeFalse())
		s.allow(ctx, providerVerbs()...)
		Eventually(gone(s.getKyma)).WithContext(ctx).WithTimeout(recovery).WithArguments("kyma").Should(BeTrue())
		expectNothing(ctx)
	})
})

// providerVerbs are what the RBAC manager of Crossplane grants providers on their own kinds.
func providerVerbs() []string { return []string{"get", "list", "watch", "update", "patch", "create"} }

// restricted is the kubeconfig of a user of the control plane who has the rights that the RBAC manager of Crossplane grants
// providers, until the end of the spec.
func (s *space) restricted(ctx context.Context) string {
	GinkgoHelper()
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: s.name}, Rules: rulesOf(providerVerbs()...)}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: s.name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: s.name},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: s.name}},
	}
	for _, o := range []client.Object{role, binding} {
		s.create(ctx, o)
		DeferCleanup(func(ctx SpecContext) { Expect(env.controlClient.Delete(ctx, o)).To(Succeed()) })
	}
	file := filepath.Join(env.dir, s.name+".kubeconfig")
	Expect(os.WriteFile(file, kubeconfigOf(env.control, must(env.control.User(s.name))), 0o600)).To(Succeed())
	return file
}

// allow the user no more than these verbs.
func (s *space) allow(ctx context.Context, verbs ...string) {
	GinkgoHelper()
	role := &rbacv1.ClusterRole{}
	Expect(env.controlClient.Get(ctx, client.ObjectKey{Name: s.name}, role)).To(Succeed())
	role.Rules = rulesOf(verbs...)
	Expect(env.controlClient.Update(ctx, role)).To(Succeed())
}

func rulesOf(verbs ...string) []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{
		{APIGroups: []string{v1alpha1.Group}, Resources: []string{"*"}, Verbs: verbs},
		{APIGroups: []string{"", "coordination.k8s.io"}, Resources: []string{"secrets", "configmaps", "events", "leases"}, Verbs: []string{"*"}},
	}
}
