// SPDX-License-Identifier: Apache-2.0

package integration

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

var _ = Describe("Values of Secrets and ConfigMaps", func() {
	const hidden = "not-a-number-hunter2"
	var s *space

	BeforeEach(func(ctx SpecContext) { s = newSpace(ctx) })

	// from is a Manifest of the web chart that takes values from a ConfigMap, and a password from a Secret.
	from := func(ctx SpecContext, v values) *v1alpha1.Manifest {
		in := s.installOf("web", webChart().pushLayer(ctx), v)
		in.ValuesFrom = []v1alpha1.ValuesReference{
			{Kind: "ConfigMap", Name: "common"},
			{Kind: "Secret", Name: "own", Key: "password", TargetPath: "password"},
			{Kind: "Secret", Name: "maybe", Optional: true},
		}
		return s.manifest("web", in)
	}
	configMap := func(text string) *corev1.ConfigMap {
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: s.name, Name: "common"}, Data: map[string]string{"values.yaml": text}}
	}

	It("are merged in order, followed when they change, and not needed for the removal", func(ctx SpecContext) {
		Expect(env.controlClient.Create(ctx, configMap("message: common\nreplicas: 2\nshared: common\n"))).To(Succeed())
		s.secret(ctx, "own", corev1.SecretTypeOpaque, map[string][]byte{"password": []byte("one")})
		m := from(ctx, values{"shared": "mine"})
		m.Spec.ForProvider.Config = configLayer(ctx, "configs: [{name: web, overrides: 'message=layer,replicas=3'}]")
		s.install(ctx, m)
		Expect(s.mustConfigMap(ctx, "web-settings")).To(haveData("message", "common"))
		Expect(s.mustDeployment(ctx, "web").Spec.Replicas).To(HaveValue(BeEquivalentTo(2)))
		Expect(gone(s.configMap)(ctx, "mine")).To(BeFalse())

		By("following a change")
		Expect(env.controlClient.Update(ctx, configMap("message: changed\n"))).To(Succeed())
		s.awaitMessage(ctx, "web-settings", "changed")
		s.awaitReady(ctx, "web")
		Expect(s.mustDeployment(ctx, "web").Spec.Replicas).To(HaveValue(BeEquivalentTo(3)), "the config layer counts where no one else says something")
		s.secret(ctx, "maybe", corev1.SecretTypeOpaque, map[string][]byte{"values.yaml": []byte("message: maybe\n")})
		s.awaitMessage(ctx, "web-settings", "maybe")

		s.awaitReady(ctx, "web")

		By("removing without them")
		Expect(env.controlClient.Delete(ctx, configMap(""))).To(Succeed())
		s.remove(ctx, "web")
		Expect(s.leftovers(ctx, env.target)).To(BeEmpty())
	})

	It("that are missing are named, and used as soon as they are there", func(ctx SpecContext) {
		s.create(ctx, from(ctx, nil))
		Eventually(s.get).WithContext(ctx).WithArguments("web").Should(SatisfyAll(
			haveState(v1alpha1.StateError, "ConfigMap "+s.name+"/common does not exist", `"values.yaml"`),
			haveInstall("web", v1alpha1.StateError, "valuesFrom[0]"),
		))
		Expect(env.controlClient.Create(ctx, configMap("message: common\n"))).To(Succeed())
		Eventually(s.get).WithContext(ctx).WithArguments("web").Should(haveState(v1alpha1.StateError, "Secret "+s.name+"/own does not exist", `"password"`))
		s.secret(ctx, "own", corev1.SecretTypeOpaque, map[string][]byte{"password": []byte("x")})
		s.awaitReady(ctx, "web")
	})

	It("of a Secret are shown nowhere", func(ctx SpecContext) {
		c := webChart().with("templates/refused.yaml", "apiVersion: v1\nkind: Service\nmetadata: {name: refused}\nspec: {ports: [{port: {{ .Values.password | quote }}}]}\n")
		in := s.installOf("web", c.pushLayer(ctx), nil)
		in.ValuesFrom = []v1alpha1.ValuesReference{{Kind: "Secret", Name: "own", Key: "password", TargetPath: "password"}}
		s.secret(ctx, "own", corev1.SecretTypeOpaque, map[string][]byte{"password": []byte(hidden)})
		s.create(ctx, s.manifest("web", in))
		Eventually(s.get).WithContext(ctx).WithArguments("web").Should(haveInstall("web", v1alpha1.StateError, "Service"))
		m := must(s.get(ctx, "web"))
		Expect(m.Status).NotTo(HaveField("AtProvider.Message", ContainSubstring(hidden)))
		Expect(m.Status.Conditions).NotTo(ContainElement(HaveField("Message", ContainSubstring(hidden))))
		Eventually(s.events).WithContext(ctx).WithArguments("web").ShouldNot(BeEmpty())
		Expect(s.events(ctx, "web")).NotTo(ContainElement(ContainSubstring(hidden)))
	})
})

