// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

var _ = Describe("An upgrade that does not work", func() {
	var s *space

	BeforeEach(func(ctx SpecContext) { s = newSpace(ctx) })

	rollback := func(trigger v1alpha1.RollbackTrigger, after time.Duration) *v1alpha1.Rollback {
		return &v1alpha1.Rollback{Trigger: trigger, After: metav1.Duration{Duration: after}}
	}
	// upgradeTo a version of the module.
	upgradeTo := func(version string, source v1alpha1.Source) func(m *v1alpha1.Manifest) {
		return func(m *v1alpha1.Manifest) {
			m.Spec.ForProvider.Version = version
			setSource(source)(m)
		}
	}
	// first version of the module, with a rollback and a value of a Secret.
	first := func(ctx SpecContext, r *v1alpha1.Rollback) *v1alpha1.Manifest {
		s.secret(ctx, "values", corev1.SecretTypeOpaque, map[string][]byte{"values.yaml": []byte("password: hidden-value\n")})
		m := s.manifest("web", s.installOf("web", webChart().pushLayer(ctx), nil))
		m.Spec.ForProvider.Version, m.Spec.ForProvider.Rollback = "1.0.0", r
		m.Spec.ForProvider.Installs[0].ValuesFrom = []v1alpha1.ValuesReference{{Kind: "Secret", Name: "values", Key: "values.yaml"}}
		return s.install(ctx, m)
	}
	rolledBack := haveCondition(v1alpha1.TypeRolledBack, corev1.ConditionTrue, Not(BeEmpty()))

	It("is rolled back once, until something newer is desired", func(ctx SpecContext) {
		first(ctx, rollback(v1alpha1.RollbackTriggerFailed, 2*time.Second))
		settings := s.mustConfigMap(ctx, "web-settings")
		bad := webChart2().with("templates/bad.yaml", "apiVersion: v1\nkind: Service\nmetadata: {name: bad}\nspec: {ports: [{port: 99999999}]}\n").pushLayer(ctx)
		s.update(ctx, "web", upgradeTo("2.0.0", bad))
		Eventually(s.get).WithContext(ctx).WithArguments("web").Should(SatisfyAll(
			rolledBack, notReady("rolled back to 1.0.0 as 2.0.0 did not work", "bad"), haveState(v1alpha1.StateWarning, "rolled back to 1.0.0"),
			readyBecause(v1alpha1.ReasonRolledBack),
			HaveField("Status.AtProvider.Version", "1.0.0"),
			Not(haveState(v1alpha1.StateWarning, "is being rolled back"))))
		Eventually(s.events).WithContext(ctx).WithArguments("web").Should(ContainElement(HavePrefix("Warning RolledBack is being rolled back to 1.0.0")))
		Expect(s.mustConfigMap(ctx, "web-settings").UID).To(Equal(settings.UID))
		Expect(gone(s.configMap)(ctx, "web-options")).To(BeTrue())

		By("without an ownership conflict, and with drift repaired")
		edit(ctx, s.mustConfigMap(ctx, "web-settings"), `{"data":{"message":"changed"}}`)
		s.awaitMessage(ctx, "web-settings", "hello")
		Eventually(s.get).WithContext(ctx).WithArguments("web").Should(SatisfyAll(
			rolledBack, haveState(v1alpha1.StateWarning), Not(haveState(v1alpha1.StateWarning, "is being rolled back"))))
		m := must(s.get(ctx, "web"))
		s.expectNowhere(ctx, m, "hidden-value")

		By("not trying it again after a restart")
		awaitSettled(ctx)
		settings = s.mustConfigMap(ctx, "web-settings")
		Expect(env.provider.terminate(ctx)).To(Succeed())
		Expect(env.provider.start(ctx)).To(Succeed())
		awaitSettled(ctx)
		Expect(must(env.provider.scrape(ctx)).requests(targetRequests)).To(writeNothing())
		Expect(must(env.provider.scrape(ctx)).requests(controlRequests)).To(writeNothing())
		Expect(s.mustConfigMap(ctx, "web-settings").ResourceVersion).To(Equal(settings.ResourceVersion))
		Expect(s.get(ctx, "web")).To(SatisfyAll(rolledBack, haveState(v1alpha1.StateWarning, "rolled back to 1.0.0")))

		By("trying a newer version, which ends it")
		s.update(ctx, "web", upgradeTo("2.0.1", webChart2().version("2.0.1").pushLayer(ctx)))
		m = s.awaitReady(ctx, "web")
		Expect(m.Status.AtProvider.Rollback).To(BeNil())
		Expect(m.Status.AtProvider.Version).To(Equal("2.0.1"))
		Expect(m.GetCondition(v1alpha1.TypeRolledBack).Status).NotTo(Equal(corev1.ConditionTrue))
		s.mustConfigMap(ctx, "web-options")
		s.remove(ctx, "web")
		Expect(s.leftovers(ctx, env.target)).To(BeEmpty())
	})

	It("is waited for no longer once something newer is desired", func(ctx SpecContext) {
		first(ctx, rollback(v1alpha1.RollbackTriggerFailed, time.Hour))
		bad := webChart2().with("templates/bad.yaml", "apiVersion: v1\nkind: Service\nmetadata: {name: bad}\nspec: {ports: [{port: 99999999}]}\n").pushLayer(ctx)
		s.update(ctx, "web", upgradeTo("2.0.0", bad))
		Eventually(s.get).WithContext(ctx).WithArguments("web").Should(SatisfyAll(
			haveState(v1alpha1.StateError, "bad"), HaveField("Status.AtProvider.Rollback.Message", ContainSubstring("bad"))))
		s.update(ctx, "web", upgradeTo("2.0.1", webChart2().version("2.0.1").pushLayer(ctx)))
		m := s.awaitReady(ctx, "web")
		Expect(m.Status.AtProvider).To(SatisfyAll(HaveField("Rollback", BeNil()), HaveField("Version", "2.0.1")))
		Expect(s.events(ctx, "web")).NotTo(ContainElement(ContainSubstring("RolledBack")))
	})

	It("is rolled back where it does not become ready, as Helm says, and can be removed then", func(ctx SpecContext) {
		first(ctx, rollback(v1alpha1.RollbackTriggerNotReady, 3*time.Second))
		pending := webChart2().with("templates/claim.yaml", "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: pending}\n"+
			"spec: {accessModes: [ReadWriteOnce], storageClassName: none, resources: {requests: {storage: 1Gi}}}\n").pushLayer(ctx)
		s.update(ctx, "web", upgradeTo("2.0.0", pending))
		Eventually(s.get).WithContext(ctx).WithArguments("web").Should(SatisfyAll(
			rolledBack, haveState(v1alpha1.StateWarning, "rolled back to 1.0.0 as 2.0.0 did not work", "PersistentVolumeClaim"),
			Not(haveState(v1alpha1.StateWarning, "is being rolled back"))))
		Expect(s.helm(ctx, "history", "web")).To(MatchRegexp(`3\s.*deployed.*Rollback to 1`))
		Eventually(gone(s.configMap)).WithContext(ctx).WithArguments("web-options").Should(BeTrue())
		s.remove(ctx, "web")
		Expect(s.leftovers(ctx, env.target)).To(BeEmpty())
	})

	It("is not rolled back where it is the first", func(ctx SpecContext) {
		m := s.manifest("web", s.installOf("web", webChart().with("templates/bad.yaml",
			"apiVersion: v1\nkind: Service\nmetadata: {name: bad}\nspec: {ports: [{port: 99999999}]}\n").pushLayer(ctx), nil))
		m.Spec.ForProvider.Rollback = rollback(v1alpha1.RollbackTriggerFailed, time.Second)
		s.create(ctx, m)
		Eventually(s.get).WithContext(ctx).WithArguments("web").Should(haveState(v1alpha1.StateError, "bad"))
		Consistently(s.get).WithContext(ctx).WithArguments("web").Should(HaveField("Status.AtProvider.Rollback", BeNil()))
		s.remove(ctx, "web")
	})
})
