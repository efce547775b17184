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

var _ = Describe("A Kyma that says how its modules are worked on", func() {
	It("hands that on, and writes nothing from then on", func(ctx SpecContext) {
		s := newSpace(ctx)
		o := s.offer("tuned")
		o.release(ctx, "regular", "1.0.0")
		s.create(ctx, &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: s.name, Name: "values"}, Data: map[string]string{"values.yaml": "message: from-values\n"},
		})
		m := o.module()
		m.Drift, m.Adoption = v1alpha1.DriftPolicyReport, v1alpha1.AdoptionPolicyAdopt
		m.ImmutableFields = v1alpha1.ImmutableFieldsPolicyRecreate
		m.Rollback = &v1alpha1.Rollback{After: metav1.Duration{Duration: 90 * time.Second}}
		m.ValuesFrom = []v1alpha1.ValuesReference{{Kind: "ConfigMap", Name: "values"}}
		s.create(ctx, s.kyma("kyma", m))
		s.awaitKyma(ctx, "kyma")
		p := must(s.get(ctx, o.manifest("kyma"))).Spec.ForProvider
		Expect(p.Drift).To(Equal(v1alpha1.DriftPolicyReport))
		Expect(p.Adoption).To(Equal(v1alpha1.AdoptionPolicyAdopt))
		Expect(p.ImmutableFields).To(Equal(v1alpha1.ImmutableFieldsPolicyRecreate))
		Expect(p.Rollback).To(Equal(&v1alpha1.Rollback{Trigger: v1alpha1.RollbackTriggerFailed, After: metav1.Duration{Duration: 90 * time.Second}}))
		Expect(p.Installs[0].ValuesFrom).To(Equal([]v1alpha1.ValuesReference{{Kind: "ConfigMap", Name: "values", Key: "values.yaml"}}))
		awaitSettled(ctx)
		Consistently(s.versions).WithContext(ctx).Should(Equal(must(s.versions(ctx))))

		By("planning only, until that is reverted")
		s.updateKyma(ctx, "kyma", func(k *v1alpha1.Kyma) { k.Spec.ForProvider.Mode = v1alpha1.ModePlan })
		Eventually(s.get).WithContext(ctx).WithArguments(o.manifest("kyma")).Should(HaveField("Spec.ForProvider.Mode", v1alpha1.ModePlan))
		s.updateKyma(ctx, "kyma", func(k *v1alpha1.Kyma) { k.Spec.ForProvider.Mode = v1alpha1.ModeApply })
		Eventually(s.get).WithContext(ctx).WithArguments(o.manifest("kyma")).Should(HaveField("Spec.ForProvider.Mode", v1alpha1.ModeApply))

		By("planning only this module, until that is reverted")
		s.updateKyma(ctx, "kyma", func(k *v1alpha1.Kyma) { k.Spec.ForProvider.Modules[0].Mode = v1alpha1.ModePlan })
		Eventually(s.get).WithContext(ctx).WithArguments(o.manifest("kyma")).Should(HaveField("Spec.ForProvider.Mode", v1alpha1.ModePlan))
		s.updateKyma(ctx, "kyma", func(k *v1alpha1.Kyma) { k.Spec.ForProvider.Modules[0].Mode = "" })
		Eventually(s.get).WithContext(ctx).WithArguments(o.manifest("kyma")).Should(HaveField("Spec.ForProvider.Mode", v1alpha1.ModeApply))
		s.awaitKyma(ctx, "kyma")
		s.removeKyma(ctx, "kyma")
	})
})
