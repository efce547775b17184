// SPDX-License-Identifier: Apache-2.0

package kymaset

import (
	"context"
	"maps"

	. "github.com/crossplane-contrib/provider-kyma/test/integration/harness"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// spaceLabel selects the clusters of a spec.
const spaceLabel = "example.org/space"

// newSet returns a KymaSet that selects the clusters of a space with a label.
func newSet(s *Space, ring string) *v1alpha1.KymaSet {
	set := &v1alpha1.KymaSet{ObjectMeta: metav1.ObjectMeta{Name: s.Name + "-" + ring}}
	set.Spec.ProviderConfigs = &v1alpha1.ProviderConfigSelection{
		Selector: &metav1.LabelSelector{MatchLabels: map[string]string{spaceLabel: s.Name, "ring": ring}},
	}
	set.Spec.Template.Metadata.Labels = map[string]string{"cluster": "$(cluster.name)"}
	set.Spec.Template.Spec.ForProvider.Channel = "$(cluster.labels['channel'])"
	return set
}

// create creates a KymaSet, and deletes it at the end of the spec, before its Kymas.
func create(ctx context.Context, s *Space, set *v1alpha1.KymaSet) {
	GinkgoHelper()
	s.Create(ctx, set)
	DeferCleanup(func(ctx SpecContext) {
		Expect(client.IgnoreNotFound(Env.ControlClient.Delete(ctx, set))).To(Succeed())
		Eventually(func() error { return Env.ControlClient.Get(ctx, client.ObjectKeyFromObject(set), &v1alpha1.KymaSet{}) }).WithContext(ctx).Should(BeNotFound())
	})
}

func get(ctx context.Context, name string) (*v1alpha1.KymaSet, error) {
	set := &v1alpha1.KymaSet{}
	return set, Env.ControlClient.Get(ctx, client.ObjectKey{Name: name}, set)
}

func update(ctx context.Context, name string, edit func(*v1alpha1.KymaSet)) {
	GinkgoHelper()
	Expect(retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		set, err := get(ctx, name)
		if err != nil {
			return err
		}
		edit(set)
		return Env.ControlClient.Update(ctx, set)
	})).To(Succeed())
}

// addCluster creates a ProviderConfig with labels.
func addCluster(ctx context.Context, s *Space, name, ring string) {
	GinkgoHelper()
	s.Config(ctx, name, Env.Target.Kubeconfig())
	relabel(ctx, s, name, map[string]string{spaceLabel: s.Name, "ring": ring, "channel": "regular"})
}

func relabel(ctx context.Context, s *Space, name string, labels map[string]string) {
	GinkgoHelper()
	pc := &v1alpha1.ProviderConfig{}
	Expect(Env.ControlClient.Get(ctx, s.Key(name), pc)).To(Succeed())
	base := pc.DeepCopy()
	if pc.Labels == nil {
		pc.Labels = map[string]string{}
	}
	maps.Copy(pc.Labels, labels)
	Expect(Env.ControlClient.Patch(ctx, pc, client.MergeFrom(base))).To(Succeed())
}

// edit changes an object of the control plane with a merge patch.
func edit(ctx context.Context, o client.Object, patch string) {
	GinkgoHelper()
	Expect(Env.ControlClient.Patch(ctx, o, client.RawPatch("application/merge-patch+json", []byte(patch)))).To(Succeed())
}

// report matches a KymaSet whose status has these counts, for its current generation.
func report(clusters, applied, ready, failed int32) types.GomegaMatcher {
	return And(
		WithTransform(func(s *v1alpha1.KymaSet) bool { return s.Status.ObservedGeneration == s.Generation }, BeTrue()),
		HaveField("Status.Clusters", clusters), HaveField("Status.Applied", applied), HaveField("Status.Ready", ready), HaveField("Status.Failed", failed))
}

