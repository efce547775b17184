// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	. "github.com/crossplane-contrib/provider-kyma/test/integration/harness"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

var _ = Describe("Values of Secrets and ConfigMaps", func() {
	const hidden = "not-a-number-hunter2"
	var s *Space

	BeforeEach(func(ctx SpecContext) { s = NewSpace(ctx) })

	// from returns a Manifest of the web chart with values from a ConfigMap, and a password from a Secret.
	from := func(ctx SpecContext, v Values) *v1alpha1.Manifest {
		in := s.InstallOf("web", WebChart().PushLayer(ctx), v)
		in.ValuesFrom = []v1alpha1.ValuesReference{
			{Kind: "ConfigMap", Name: "common"},
			{Kind: "Secret", Name: "own", Key: "password", TargetPath: "password"},
			{Kind: "Secret", Name: "maybe", Optional: true},
		}
		return s.Manifest("web", in)
	}
	configMap := func(text string) *corev1.ConfigMap {
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: s.Name, Name: "common"}, Data: map[string]string{"values.yaml": text}}
	}

	It("are merged in order, applied again when they change, and not needed for the removal", func(ctx SpecContext) {
		Expect(Env.ControlClient.Create(ctx, configMap("message: common\nreplicas: 2\nshared: common\n"))).To(Succeed())
		s.Secret(ctx, "own", corev1.SecretTypeOpaque, map[string][]byte{"password": []byte("one")})
		m := from(ctx, Values{"shared": "mine"})
		m.Spec.ForProvider.Config = ConfigLayer(ctx, "configs: [{name: web, overrides: 'message=layer,replicas=3'}]")
		s.Install(ctx, m)
		Expect(s.MustConfigMap(ctx, "web-settings")).To(HaveData("message", "common"))
		Expect(s.MustDeployment(ctx, "web").Spec.Replicas).To(HaveValue(BeEquivalentTo(2)))
		Expect(Gone(s.ConfigMap)(ctx, "mine")).To(BeFalse())

		By("applying a change")
		Expect(Env.ControlClient.Update(ctx, configMap("message: changed\n"))).To(Succeed())
		s.AwaitMessage(ctx, "web-settings", "changed")
		Eventually(s.Deployment).WithContext(ctx).WithArguments("web").Should(HaveField("Spec.Replicas", HaveValue(BeEquivalentTo(3))),
			"the config layer counts where no other source sets a value")
		s.AwaitReady(ctx, "web")
		s.Secret(ctx, "maybe", corev1.SecretTypeOpaque, map[string][]byte{"values.yaml": []byte("message: maybe\n")})
		s.AwaitMessage(ctx, "web-settings", "maybe")
		s.AwaitReady(ctx, "web")

		By("removing the Manifest without them")
		Expect(Env.ControlClient.Delete(ctx, configMap(""))).To(Succeed())
		s.Remove(ctx, "web")
		Expect(s.Leftovers(ctx, Env.Target)).To(BeEmpty())
	})

	It("that are missing are reported, and used as soon as they exist", func(ctx SpecContext) {
		s.Create(ctx, from(ctx, nil))
		Eventually(s.Get).WithContext(ctx).WithArguments("web").Should(SatisfyAll(
			HaveState(v1alpha1.StateError, "ConfigMap "+s.Name+"/common does not exist", `"values.yaml"`),
			HaveInstall("web", v1alpha1.StateError, "valuesFrom[0]"),
		))
		Expect(Env.ControlClient.Create(ctx, configMap("message: common\n"))).To(Succeed())
		Eventually(s.Get).WithContext(ctx).WithArguments("web").Should(HaveState(v1alpha1.StateError, "Secret "+s.Name+"/own does not exist", `"password"`))
		s.Secret(ctx, "own", corev1.SecretTypeOpaque, map[string][]byte{"password": []byte("x")})
		s.AwaitReady(ctx, "web")
	})

	It("of a Secret are always redacted", func(ctx SpecContext) {
		c := WebChart().With("templates/refused.yaml", "apiVersion: v1\nkind: Service\nmetadata: {name: refused}\nspec: {ports: [{port: {{ .Values.password | quote }}}]}\n")
		in := s.InstallOf("web", c.PushLayer(ctx), nil)
		in.ValuesFrom = []v1alpha1.ValuesReference{{Kind: "Secret", Name: "own", Key: "password", TargetPath: "password"}}
		s.Secret(ctx, "own", corev1.SecretTypeOpaque, map[string][]byte{"password": []byte(hidden)})
		s.Create(ctx, s.Manifest("web", in))
		Eventually(s.Get).WithContext(ctx).WithArguments("web").Should(HaveInstall("web", v1alpha1.StateError, "Service"))
		m := Must(s.Get(ctx, "web"))
		Expect(m.Status).NotTo(HaveField("AtProvider.Message", ContainSubstring(hidden)))
		Expect(m.Status.Conditions).NotTo(ContainElement(HaveField("Message", ContainSubstring(hidden))))
		Eventually(Events).WithContext(ctx).WithArguments(s, "web").ShouldNot(BeEmpty())
		Expect(Events(ctx, s, "web")).NotTo(ContainElement(ContainSubstring(hidden)))
	})
})

