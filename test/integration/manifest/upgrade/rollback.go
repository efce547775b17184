// SPDX-License-Identifier: Apache-2.0

package upgrade

import (
	"time"

	. "github.com/crossplane-contrib/provider-kyma/test/integration/harness"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

var _ = Describe("An upgrade that fails", func() {
	var s *Space

	BeforeEach(func(ctx SpecContext) { s = NewSpace(ctx) })

	rollback := func(trigger v1alpha1.RollbackTrigger, after time.Duration) *v1alpha1.Rollback {
		return &v1alpha1.Rollback{Trigger: trigger, After: metav1.Duration{Duration: after}}
	}
	// upgradeTo returns an edit that sets the version and source of the module.
	upgradeTo := func(version string, source v1alpha1.Source) func(m *v1alpha1.Manifest) {
		return func(m *v1alpha1.Manifest) {
			m.Spec.ForProvider.Version = version
			SetSource(source)(m)
		}
	}
	// first installs the first version of the module, with a rollback and a value of a Secret.
	first := func(ctx SpecContext, r *v1alpha1.Rollback) *v1alpha1.Manifest {
		s.Secret(ctx, "values", corev1.SecretTypeOpaque, map[string][]byte{"values.yaml": []byte("password: hidden-value\n")})
		m := s.Manifest("web", s.InstallOf("web", WebChart().PushLayer(ctx), nil))
		m.Spec.ForProvider.Version, m.Spec.ForProvider.Rollback = "1.0.0", r
		m.Spec.ForProvider.Installs[0].ValuesFrom = []v1alpha1.ValuesReference{{Kind: "Secret", Name: "values", Key: "values.yaml"}}
		return s.Install(ctx, m)
	}
	rolledBack := HaveCondition(v1alpha1.TypeRolledBack, corev1.ConditionTrue, Not(BeEmpty()))

	It("is rolled back once, until the spec changes", func(ctx SpecContext) {
		first(ctx, rollback(v1alpha1.RollbackTriggerFailed, 2*time.Second))
		settings := s.MustConfigMap(ctx, "web-settings")
		bad := WebChart2().With("templates/bad.yaml", "apiVersion: v1\nkind: Service\nmetadata: {name: bad}\nspec: {ports: [{port: 99999999}]}\n").PushLayer(ctx)
		s.Update(ctx, "web", upgradeTo("2.0.0", bad))
		Eventually(s.Get).WithContext(ctx).WithArguments("web").Should(SatisfyAll(
			rolledBack, NotReady("rolled back to 1.0.0 because the upgrade to 2.0.0 failed", "bad"), HaveState(v1alpha1.StateWarning, "rolled back to 1.0.0"),
			ReadyBecause(v1alpha1.ReasonRolledBack),
			HaveField("Status.AtProvider.Version", "1.0.0"),
			Not(HaveState(v1alpha1.StateWarning, "is being rolled back"))))
		Eventually(Events).WithContext(ctx).WithArguments(s, "web").Should(ContainElement(HavePrefix("Warning RolledBack Upgrade is being rolled back to 1.0.0")))
		Expect(s.MustConfigMap(ctx, "web-settings").UID).To(Equal(settings.UID))
		Expect(Gone(s.ConfigMap)(ctx, "web-options")).To(BeTrue())

		By("repairing drift without an ownership conflict")
		Edit(ctx, s.MustConfigMap(ctx, "web-settings"), `{"data":{"message":"changed"}}`)
		s.AwaitMessage(ctx, "web-settings", "hello")
		Eventually(s.Get).WithContext(ctx).WithArguments("web").Should(SatisfyAll(
			rolledBack, HaveState(v1alpha1.StateWarning), Not(HaveState(v1alpha1.StateWarning, "is being rolled back"))))
		m := Must(s.Get(ctx, "web"))
		ExpectNowhere(ctx, s, m, "hidden-value")

		By("not retrying the upgrade after a restart")
		AwaitIdle(ctx)
		settings = s.MustConfigMap(ctx, "web-settings")
		Expect(Env.Provider.Terminate(ctx)).To(Succeed())
		Expect(Env.Provider.Start(ctx)).To(Succeed())
		AwaitIdle(ctx)
		Expect(Must(Env.Provider.Scrape(ctx)).Requests(TargetRequests)).To(WriteNothing())
		Expect(Must(Env.Provider.Scrape(ctx)).Requests(ControlRequests)).To(WriteNothing())
		Expect(s.MustConfigMap(ctx, "web-settings").ResourceVersion).To(Equal(settings.ResourceVersion))
		Expect(s.Get(ctx, "web")).To(SatisfyAll(rolledBack, HaveState(v1alpha1.StateWarning, "rolled back to 1.0.0")))

		By("upgrading to a newer version, which ends the rollback")
		s.Update(ctx, "web", upgradeTo("2.0.1", WebChart2().Version("2.0.1").PushLayer(ctx)))
		m = s.AwaitReady(ctx, "web")
		Expect(m.Status.AtProvider.Rollback).To(BeNil())
		Expect(m.Status.AtProvider.Version).To(Equal("2.0.1"))
		Expect(m.GetCondition(v1alpha1.TypeRolledBack).Status).NotTo(Equal(corev1.ConditionTrue))
		s.MustConfigMap(ctx, "web-options")
		s.Remove(ctx, "web")
		Expect(s.Leftovers(ctx, Env.Target)).To(BeEmpty())
	})

	It("is no longer waited for once the spec changes", func(ctx SpecContext) {
		first(ctx, rollback(v1alpha1.RollbackTriggerFailed, time.Hour))
		bad := WebChart2().With("templates/bad.yaml", "apiVersion: v1\nkind: Service\nmetadata: {name: bad}\nspec: {ports: [{port: 99999999}]}\n").PushLayer(ctx)
		s.Update(ctx, "web", upgradeTo("2.0.0", bad))
		Eventually(s.Get).WithContext(ctx).WithArguments("web").Should(SatisfyAll(
			HaveState(v1alpha1.StateError, "bad"), HaveField("Status.AtProvider.Rollback.Message", ContainSubstring("bad"))))
		s.Update(ctx, "web", upgradeTo("2.0.1", WebChart2().Version("2.0.1").PushLayer(ctx)))
		m := s.AwaitReady(ctx, "web")
		Expect(m.Status.AtProvider).To(SatisfyAll(HaveField("Rollback", BeNil()), HaveField("Version", "2.0.1")))
		Expect(Events(ctx, s, "web")).NotTo(ContainElement(ContainSubstring("RolledBack")))
	})

	It("is rolled back if it does not become ready, as helm history shows, and can then be removed", func(ctx SpecContext) {
		first(ctx, rollback(v1alpha1.RollbackTriggerNotReady, 3*time.Second))
		pending := WebChart2().With("templates/claim.yaml", "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: pending}\n"+
			"spec: {accessModes: [ReadWriteOnce], storageClassName: none, resources: {requests: {storage: 1Gi}}}\n").PushLayer(ctx)
		s.Update(ctx, "web", upgradeTo("2.0.0", pending))
		Eventually(s.Get).WithContext(ctx).WithArguments("web").Should(SatisfyAll(
			rolledBack, HaveState(v1alpha1.StateWarning, "rolled back to 1.0.0 because the upgrade to 2.0.0 failed", "PersistentVolumeClaim"),
			Not(HaveState(v1alpha1.StateWarning, "is being rolled back"))))
		Expect(Helm(ctx, s, "history", "web")).To(MatchRegexp(`3\s.*deployed.*Rollback to 1`))
		Eventually(Gone(s.ConfigMap)).WithContext(ctx).WithArguments("web-options").Should(BeTrue())
		s.Remove(ctx, "web")
		Expect(s.Leftovers(ctx, Env.Target)).To(BeEmpty())
	})

	It("is not rolled back if it is the first install", func(ctx SpecContext) {
		m := s.Manifest("web", s.InstallOf("web", WebChart().With("templates/bad.yaml",
			"apiVersion: v1\nkind: Service\nmetadata: {name: bad}\nspec: {ports: [{port: 99999999}]}\n").PushLayer(ctx), nil))
		m.Spec.ForProvider.Rollback = rollback(v1alpha1.RollbackTriggerFailed, time.Second)
		s.Create(ctx, m)
		Eventually(s.Get).WithContext(ctx).WithArguments("web").Should(HaveState(v1alpha1.StateError, "bad"))
		Consistently(s.Get).WithContext(ctx).WithArguments("web").Should(HaveField("Status.AtProvider.Rollback", BeNil()))
		s.Remove(ctx, "web")
	})
})