// isReady matches a KymaSet that is Ready or not, with a message.
func isReady(status corev1.ConditionStatus, reason xpv2.ConditionReason, message string) types.GomegaMatcher {
	return WithTransform(func(s *v1alpha1.KymaSet) xpv2.Condition { return s.Status.GetCondition(xpv2.TypeReady) }, And(
		HaveField("Status", status), HaveField("Reason", reason), HaveField("Message", ContainSubstring(message))))
}

// versions returns the resource versions of the Kymas of a space and of a KymaSet.
func versions(ctx context.Context, s *Space, set string) map[string]string {
	GinkgoHelper()
	out := map[string]string{set: Must(get(ctx, set)).ResourceVersion}
	for _, k := range Must(s.ListKymas(ctx)) {
		out[k.Name] = k.ResourceVersion
	}
	return out
}

var _ = Describe("A KymaSet", func() {
	var s *Space

	BeforeEach(func(ctx SpecContext) { s = NewSpace(ctx) })

	It("gives each cluster that it selects a Kyma, now and later, and rolls out changes with one write for each", func(ctx SpecContext) {
		addCluster(ctx, s, "one", "a")
		addCluster(ctx, s, "other", "b")
		set := newSet(s, "a")
		create(ctx, s, set)
		k := s.AwaitKyma(ctx, "one")
		Expect(k.Labels).To(And(HaveKeyWithValue("cluster", "one"), HaveKeyWithValue(v1alpha1.LabelKymaSet, set.Name)))
		Expect(k.Spec.ForProvider.Channel).To(Equal("regular"))

		By("selecting a cluster that appears later")
		addCluster(ctx, s, "two", "a")
		s.AwaitKyma(ctx, "two")
		Eventually(get).WithContext(ctx).WithArguments(set.Name).Should(And(report(2, 2, 2, 0), isReady(corev1.ConditionTrue, xpv2.ReasonAvailable, "2 clusters")))
		Expect(Must(s.ListKymas(ctx))).To(HaveLen(2))

		By("keeping the module that the owner of a Kyma adds")
		m := NewOffer(s, "own")
		m.Release(ctx, "regular", "1.0.0")
		s.UpdateKyma(ctx, "one", SetModules(m.Module()))
		s.AwaitKyma(ctx, "one")
		Expect(Must(m.Installed(ctx))).To(HaveData("version", "1.0.0"))
		Eventually(get).WithContext(ctx).WithArguments(set.Name).Should(report(2, 2, 2, 0))

		By("writing nothing while nothing changes, even after a restart")
		AwaitIdle(ctx)
		before := versions(ctx, s, set.Name)
		WithProvider(ctx, func(*Provider) {})
		Consistently(func() map[string]string { return versions(ctx, s, set.Name) }).WithContext(ctx).WithTimeout(3 * Calm).Should(Equal(before))

		By("changing the template, with one change of each Kyma")
		generations := map[string]int64{}
		for _, k := range Must(s.ListKymas(ctx)) {
			generations[k.Name] = k.Generation
		}
		update(ctx, set.Name, func(set *v1alpha1.KymaSet) {
			set.Spec.Template.Spec.ForProvider.MaintenanceWindows = []v1alpha1.MaintenanceWindow{{Schedule: "0 2 * * *", Duration: metav1.Duration{Duration: 7200e9}}}
			set.Spec.Template.Metadata.Labels["more"] = "$(cluster.namespace)"
		})
		Eventually(get).WithContext(ctx).WithArguments(set.Name).Should(report(2, 2, 2, 0))
		for name, generation := range generations {
			k := Must(s.GetKyma(ctx, name))
			Expect(k.Generation).To(Equal(generation + 1))
			Expect(k.Labels).To(HaveKeyWithValue("more", s.Name))
			Expect(k.Spec.ForProvider.MaintenanceWindows).To(HaveLen(1))
		}
		Expect(Must(s.GetKyma(ctx, "one")).Spec.ForProvider.Modules).To(ContainElement(HaveField("Name", m.Name)))

		By("removing what left the template")
		update(ctx, set.Name, func(set *v1alpha1.KymaSet) {
			set.Spec.Template.Spec.ForProvider.MaintenanceWindows = nil
			delete(set.Spec.Template.Metadata.Labels, "more")
		})
		Eventually(s.GetKyma).WithContext(ctx).WithArguments("two").Should(And(
			HaveField("Labels", Not(HaveKey("more"))), HaveField("Spec.ForProvider.MaintenanceWindows", BeEmpty())))

		By("restoring a field of the template that a user changes, and a Kyma that a user deletes")
		s.UpdateKyma(ctx, "two", SetChannel("fast"))
		Eventually(s.GetKyma).WithContext(ctx).WithArguments("two").Should(HaveField("Spec.ForProvider.Channel", "regular"))
		uid := Must(s.GetKyma(ctx, "two")).UID
		s.DeleteKyma(ctx, "two")
		Eventually(s.GetKyma).WithContext(ctx).WithArguments("two").Should(HaveField("UID", Not(Equal(uid))))

		By("following the labels of a cluster")
		relabel(ctx, s, "two", map[string]string{"channel": "fast"})
		Eventually(s.GetKyma).WithContext(ctx).WithArguments("two").Should(HaveField("Spec.ForProvider.Channel", "fast"))
	})

	It("reports a cluster whose Kyma belongs to a user, or that lacks a label, and does not stop others", func(ctx SpecContext) {
		for _, name := range []string{"one", "taken", "without"} {
			addCluster(ctx, s, name, "a")
		}
		Expect(Env.ControlClient.Create(ctx, OnConfig(InChannel(s.Kyma("taken"), "mine"), "taken"))).To(Succeed())
		edit(ctx, &v1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Namespace: s.Name, Name: "without"}}, `{"metadata":{"labels":{"channel":null}}}`)
		set := newSet(s, "a")
		create(ctx, s, set)
		s.AwaitKyma(ctx, "one")
		Eventually(get).WithContext(ctx).WithArguments(set.Name).Should(And(report(3, 1, 1, 2), isReady(corev1.ConditionFalse, v1alpha1.ReasonModuleFailed, "2 of 3 clusters failed")))
		Expect(Must(get(ctx, set.Name)).Status.Failures).To(HaveExactElements(
			And(HaveField("Name", "taken"), HaveField("Message", ContainSubstring("does not belong to the KymaSet"))),
			And(HaveField("Name", "without"), HaveField("Message", ContainSubstring(`has no label "channel"`)))))
		Consistently(s.GetKyma).WithContext(ctx).WithArguments("taken").Should(HaveField("Spec.ForProvider.Channel", "mine"))
		Eventually(s.EventsOf).WithContext(ctx).WithArguments(v1alpha1.KymaSetKind, set.Name).Should(ContainElement(BeEvent("Warning ModuleFailed", "clusters failed")))

		By("handing the Kyma over with a label, and adding the label of the cluster")
		s.UpdateKyma(ctx, "taken", func(k *v1alpha1.Kyma) { k.Labels = map[string]string{v1alpha1.LabelKymaSet: set.Name} })
		relabel(ctx, s, "without", map[string]string{"channel": "regular"})
		Eventually(get).WithContext(ctx).WithArguments(set.Name).Should(report(3, 3, 3, 0))
		Expect(Must(s.GetKyma(ctx, "taken")).Spec.ForProvider.Channel).To(Equal("regular"))
	})

	DescribeTable("removes the Kymas of clusters that leave, and of all clusters when it is deleted",
		func(ctx SpecContext, policy v1alpha1.ClusterRemovalPolicy, stays bool) {
			addCluster(ctx, s, "one", "a")
			addCluster(ctx, s, "two", "a")
			set := newSet(s, "a")
			set.Spec.ClusterRemovalPolicy = policy
			create(ctx, s, set)
			s.AwaitKyma(ctx, "one")
			s.AwaitKyma(ctx, "two")
			removed := func(name string) {
				GinkgoHelper()
				if !stays {
					s.AwaitKymaGone(ctx, name)
					return
				}
				Eventually(s.GetKyma).WithContext(ctx).WithArguments(name).Should(And(
					HaveField("Labels", Not(HaveKey(v1alpha1.LabelKymaSet))), HaveField("DeletionTimestamp", BeNil()),
					HaveField("Annotations", Not(HaveKey(v1alpha1.AnnotationKymaSetUID)))))
			}
			relabel(ctx, s, "one", map[string]string{"ring": "none"})
			removed("one")
			Eventually(get).WithContext(ctx).WithArguments(set.Name).Should(report(1, 1, 1, 0))
			Expect(Env.ControlClient.Delete(ctx, set)).To(Succeed())
			removed("two")
			Eventually(func() error { _, err := get(ctx, set.Name); return err }).WithContext(ctx).Should(BeNotFound())
		},
		Entry("with policy Delete", v1alpha1.ClusterRemovalDelete, false),
		Entry("with policy Orphan", v1alpha1.ClusterRemovalOrphan, true),
	)

	It("hands a cluster to another KymaSet without removing anything", func(ctx SpecContext) {
		addCluster(ctx, s, "one", "a")
		a, b := newSet(s, "a"), newSet(s, "b")
		create(ctx, s, a)
		create(ctx, s, b)
		before := s.AwaitKyma(ctx, "one")
		relabel(ctx, s, "one", map[string]string{"ring": "b"})
		Eventually(s.GetKyma).WithContext(ctx).WithArguments("one").Should(And(
			HaveField("Labels", HaveKeyWithValue(v1alpha1.LabelKymaSet, b.Name)), HaveField("UID", before.UID)))
		Eventually(get).WithContext(ctx).WithArguments(a.Name).Should(report(0, 0, 0, 0))
		Eventually(get).WithContext(ctx).WithArguments(b.Name).Should(report(1, 1, 1, 0))
	})

	It("works with the permissions that Crossplane grants, and reports which ones a selector needs", func(ctx SpecContext) {
		kubeconfig := Restricted(ctx, s)
		WithProvider(ctx, func(p *Provider) { p.Kubeconfig = kubeconfig })
		addCluster(ctx, s, "one", "a")
		addCluster(ctx, s, "two", "a")
		set := newSet(s, "a")
		create(ctx, s, set)
		s.AwaitKyma(ctx, "one")
		s.AwaitKyma(ctx, "two")
		relabel(ctx, s, "one", map[string]string{"ring": "none"})
		s.AwaitKymaGone(ctx, "one")

		By("selecting namespaces without the permission")
		update(ctx, set.Name, func(set *v1alpha1.KymaSet) {
			set.Spec.ProviderConfigs.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"env": "prod"}}
		})
		Eventually(get).WithContext(ctx).WithArguments(set.Name).Should(isReady(corev1.ConditionFalse, v1alpha1.ReasonBlocked, "no permission to get namespaces: grant it as in examples/rbac/kymaset.yaml"))
		Consistently(s.GetKyma).WithContext(ctx).WithArguments("two").Should(HaveField("DeletionTimestamp", BeNil()))
		edit(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.Name}}, `{"metadata":{"labels":{"env":"prod"}}}`)
		AllowMore(ctx, s, rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"namespaces"}, Verbs: []string{"get", "list", "watch"}})
		Eventually(get).WithContext(ctx).WithArguments(set.Name).Should(report(1, 1, 1, 0))

		By("removing the label of the namespace")
		edit(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.Name}}, `{"metadata":{"labels":{"env":null}}}`)
		s.AwaitKymaGone(ctx, "two")
		Expect(Env.ControlClient.Delete(ctx, set)).To(Succeed())
		Eventually(func() error { _, err := get(ctx, set.Name); return err }).WithContext(ctx).Should(BeNotFound())
	})
})
