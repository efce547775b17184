// SPDX-License-Identifier: Apache-2.0

package kyma

import (
	"time"

	. "github.com/crossplane-contrib/provider-kyma/test/integration/harness"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

var _ = Describe("The settings of a Kyma and its modules", func() {
	It("are propagated to the Manifests once, without further writes", func(ctx SpecContext) {
		s := NewSpace(ctx)
		o := NewOffer(s, "tuned")
		o.Release(ctx, "regular", "1.0.0")
		s.Create(ctx, &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: s.Name, Name: "values"}, Data: map[string]string{"values.yaml": "message: from-values\n"},
		})
		m := o.Module()
		m.Drift, m.Adoption = v1alpha1.DriftPolicyReport, v1alpha1.AdoptionPolicyAdopt
		m.ImmutableFields = v1alpha1.ImmutableFieldsPolicyRecreate
		m.Rollback = &v1alpha1.Rollback{After: metav1.Duration{Duration: 90 * time.Second}}
		m.ValuesFrom = []v1alpha1.ValuesReference{{Kind: "ConfigMap", Name: "values"}}
		s.Create(ctx, s.Kyma("kyma", m))
		s.AwaitKyma(ctx, "kyma")
		p := Must(s.Get(ctx, o.Manifest("kyma"))).Spec.ForProvider
		Expect(p.Drift).To(Equal(v1alpha1.DriftPolicyReport))
		Expect(p.Adoption).To(Equal(v1alpha1.AdoptionPolicyAdopt))
		Expect(p.ImmutableFields).To(Equal(v1alpha1.ImmutableFieldsPolicyRecreate))
		Expect(p.Rollback).To(Equal(&v1alpha1.Rollback{Trigger: v1alpha1.RollbackTriggerFailed, After: metav1.Duration{Duration: 90 * time.Second}}))
		Expect(p.Installs[0].ValuesFrom).To(Equal([]v1alpha1.ValuesReference{{Kind: "ConfigMap", Name: "values", Key: "values.yaml"}}))
		AwaitIdle(ctx)
		Consistently(versionsOf).WithContext(ctx).WithArguments(s).Should(Equal(Must(versionsOf(ctx, s))))

		By("setting the mode of the Kyma to Plan and back")
		s.UpdateKyma(ctx, "kyma", func(k *v1alpha1.Kyma) { k.Spec.ForProvider.Mode = v1alpha1.ModePlan })
		Eventually(s.Get).WithContext(ctx).WithArguments(o.Manifest("kyma")).Should(HaveField("Spec.ForProvider.Mode", v1alpha1.ModePlan))
		s.UpdateKyma(ctx, "kyma", func(k *v1alpha1.Kyma) { k.Spec.ForProvider.Mode = v1alpha1.ModeApply })
		Eventually(s.Get).WithContext(ctx).WithArguments(o.Manifest("kyma")).Should(HaveField("Spec.ForProvider.Mode", v1alpha1.ModeApply))

		By("setting the mode of the module to Plan and back")
		s.UpdateKyma(ctx, "kyma", func(k *v1alpha1.Kyma) { k.Spec.ForProvider.Modules[0].Mode = v1alpha1.ModePlan })
		Eventually(s.Get).WithContext(ctx).WithArguments(o.Manifest("kyma")).Should(HaveField("Spec.ForProvider.Mode", v1alpha1.ModePlan))
		s.UpdateKyma(ctx, "kyma", func(k *v1alpha1.Kyma) { k.Spec.ForProvider.Modules[0].Mode = "" })
		Eventually(s.Get).WithContext(ctx).WithArguments(o.Manifest("kyma")).Should(HaveField("Spec.ForProvider.Mode", v1alpha1.ModeApply))
		s.AwaitKyma(ctx, "kyma")
		s.RemoveKyma(ctx, "kyma")
	})
})
