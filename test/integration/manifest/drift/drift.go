// SPDX-License-Identifier: Apache-2.0

package drift

import (
	"encoding/base64"
	"time"

	. "github.com/crossplane-contrib/provider-kyma/test/integration/harness"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

var _ = Describe("Drift", func() {
	var s *Space

	BeforeEach(func(ctx SpecContext) { s = NewSpace(ctx) })

	It("is repaired if an object is deleted", func(ctx SpecContext) {
		s.Install(ctx, s.Manifest("web", s.InstallOf("web", WebChart().PushLayer(ctx), nil)))
		old := s.MustConfigMap(ctx, "web-settings")
		Expect(Env.TargetClient.Delete(ctx, old)).To(Succeed())
		Eventually(s.ConfigMap).WithContext(ctx).WithArguments("web-settings").Should(SatisfyAll(
			HaveField("UID", Not(Equal(old.UID))), HaveField("Data", Equal(old.Data))))
		what := "ConfigMap " + s.Name + "/web-settings was deleted"
		Eventually(Events).WithContext(ctx).WithArguments(s, "web").Should(ContainElement("Normal DriftRepaired Repaired drift: " + what))
		Eventually(s.Get).WithContext(ctx).WithArguments("web").Should(HaveDrift("ConfigMap "+s.Name+"/web-settings", v1alpha1.DriftChangeDeleted))
		s.AwaitReady(ctx, "web")
	})

	It("is repaired if a field is changed, and the event names the field but not its value", func(ctx SpecContext) {
		s.Install(ctx, s.Manifest("web", s.InstallOf("web", WebChart().PushLayer(ctx), Values{"replicas": 2})))
		Edit(ctx, s.MustDeployment(ctx, "web"), `{"metadata":{"annotations":{"mine":"kept"}},"spec":{"replicas":7}}`)
		Edit(ctx, s.MustConfigMap(ctx, "web-settings"), `{"data":{"message":"hidden-value","own":"kept"}}`)
		Eventually(s.Deployment).WithContext(ctx).WithArguments("web").Should(HaveField("Spec.Replicas", HaveValue(BeEquivalentTo(2))))
		s.AwaitMessage(ctx, "web-settings", "hello")
		Eventually(Events).WithContext(ctx).WithArguments(s, "web").Should(SatisfyAll(
			ContainElement(SatisfyAll(HavePrefix("Normal DriftRepaired"), ContainSubstring("Deployment "+s.Name+"/web was changed at spec.replicas"))),
			ContainElement(SatisfyAll(HavePrefix("Normal DriftRepaired"), ContainSubstring("ConfigMap "+s.Name+"/web-settings was changed at data.message"))),
		))
		Eventually(s.Get).WithContext(ctx).WithArguments("web").Should(HaveField("Status.AtProvider.Drift", Not(BeNil())))
		m := s.AwaitReady(ctx, "web")
		ExpectNowhere(ctx, s, m, "hidden-value")

		By("keeping fields that another client added")
		Expect(s.MustDeployment(ctx, "web").Annotations).To(HaveKeyWithValue("mine", "kept"))
		Expect(s.MustConfigMap(ctx, "web-settings")).To(HaveData("own", "kept"))
	})

	It("is repaired if a field is removed, or an object loses the labels of the provider", func(ctx SpecContext) {
		s.Install(ctx, s.Manifest("web", s.InstallOf("web", WebChart().PushLayer(ctx), nil)))
		Edit(ctx, s.MustConfigMap(ctx, "web-settings"), `{"data":{"level":null}}`)
		Eventually(s.ConfigMap).WithContext(ctx).WithArguments("web-settings").Should(HaveData("level", "info"))
		Eventually(s.Get).WithContext(ctx).WithArguments("web").Should(
			HaveDrift("ConfigMap "+s.Name+"/web-settings", v1alpha1.DriftChangeChanged, "data.level"))

		Edit(ctx, Must(Fetched(ctx, s.Key("web"), &corev1.Service{})), `{"metadata":{"labels":null}}`)
		Eventually(func(ctx SpecContext) (*corev1.Service, error) {
			return Fetched(ctx, s.Key("web"), &corev1.Service{})
		}).WithContext(ctx).Should(HaveField("Labels", HaveKeyWithValue(LabelManagedBy, ManagedBy)))
		s.AwaitReady(ctx, "web")
	})

	It("is repaired in stringData of a Secret, whose keys are removed with the version that lacks them", func(ctx SpecContext) {
		chart := func(data string) Chart {
			return NewChart("secret", "1.0.0").With("templates/all.yaml", "apiVersion: v1\nkind: Secret\nmetadata: {name: token}\nstringData: "+data+"\n")
		}
		data := func(ctx SpecContext) (map[string][]byte, error) {
			o, err := Fetched(ctx, s.Key("token"), &corev1.Secret{})
			return o.Data, err
		}
		s.Install(ctx, s.Manifest("web", s.InstallOf("web", chart("{one: first, two: second}").PushLayer(ctx), nil)))
		Edit(ctx, Must(Fetched(ctx, s.Key("token"), &corev1.Secret{})), `{"stringData":{"one":"changed","own":"kept"}}`)
		Eventually(data).WithContext(ctx).Should(And(
			HaveKeyWithValue("one", []byte("first")), HaveKeyWithValue("two", []byte("second")), HaveKeyWithValue("own", []byte("kept"))))
		Eventually(s.Get).WithContext(ctx).WithArguments("web").Should(HaveDrift("Secret "+s.Name+"/token", v1alpha1.DriftChangeChanged, "data.one"))

		By("removing a key")
		s.Update(ctx, "web", SetSource(chart("{one: first}").PushLayer(ctx)))
		Eventually(data).WithContext(ctx).Should(And(
			HaveKeyWithValue("one", []byte("first")), Not(HaveKey("two")), HaveKeyWithValue("own", []byte("kept"))))
		s.AwaitReady(ctx, "web")
	})

	It("of a Secret is reported without its value", func(ctx SpecContext) {
		const password, other = "correct-horse", "battery-staple"
		s.Install(ctx, s.Manifest("web", s.InstallOf("web", WebChart().PushLayer(ctx), Values{"password": password})))
		secret := Must(Fetched(ctx, s.Key("web-password"), &corev1.Secret{}))
		Edit(ctx, secret, `{"data":{"password":"`+base64.StdEncoding.EncodeToString([]byte(other))+`"}}`)
		Eventually(func(ctx SpecContext) (*corev1.Secret, error) {
			return Fetched(ctx, s.Key("web-password"), &corev1.Secret{})
		}).WithContext(ctx).Should(HaveField("Data", HaveKeyWithValue("password", []byte(password))))
		Eventually(s.Get).WithContext(ctx).WithArguments("web").Should(
			HaveDrift("Secret "+s.Name+"/web-password", v1alpha1.DriftChangeChanged, "data.password"))
		m := s.AwaitReady(ctx, "web")
		for _, text := range []string{other, base64.StdEncoding.EncodeToString([]byte(other))} {
			ExpectNowhere(ctx, s, m, text)
		}
		// The desired value is in the spec, where its author put it, and must not be anywhere else.
		m.Spec = v1alpha1.ManifestSpec{}
		m.ManagedFields, m.Annotations = nil, nil
		for _, text := range []string{password, base64.StdEncoding.EncodeToString([]byte(password))} {
			ExpectNowhere(ctx, s, m, text)
		}
	})

	It("does not include lost pods of a Deployment, which only make the Manifest not Ready", func(ctx SpecContext) {
		s.Install(ctx, s.Manifest("web", s.InstallOf("web", WebChart().PushLayer(ctx), Values{"replicas": 2})))

		By("cordoning the node, so that new pods are not scheduled")
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-0"}}
		Edit(ctx, node, `{"spec":{"unschedulable":true}}`)
		DeferCleanup(func(ctx SpecContext) { Edit(ctx, node, `{"spec":{"unschedulable":null}}`) })
		s.DeletePods(ctx)
		Eventually(s.Get).WithContext(ctx).WithArguments("web").Should(SatisfyAll(
			Synced(),
			NotReady("Deployment "+s.Name+"/web: 0 of 2 replicas available"),
			HaveState(v1alpha1.StateProcessing, "web", "0 of 2 replicas available"),
			HaveField("Status.AtProvider.Resources", HaveValue(Equal(v1alpha1.ResourceCounts{Ready: 3, Total: 4})))))

		Edit(ctx, node, `{"spec":{"unschedulable":null}}`)
		s.AwaitReady(ctx, "web")
	})

	It("is found by polling if the credentials do not allow watches", func(ctx SpecContext) {
		InTarget(ctx, &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: s.Name}, Rules: []rbacv1.PolicyRule{
			{APIGroups: []string{"*"}, Resources: []string{"*"}, Verbs: []string{"get", "list", "create", "update", "patch", "delete", "deletecollection"}},
			{NonResourceURLs: []string{"*"}, Verbs: []string{"get"}},
		}})
		InTarget(ctx, &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: s.Name},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: s.Name},
			Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: s.Name}},
		})
		s.Config(ctx, "blind", KubeconfigOf(Env.Target, Must(Env.Target.User(s.Name))))
		m := s.Manifest("web", s.InstallOf("web", WebChart().PushLayer(ctx), Values{"workload": false}))
		m.Spec.ProviderConfigReference.Name = "blind"
		m.Annotations = map[string]string{meta.AnnotationKeyPollInterval: "10s"}
		s.Install(ctx, m)
		Edit(ctx, s.MustConfigMap(ctx, "web-settings"), `{"data":{"message":"changed"}}`)
		s.AwaitMessage(ctx, "web-settings", "hello")
		Eventually(s.Get).WithContext(ctx).WithArguments("web").Should(
			HaveDrift("ConfigMap "+s.Name+"/web-settings", v1alpha1.DriftChangeChanged, "data.message"))
		s.Remove(ctx, "web")
	})

	It("is repaired each time, and does not affect other Manifests", func(ctx SpecContext) {
		source := WebChart().PushLayer(ctx)
		s.Create(ctx, s.Manifest("other", s.InstallOf("other", source, nil)))
		s.Install(ctx, s.Manifest("web", s.InstallOf("web", source, nil)))
		s.AwaitReady(ctx, "other")
		other := s.MustDeployment(ctx, "other")
		for range 3 {
			Edit(ctx, &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: s.Name, Name: "web"}}, `{"spec":{"replicas":5}}`)
			since := time.Now()
			Eventually(s.Deployment).WithContext(ctx).WithArguments("web").WithPolling(Interval / 10).Should(
				HaveField("Spec.Replicas", HaveValue(BeEquivalentTo(1))))
			// A slow machine must not fail the spec; without a watch, the next check would be minutes away.
			AddReportEntry("repaired after", time.Since(since).String(), ReportEntryVisibilityFailureOrVerbose)
			s.AwaitReady(ctx, "web")
		}
		s.AwaitReady(ctx, "web")
		Expect(s.MustDeployment(ctx, "other").ResourceVersion).To(Equal(other.ResourceVersion))
	})
})
