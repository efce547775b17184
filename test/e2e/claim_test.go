// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// prompt is how soon after a Kyma the resource that composes it must be Ready. It usually takes less than two seconds. Without a watch, it
// would take up to a minute.
const prompt = 20 * time.Second

var _ = Describe("A Kyma in a composition", func() {
	var s *space

	BeforeEach(func(ctx SpecContext) { s = newSpace(ctx) })

	DescribeTable("is created, becomes Ready, and is deleted", func(ctx SpecContext, kind string) {
		simple, operated := s.offer(ctx, "simple"), s.operated(ctx, "operated")
		u := s.composite(kind, "environment", simple, operated)
		s.create(ctx, u)

		By("waiting until all modules are Ready")
		Eventually(now(u)).WithContext(ctx).Should(SatisfyAll(
			haveUnready(), showModule(operated.name, v1alpha1.StateProcessing, operated.says())))
		kyma, outer := s.whenReady(ctx, v1alpha1.Group, v1alpha1.KymaKind), s.whenReady(ctx, platformGroup, kind)
		operated.report(ctx, `{"state":"Ready"}`)

		By("becoming Ready soon after the Kyma")
		var inside, outside time.Time
		Eventually(kyma).WithContext(ctx).Should(Receive(&inside))
		Eventually(outer).WithContext(ctx).Should(Receive(&outside))
		AddReportEntry("Ready after the Kyma by", outside.Sub(inside).String())
		Expect(outside.Sub(inside)).To(BeNumerically("<", prompt))
		Eventually(now(u)).WithContext(ctx).Should(beReadyComposite())
		k := must(s.composed(ctx))
		Expect(describe(k)).To(Equal("Ready"))
		Expect(text(must(now(u)(ctx)), "status", "modulesReady")).To(Equal("2/2"))
		Expect(text(must(now(u)(ctx)), "status", "activeChannel")).To(Equal("regular"))
		Expect(must(simple.installed(ctx)).Data).To(HaveKeyWithValue("version", "1.0.0"))
		config := must(fetched(ctx, env.controlClient, s.key(k.Spec.ProviderConfigReference.Name), &v1alpha1.ProviderConfig{}))
		Expect(metav1.GetControllerOf(config)).NotTo(BeNil())

		By("removing everything when it is deleted")
		s.remove(ctx, u)
		Eventually(s.count).WithContext(ctx).Should(BeZero())
		Expect(s.objects(ctx)).To(BeEmpty())
	},
		Entry("with a claim", claimKind),
		Entry("with a namespaced composite resource", environmentKind),
	)

	It("has the settings of the claim, and protects the kubeconfig until the modules are removed", func(ctx SpecContext) {
		simple := s.offer(ctx, "simple")
		u := s.awaitComposite(ctx, s.claim("environment", simple))
		update(ctx, u, func(u *unstructured.Unstructured) {
			set(u, "Plan", "spec", "mode")
			set(u, []any{"Observe", "Create", "Update", "LateInitialize", "Delete"}, "spec", "managementPolicies")
		})
		annotate(ctx, u, v1alpha1.AnnotationAllowDowngrade, simple.name+"@1.0.0")
		Eventually(s.composed).WithContext(ctx).Should(SatisfyAll(
			HaveField("Spec.ForProvider.Mode", v1alpha1.ModePlan), HaveField("Spec.ManagementPolicies", HaveLen(5)),
			HaveField("Annotations", HaveKeyWithValue(v1alpha1.AnnotationAllowDowngrade, simple.name+"@1.0.0"))))
		annotate(ctx, u, v1alpha1.AnnotationAllowDowngrade, "")
		Eventually(s.composed).WithContext(ctx).Should(HaveField("Annotations", Not(HaveKey(v1alpha1.AnnotationAllowDowngrade))))
		update(ctx, u, func(u *unstructured.Unstructured) { set(u, "Apply", "spec", "mode") })
		Eventually(s.composed).WithContext(ctx).Should(HaveField("Spec.ForProvider.Mode", v1alpha1.ModeApply))

		By("refusing to delete the kubeconfig")
		secret := s.secret()
		Eventually(func() (map[string]string, error) {
			err := env.controlClient.Get(ctx, s.key(secretName), secret)
			return secret.Labels, err
		}).WithContext(ctx).Should(HaveKeyWithValue("crossplane.io/in-use", "true"))
		Expect(env.controlClient.Delete(ctx, secret)).To(MatchError(ContainSubstring("in-use by 1 usage(s)")))

		By("deleting the kubeconfig after the modules")
		s.remove(ctx, u)
		Eventually(simple.absent).WithContext(ctx).Should(BeTrue())
		Eventually(absent(env.controlClient, s.key(secretName), secret)).WithContext(ctx).Should(BeTrue())
	})

	It("protects the cluster that an environment references from deletion, instead of the kubeconfig", func(ctx SpecContext) {
		// A Secret stands in for the object of the cluster.
		cluster := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.name, Name: "cluster"}}
		s.create(ctx, cluster)
		u := s.environment("environment", s.offer(ctx, "simple"))
		set(u, map[string]any{"apiVersion": "v1", "kind": "Secret", "name": cluster.Name}, "spec", "clusterRef")
		s.awaitComposite(ctx, u)
		Eventually(func() (map[string]string, error) {
			err := env.controlClient.Get(ctx, s.key(cluster.Name), cluster)
			return cluster.Labels, err
		}).WithContext(ctx).Should(HaveKeyWithValue("crossplane.io/in-use", "true"))
		Expect(env.controlClient.Delete(ctx, cluster)).To(MatchError(ContainSubstring("by resource Kyma/environment")))
		Expect(must(fetched(ctx, env.controlClient, s.key(secretName), &corev1.Secret{})).Labels).NotTo(HaveKey("crossplane.io/in-use"))
		s.remove(ctx, u)
		Eventually(absent(env.controlClient, s.key(cluster.Name), cluster)).WithContext(ctx).Should(BeTrue())
	})

	DescribeTable("reports in the claim that a module has", func(ctx SpecContext, status string, state v1alpha1.State, stalled, message string) {
		fine, bad := s.offer(ctx, "fine"), s.operated(ctx, "bad")
		u := s.claim("environment", fine, bad)
		s.create(ctx, u)
		bad.report(ctx, `{"state":"Ready"}`)
		Eventually(now(u)).WithContext(ctx).Should(beReadyComposite())
		bad.report(ctx, status)
		Eventually(now(u)).WithContext(ctx).Should(SatisfyAll(haveUnready(), showModule(bad.name, state, bad.says(), message), haveStalled(stalled)))
		Expect(text(must(now(u)(ctx)), "status", "modulesReady")).To(Equal("1/2"))
		bad.report(ctx, `{"state":"Ready","conditions":[]}`)
		Eventually(now(u)).WithContext(ctx).Should(SatisfyAll(beReadyComposite(), haveStalled("")))
	},
		Entry("a warning", `{"state":"Warning","conditions":[{"type":"Installed","status":"False","message":"needs a hand"}]}`, v1alpha1.StateWarning, "", "needs a hand"),
		Entry("an error", `{"state":"Error","conditions":[{"type":"Installed","status":"False","message":"is broken"}]}`, v1alpha1.StateError, string(v1alpha1.ReasonModuleFailed), "is broken"),
	)

	It("reports in the claim that a module does not exist", func(ctx SpecContext) {
		u := s.claim("environment", &offer{s: s, name: s.name + "-nothing"})
		s.create(ctx, u)
		Eventually(now(u)).WithContext(ctx).Should(SatisfyAll(
			haveUnready(), showModule(s.name+"-nothing", v1alpha1.StateError, "ModuleTemplate")))
	})

	It("removes a module that the claim no longer lists, without the permission to delete Manifests", func(ctx SpecContext) {
		Expect(env.mayDelete(ctx)).To(BeFalse(), "the provider may delete Manifests")
		stays, goes := s.offer(ctx, "stays"), s.offer(ctx, "goes")
		u := s.awaitComposite(ctx, s.claim("environment", stays, goes))
		k := must(s.composed(ctx))
		before := must(stays.installed(ctx))
		update(ctx, u, func(u *unstructured.Unstructured) { set(u, modulesOf(stays), "spec", "modules") })
		Eventually(goes.absent).WithContext(ctx).Should(BeTrue())
		Eventually(absent(env.controlClient, s.key(goes.manifest(k.Name)), &v1alpha1.Manifest{})).WithContext(ctx).Should(BeTrue())
		Eventually(now(u)).WithContext(ctx).Should(SatisfyAll(beReadyComposite(), WithTransform(func(u *unstructured.Unstructured) string {
			return text(u, "status", "modulesReady")
		}, Equal("1/1"))))
		Expect(must(stays.installed(ctx)).ResourceVersion).To(Equal(before.ResourceVersion))
		Expect(must(s.getManifest(ctx, stays.manifest(k.Name))).GetCondition(xpv2.TypeReady).Status).To(Equal(corev1.ConditionTrue))
	})
})