var _ = Describe("A config layer that asks for it", func() {
	It("holds back what comes after an install until that is ready", func(ctx SpecContext) {
		s := newSpace(ctx)
		source := newChart("slow", "1.0.0").with("templates/all.yaml", `
apiVersion: v1
kind: Service
metadata: {name: slow}
spec: {ports: [{port: 80}]}
`).pushLayer(ctx)
		m := s.manifest("pair", s.installOf("first", source, nil), s.installOf("second", s.inline("second", "message: hello"), nil))
		m.Spec.ForProvider.Config = configLayer(ctx, "configs: [{name: first, clientConfig: 'Wait=true,Description=as asked,Labels.team=a'}]")
		m.Spec.ForProvider.Readiness = []v1alpha1.ReadinessRule{{
			CEL: "has(object.metadata.annotations) && 'works' in object.metadata.annotations", For: &v1alpha1.TypeSelector{APIVersion: "v1", Kind: "Service"},
		}}
		s.create(ctx, m)
		Eventually(s.get).WithContext(ctx).WithArguments("pair").Should(SatisfyAll(
			haveInstall("first", v1alpha1.StateProcessing, "Service"),
			haveInstall("second", v1alpha1.StateProcessing, "waits until install first is ready"),
		))
		Expect(gone(s.configMap)(ctx, "second")).To(BeTrue())
		edit(ctx, must(fetched(ctx, s.key("slow"), &corev1.Service{})), `{"metadata":{"annotations":{"works":"yes"}}}`)
		s.awaitReady(ctx, "pair")
		Expect(gone(s.configMap)(ctx, "second")).To(BeFalse())
		Expect(s.helm(ctx, "history", "first")).To(ContainSubstring("as asked"))
		Expect(s.helm(ctx, "list", "--short", "--selector", "team=a")).To(Equal("first\n"))
	})

	It("rolls an upgrade back that is not ready in time", func(ctx SpecContext) {
		s := newSpace(ctx)
		source := newChart("web", "1.0.0").with("templates/all.yaml", `
apiVersion: v1
kind: Service
metadata: {name: web, annotations: {works: {{ .Values.works | quote }}}}
spec: {ports: [{port: 80}]}
`).pushLayer(ctx)
		m := s.manifest("web", s.installOf("web", source, values{"works": "yes"}))
		m.Spec.ForProvider.Config = configLayer(ctx, "configs: [{name: web, clientConfig: 'Atomic=true,Timeout=3s'}]")
		m.Spec.ForProvider.Readiness = []v1alpha1.ReadinessRule{{
			CEL: "object.metadata.annotations.works == 'yes'", For: &v1alpha1.TypeSelector{APIVersion: "v1", Kind: "Service"},
		}}
		s.install(ctx, m)
		s.update(ctx, "web", setValues(values{"works": "no"}))
		Eventually(s.get).WithContext(ctx).WithArguments("web").Should(SatisfyAll(
			haveState(v1alpha1.StateWarning, "rolled back", "Service"), haveCondition(v1alpha1.TypeRolledBack, corev1.ConditionTrue, ContainSubstring("Service"))))
		Eventually(func(ctx SpecContext) (string, error) {
			svc, err := fetched(ctx, s.key("web"), &corev1.Service{})
			return svc.Annotations["works"], err
		}).WithContext(ctx).Should(Equal("yes"))
	})
})
