// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"encoding/base64"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

var _ = Describe("Drift", func() {
	var s *space

	BeforeEach(func(ctx SpecContext) { s = newSpace(ctx) })

	It("is repaired when an object is deleted", func(ctx SpecContext) {
		s.install(ctx, s.manifest("web", s.installOf("web", webChart().pushLayer(ctx), nil)))
		old := s.mustConfigMap(ctx, "web-settings")
		Expect(env.targetClient.Delete(ctx, old)).To(Succeed())
		Eventually(s.configMap).WithContext(ctx).WithArguments("web-settings").Should(SatisfyAll(
			HaveField("UID", Not(Equal(old.UID))), HaveField("Data", Equal(old.Data))))
		what := "ConfigMap " + s.name + "/web-settings was deleted"
		Eventually(s.events).WithContext(ctx).WithArguments("web").Should(ContainElement("Normal DriftRepaired Repaired drift: " + what))
		Eventually(s.get).WithContext(ctx).WithArguments("web").Should(haveDrift("ConfigMap "+s.name+"/web-settings", v1alpha1.DriftChangeDeleted))
		s.awaitReady(ctx, "web")
	})

	It("is repaired when a field is edited, and names the field but no value", func(ctx SpecContext) {
		s.install(ctx, s.manifest("web", s.installOf("web", webChart().pushLayer(ctx), values{"replicas": 2})))
		edit(ctx, s.mustDeployment(ctx, "web"), `{"metadata":{"annotations":{"mine":"kept"}},"spec":{"replicas":7}}`)
		edit(ctx, s.mustConfigMap(ctx, "web-settings"), `{"data":{"message":"hidden-value","own":"kept"}}`)
		Eventually(s.deployment).WithContext(ctx).WithArguments("web").Should(HaveField("Spec.Replicas", HaveValue(BeEquivalentTo(2))))
		s.awaitMessage(ctx, "web-settings", "hello")
		Eventually(s.events).WithContext(ctx).WithArguments("web").Should(SatisfyAll(
			ContainElement(SatisfyAll(HavePrefix("Normal DriftRepaired"), ContainSubstring("Deployment "+s.name+"/web was changed at spec.replicas"))),
			ContainElement(SatisfyAll(HavePrefix("Normal DriftRepaired"), ContainSubstring("ConfigMap "+s.name+"/web-settings was changed at data.message"))),
		))
		Eventually(s.get).WithContext(ctx).WithArguments("web").Should(HaveField("Status.AtProvider.Drift", Not(BeNil())))
		m := s.awaitReady(ctx, "web")
		s.expectNowhere(ctx, m, "hidden-value")

		By("leaving alone what another client added")
		Expect(s.mustDeployment(ctx, "web").Annotations).To(HaveKeyWithValue("mine", "kept"))
		Expect(s.mustConfigMap(ctx, "web-settings")).To(haveData("own", "kept"))
	})

	It("is repaired when a field is removed, or an object loses our labels", func(ctx SpecContext) {
		s.install(ctx, s.manifest("web", s.installOf("web", webChart().pushLayer(ctx), nil)))
		edit(ctx, s.mustConfigMap(ctx, "web-settings"), `{"data":{"level":null}}`)
		Eventually(s.configMap).WithContext(ctx).WithArguments("web-settings").Should(haveData("level", "info"))
		Eventually(s.get).WithContext(ctx).WithArguments("web").Should(
			haveDrift("ConfigMap "+s.name+"/web-settings", v1alpha1.DriftChangeChanged, "data.level"))

		edit(ctx, must(fetched(ctx, s.key("web"), &corev1.Service{})), `{"metadata":{"labels":null}}`)
		Eventually(func(ctx SpecContext) (*corev1.Service, error) {
			return fetched(ctx, s.key("web"), &corev1.Service{})
		}).WithContext(ctx).Should(HaveField("Labels", HaveKeyWithValue(labelManagedBy, managedBy)))
		s.awaitReady(ctx, "web")
	})

	It("of a Secret never shows the value", func(ctx SpecContext) {
		const password, other = "correct-horse", "battery-staple"
		s.install(ctx, s.manifest("web", s.installOf("web", webChart().pushLayer(ctx), values{"password": password})))
		secret := must(fetched(ctx, s.key("web-password"), &corev1.Secret{}))
		edit(ctx, secret, `{"data":{"password":"`+base64.StdEncoding.EncodeToString([]byte(other))+`"}}`)
		Eventually(func(ctx SpecContext) (*corev1.Secret, error) {
			return fetched(ctx, s.key("web-password"), &corev1.Secret{})
		}).WithContext(ctx).Should(HaveField("Data", HaveKeyWithValue("password", []byte(password))))
		Eventually(s.get).WithContext(ctx).WithArguments("web").Should(
			haveDrift("Secret "+s.name+"/web-password", v1alpha1.DriftChangeChanged, "data.password"))
		m := s.awaitReady(ctx, "web")
		for _, text := range []string{other, base64.StdEncoding.EncodeToString([]byte(other))} {
			s.expectNowhere(ctx, m, text)
		}
		// That which was asked for stands in the spec, where its author put it, and must stand nowhere else.
		m.Spec = v1alpha1.ManifestSpec{}
		m.ManagedFields, m.Annotations = nil, nil
		for _, text := range []string{password, base64.StdEncoding.EncodeToString([]byte(password))} {
			s.expectNowhere(ctx, m, text)
		}
	})

	It("shows as not Ready when a Deployment loses its pods", func(ctx SpecContext) {
		s.install(ctx, s.manifest("web", s.installOf("web", webChart().pushLayer(ctx), values{"replicas": 2})))

		By("cordoning the node, so that new pods find no place")
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-0"}}
		edit(ctx, node, `{"spec":{"unschedulable":true}}`)
		DeferCleanup(func(ctx SpecContext) { edit(ctx, node, `{"spec":{"unschedulable":null}}`) })
		s.deletePods(ctx)
		Eventually(s.get).WithContext(ctx).WithArguments("web").Should(SatisfyAll(
			synced(),
			notReady("Deployment "+s.name+"/web: 0 of 2 replicas available"),
			haveState(v1alpha1.StateProcessing, "web", "0 of 2 replicas available"),
			HaveField("Status.AtProvider.Resources", HaveValue(Equal(v1alpha1.ResourceCounts{Ready: 3, Total: 4})))))

		edit(ctx, node, `{"spec":{"unschedulable":null}}`)
		s.awaitReady(ctx, "web")
	})

	It("is found by looking where nothing may be watched", func(ctx SpecContext) {
		inTarget(ctx, &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: s.name}, Rules: []rbacv1.PolicyRule{
			{APIGroups: []string{"*"}, Resources: []string{"*"}, Verbs: []string{"get", "list", "create", "update", "patch", "delete", "deletecollection"}},
			{NonResourceURLs: []string{"*"}, Verbs: []string{"get"}},
		}})
		inTarget(ctx, &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: s.name},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: s.name},
			Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: s.name}},
		})
		s.config(ctx, "blind", kubeconfigOf(env.target, must(env.target.User(s.name))))
		m := s.manifest("web", s.installOf("web", webChart().pushLayer(ctx), values{"workload": false}))
		m.Spec.ProviderConfigReference.Name = "blind"
		m.Annotations = map[string]string{meta.AnnotationKeyPollInterval: "10s"}
		s.install(ctx, m)
		edit(ctx, s.mustConfigMap(ctx, "web-settings"), `{"data":{"message":"changed"}}`)
		s.awaitMessage(ctx, "web-settings", "hello")
		Eventually(s.get).WithContext(ctx).WithArguments("web").Should(
			haveDrift("ConfigMap "+s.name+"/web-settings", v1alpha1.DriftChangeChanged, "data.message"))
		s.remove(ctx, "web")
	})

	It("is repaired each time, and leaves other Manifests alone", func(ctx SpecContext) {
		source := webChart().pushLayer(ctx)
		s.create(ctx, s.manifest("other", s.installOf("other", source, nil)))
		s.install(ctx, s.manifest("web", s.installOf("web", source, nil)))
		s.awaitReady(ctx, "other")
		other := s.mustDeployment(ctx, "other")
		for range 3 {
			edit(ctx, &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: s.name, Name: "web"}}, `{"spec":{"replicas":5}}`)
			since := time.Now()
			Eventually(s.deployment).WithContext(ctx).WithArguments("web").WithPolling(interval / 10).Should(
				HaveField("Spec.Replicas", HaveValue(BeEquivalentTo(1))))
			// A slow machine must not fail it; the next look without a watch would be minutes away.
			AddReportEntry("repaired after", time.Since(since).String(), ReportEntryVisibilityFailureOrVerbose)
			s.awaitReady(ctx, "web")
		}
		s.awaitReady(ctx, "web")
		Expect(s.mustDeployment(ctx, "other").ResourceVersion).To(Equal(other.ResourceVersion))
	})
})

// expectNowhere that a text stands in a Manifest, its events, or the log.
func (s *space) expectNowhere(ctx SpecContext, m *v1alpha1.Manifest, text string) {
	GinkgoHelper()
	Expect(string(must(yaml.Marshal(m)))).NotTo(ContainSubstring(text))
	Expect(s.events(ctx, m.Name)).NotTo(ContainElement(ContainSubstring(text)))
	Expect(env.provider.log()).NotTo(ContainSubstring(text))
}
