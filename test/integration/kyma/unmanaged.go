// SPDX-License-Identifier: Apache-2.0

package kyma

import (
	"context"
	"strings"

	. "github.com/crossplane-contrib/provider-kyma/test/integration/harness"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

var _ = Describe("A module that is not managed", func() {
	var (
		s *Space
		m *Offer
	)

	// release releases a version of the module whose chart has a Deployment.
	release := func(ctx SpecContext) {
		c := m.Component("1.0.0")
		c.Resources[0].Files = WebChart().Files
		Push(ctx, c)
		s.Create(ctx, m.Template("regular", c))
		m.AwaitResolved(ctx, m.TemplateName("regular"), "1.0.0")
	}
	// only returns the Deployment of the module, which is the only one in the namespace.
	only := func(ctx context.Context) appsv1.Deployment {
		GinkgoHelper()
		l := &appsv1.DeploymentList{}
		for ns := range strings.SplitSeq(s.Name+",default", ",") {
			more := &appsv1.DeploymentList{}
			Expect(Env.TargetClient.List(ctx, more, client.InNamespace(ns))).To(Succeed())
			for _, d := range more.Items {
				if strings.Contains(d.Name, m.Name) {
					l.Items = append(l.Items, d)
				}
			}
		}
		Expect(l.Items).To(HaveLen(1))
		return l.Items[0]
	}
	// pods returns the UIDs of the pods of the module.
	pods := func(ctx context.Context, d appsv1.Deployment) []types.UID {
		GinkgoHelper()
		l := &corev1.PodList{}
		Expect(Env.TargetClient.List(ctx, l, client.InNamespace(d.Namespace), client.MatchingLabels(d.Spec.Selector.MatchLabels))).To(Succeed())
		var out []types.UID
		for i := range l.Items {
			out = append(out, l.Items[i].UID)
		}
		return out
	}
	setManaged := func(managed bool) func(*v1alpha1.Kyma) {
		return func(k *v1alpha1.Kyma) { k.Spec.ForProvider.Modules[0].Managed = &managed }
	}

	BeforeEach(func(ctx SpecContext) {
		s = NewSpace(ctx)
		m = NewOffer(s, "mod")
		release(ctx)
		s.Enable(ctx, s.Kyma("kyma", m.Module()))
	})

	It("stays in the cluster as it is, and can be managed again", func(ctx SpecContext) {
		before := only(ctx)
		Expect(before.Labels).To(HaveKey(LabelManagedBy))
		running := pods(ctx, before)
		Expect(running).NotTo(BeEmpty())

		s.UpdateKyma(ctx, "kyma", setManaged(false))
		Eventually(Gone(s.Get)).WithContext(ctx).WithArguments(m.Manifest("kyma")).Should(BeTrue())
		Eventually(s.GetKyma).WithContext(ctx).WithArguments("kyma").Should(SatisfyAll(BeReadyKyma(),
			HaveField("Status.AtProvider.Modules", ConsistOf(SatisfyAll(
				HaveField("Name", m.Name), HaveField("State", v1alpha1.StateReady), HaveField("Reason", "Unmanaged"),
				HaveField("Version", "1.0.0"), HaveField("Manifest", ""))))))
		left := only(ctx)
		Expect(left.UID).To(Equal(before.UID))
		Expect(left.Generation).To(Equal(before.Generation))
		Expect(left.Spec).To(Equal(before.Spec))
		for key := range left.Labels {
			Expect(key).NotTo(Or(ContainSubstring("kyma"), ContainSubstring("applyset")))
		}
		for key := range left.Annotations {
			Expect(key).NotTo(ContainSubstring("kyma"))
		}
		for _, f := range left.ManagedFields {
			Expect(f.Manager).NotTo(ContainSubstring("kyma"))
		}

		By("sending no requests to its cluster")
		AwaitIdle(ctx)
		scraped := Must(Env.Provider.Scrape(ctx))
		Consistently(func(g Gomega) {
			now, err := Env.Provider.Scrape(ctx)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(now.RequestsSince(scraped, TargetRequests)).To(BeWatchesOnly())
			g.Expect(now.RequestsSince(scraped, ControlRequests)).To(WriteNothing())
		}).Should(Succeed())

		By("managing it again")
		s.UpdateKyma(ctx, "kyma", setManaged(true))
		Eventually(only).WithContext(ctx).Should(HaveField("Labels", HaveKey(LabelManagedBy)))
		Expect(s.AwaitKyma(ctx, "kyma")).To(HaveVersion(m.Name, "1.0.0", "regular"))
		again := only(ctx)
		Expect(again.UID).To(Equal(before.UID))
		Expect(again.Generation).To(Equal(before.Generation))
		Expect(again.Spec.Template).To(Equal(before.Spec.Template))
		Expect(pods(ctx, again)).To(ConsistOf(running), "no pod was restarted")
		s.RemoveKyma(ctx, "kyma")
	})

	It("stays in the cluster when a plan to manage it again ends", func(ctx SpecContext) {
		before := only(ctx)
		s.UpdateKyma(ctx, "kyma", setManaged(false))
		Eventually(Gone(s.Get)).WithContext(ctx).WithArguments(m.Manifest("kyma")).Should(BeTrue())
		s.UpdateKyma(ctx, "kyma", func(k *v1alpha1.Kyma) {
			k.Spec.ForProvider.Modules = []v1alpha1.Module{{Name: m.Name, Mode: v1alpha1.ModePlan}}
		})
		Eventually(s.Get).WithContext(ctx).WithArguments(m.Manifest("kyma")).Should(HaveField("Status.AtProvider.Plan", Not(BeNil())))
		s.UpdateKyma(ctx, "kyma", func(k *v1alpha1.Kyma) { k.Spec.ForProvider.Modules = nil })
		Eventually(Gone(s.Get)).WithContext(ctx).WithArguments(m.Manifest("kyma")).Should(BeTrue())
		left := only(ctx)
		Expect(left.UID).To(Equal(before.UID))
		Expect(left.DeletionTimestamp).To(BeNil())

		By("managing it again")
		s.UpdateKyma(ctx, "kyma", func(k *v1alpha1.Kyma) { k.Spec.ForProvider.Modules = []v1alpha1.Module{{Name: m.Name}} })
		Eventually(only).WithContext(ctx).Should(HaveField("Labels", HaveKey(LabelManagedBy)))
		Expect(only(ctx).UID).To(Equal(before.UID))
		s.RemoveKyma(ctx, "kyma")
	})

	DescribeTable("stays in the cluster when its Kyma is deleted", func(ctx SpecContext, policy metav1.DeletionPropagation) {
		before := only(ctx)
		s.UpdateKyma(ctx, "kyma", setManaged(false))
		s.RemoveKyma(ctx, "kyma", client.PropagationPolicy(policy))
		left := only(ctx)
		Expect(left.UID).To(Equal(before.UID))
		Expect(left.DeletionTimestamp).To(BeNil())
	},
		Entry("in the background", metav1.DeletePropagationBackground),
		// The garbage collector deletes the Manifests while the provider marks them.
		Entry("in the foreground", metav1.DeletePropagationForeground),
	)
})
