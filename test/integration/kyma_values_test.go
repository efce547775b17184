// SPDX-License-Identifier: Apache-2.0

package integration

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
)

var _ = Describe("The values of a module with two charts", func() {
	It("are for both of them, or for one", func(ctx SpecContext) {
		s := newSpace(ctx)
		m, second := s.offer("mod"), s.offer("second")
		c := m.component("1.0.0")
		c.Resources = append(c.Resources, controlplane.ComponentResource{Name: second.name, Type: "helm-chart", Files: second.chart("0.1.0").files})
		push(ctx, c)
		t := m.template("regular", c)
		s.create(ctx, t)
		m.awaitResolved(ctx, t.Name, "1.0.0")
		s.create(ctx, &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: s.name, Name: "own"}, Data: map[string]string{"values.yaml": "message: from own\n"},
		})
		module := m.module()
		module.Values = raw(values{"message": "both"})
		s.enable(ctx, s.kyma("kyma", module))
		Expect(must(m.installed(ctx))).To(haveData("message", "both"))
		Expect(must(second.installed(ctx))).To(haveData("message", "both"))

		By("setting them for one, in three ways")
		s.updateKyma(ctx, "kyma", func(k *v1alpha1.Kyma) {
			k.Spec.ForProvider.Modules[0].Installs = []v1alpha1.ModuleInstall{{Name: second.name, Values: raw(values{"message": "one"})}}
		})
		Eventually(second.installed).WithContext(ctx).Should(haveData("message", "one"))
		s.updateKyma(ctx, "kyma", func(k *v1alpha1.Kyma) {
			k.Spec.ForProvider.Modules[0].Installs[0].ValuesFrom = []v1alpha1.ValuesReference{{Kind: "ConfigMap", Name: "own"}}
			k.Spec.ForProvider.Modules[0].Installs[0].Values = nil
		})
		Eventually(second.installed).WithContext(ctx).Should(haveData("message", "both"))
		s.updateKyma(ctx, "kyma", func(k *v1alpha1.Kyma) { k.Spec.ForProvider.Modules[0].Values = nil })
		Eventually(second.installed).WithContext(ctx).Should(haveData("message", "from own"))
		Eventually(m.installed).WithContext(ctx).Should(haveData("message", "hello"))

		By("naming the charts that there are, and changing nothing")
		s.updateKyma(ctx, "kyma", func(k *v1alpha1.Kyma) { k.Spec.ForProvider.Modules[0].Installs[0].Name = "third" })
		Eventually(s.getKyma).WithContext(ctx).WithArguments("kyma").Should(
			haveModule(m.name, v1alpha1.StateError, `no install "third"`, m.name, second.name))
		Consistently(second.installed).WithContext(ctx).Should(haveData("message", "from own"))
		s.updateKyma(ctx, "kyma", func(k *v1alpha1.Kyma) { k.Spec.ForProvider.Modules[0].Installs = nil })
		s.awaitKyma(ctx, "kyma")
		Eventually(second.installed).WithContext(ctx).Should(haveData("message", "hello"))
	})
})