var _ = Describe("A config layer", func() {
	It("with Wait delays later installs until an install is ready", func(ctx SpecContext) {
		s := NewSpace(ctx)
		source := NewChart("slow", "1.0.0").With("templates/all.yaml", `
apiVersion: v1
kind: Service
metadata: {name: slow}
spec: {ports: [{port: 80}]}
`).PushLayer(ctx)
		m := s.Manifest("pair", s.InstallOf("first", source, nil), s.InstallOf("second", s.Inline("second", "message: hello"), nil))
		m.Spec.ForProvider.Config = ConfigLayer(ctx, "configs: [{name: first, clientConfig: 'Wait=true,Description=as asked,Labels.team=a'}]")
		m.Spec.ForProvider.Readiness = []v1alpha1.ReadinessRule{{
			CEL: "has(object.metadata.annotations) && 'works' in object.metadata.annotations", For: &v1alpha1.TypeSelector{APIVersion: "v1", Kind: "Service"},
		}}
		s.Create(ctx, m)
		Eventually(s.Get).WithContext(ctx).WithArguments("pair").Should(SatisfyAll(
			HaveInstall("first", v1alpha1.StateProcessing, "Service"),
			HaveInstall("second", v1alpha1.StateProcessing, "waits until install first is ready"),
		))
		Expect(Gone(s.ConfigMap)(ctx, "second")).To(BeTrue())
		Edit(ctx, Must(Fetched(ctx, s.Key("slow"), &corev1.Service{})), `{"metadata":{"annotations":{"works":"yes"}}}`)
		s.AwaitReady(ctx, "pair")
		Expect(Gone(s.ConfigMap)(ctx, "second")).To(BeFalse())
		Expect(Helm(ctx, s, "history", "first")).To(ContainSubstring("as asked"))
		Expect(Helm(ctx, s, "list", "--short", "--selector", "team=a")).To(Equal("first\n"))
	})

	It("with Atomic rolls back an upgrade that is not ready in time", func(ctx SpecContext) {
		s := NewSpace(ctx)
		source := NewChart("web", "1.0.0").With("templates/all.yaml", `
apiVersion: v1
kind: Service
metadata: {name: web, annotations: {works: {{ .Values.works | quote }}}}
spec: {ports: [{port: 80}]}
`).PushLayer(ctx)
		m := s.Manifest("web", s.InstallOf("web", source, Values{"works": "yes"}))
		m.Spec.ForProvider.Config = ConfigLayer(ctx, "configs: [{name: web, clientConfig: 'Atomic=true,Timeout=3s'}]")
		m.Spec.ForProvider.Readiness = []v1alpha1.ReadinessRule{{
			CEL: "object.metadata.annotations.works == 'yes'", For: &v1alpha1.TypeSelector{APIVersion: "v1", Kind: "Service"},
		}}
		s.Install(ctx, m)
		s.Update(ctx, "web", SetValues(Values{"works": "no"}))
		Eventually(s.Get).WithContext(ctx).WithArguments("web").Should(SatisfyAll(
			HaveState(v1alpha1.StateWarning, "rolled back", "Service"), HaveCondition(v1alpha1.TypeRolledBack, corev1.ConditionTrue, ContainSubstring("Service"))))
		Eventually(func(ctx SpecContext) (string, error) {
			svc, err := Fetched(ctx, s.Key("web"), &corev1.Service{})
			return svc.Annotations["works"], err
		}).WithContext(ctx).Should(Equal("yes"))
	})
})
