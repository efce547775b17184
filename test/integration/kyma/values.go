// SPDX-License-Identifier: Apache-2.0

package kyma

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	. "github.com/crossplane-contrib/provider-kyma/test/integration/harness"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
)

var _ = Describe("The values of a module with two charts", func() {
	It("can be set for both charts, or for one", func(ctx SpecContext) {
		s := NewSpace(ctx)
		m, second := NewOffer(s, "mod"), NewOffer(s, "second")
		c := m.Component("1.0.0")
		c.Resources = append(c.Resources, controlplane.ComponentResource{Name: second.Name, Type: "helm-chart", Files: second.Chart("0.1.0").Files})
		Push(ctx, c)
		t := m.Template("regular", c)
		s.Create(ctx, t)
		m.AwaitResolved(ctx, t.Name, "1.0.0")
		s.Create(ctx, &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: s.Name, Name: "own"}, Data: map[string]string{"values.yaml": "message: from own\n"},
		})
		module := m.Module()
		module.Values = Raw(Values{"message": "both"})
		s.Enable(ctx, s.Kyma("kyma", module))
		Expect(Must(m.Installed(ctx))).To(HaveData("message", "both"))
		Expect(Must(second.Installed(ctx))).To(HaveData("message", "both"))

		By("setting values for one chart, in three ways")
		s.UpdateKyma(ctx, "kyma", func(k *v1alpha1.Kyma) {
			k.Spec.ForProvider.Modules[0].Installs = []v1alpha1.ModuleInstall{{Name: second.Name, Values: Raw(Values{"message": "one"})}}
		})
		Eventually(second.Installed).WithContext(ctx).Should(HaveData("message", "one"))
		s.UpdateKyma(ctx, "kyma", func(k *v1alpha1.Kyma) {
			k.Spec.ForProvider.Modules[0].Installs[0].ValuesFrom = []v1alpha1.ValuesReference{{Kind: "ConfigMap", Name: "own"}}
			k.Spec.ForProvider.Modules[0].Installs[0].Values = nil
		})
		Eventually(second.Installed).WithContext(ctx).Should(HaveData("message", "both"))
		s.UpdateKyma(ctx, "kyma", func(k *v1alpha1.Kyma) { k.Spec.ForProvider.Modules[0].Values = nil })
		Eventually(second.Installed).WithContext(ctx).Should(HaveData("message", "from own"))
		Eventually(m.Installed).WithContext(ctx).Should(HaveData("message", "hello"))

		By("reporting the existing charts, and changing nothing")
		s.UpdateKyma(ctx, "kyma", func(k *v1alpha1.Kyma) { k.Spec.ForProvider.Modules[0].Installs[0].Name = "third" })
		Eventually(s.GetKyma).WithContext(ctx).WithArguments("kyma").Should(
			HaveModule(m.Name, v1alpha1.StateError, `no install "third"`, m.Name, second.Name))
		Consistently(second.Installed).WithContext(ctx).Should(HaveData("message", "from own"))
		s.UpdateKyma(ctx, "kyma", func(k *v1alpha1.Kyma) { k.Spec.ForProvider.Modules[0].Installs = nil })
		s.AwaitKyma(ctx, "kyma")
		Eventually(second.Installed).WithContext(ctx).Should(HaveData("message", "hello"))
	})
})

var _ = Describe("A ModuleTemplate with restrictions", func() {
	It("rejects values of a Kyma and objects of the module that it does not allow", func(ctx SpecContext) {
		s := NewSpace(ctx)
		m := NewOffer(s, "mod")
		name := m.Release(ctx, "regular", "1.0.0").Name
		restrict := func(a *v1alpha1.ModuleAllowed) {
			UpdateTemplate(ctx, name, func(t *v1alpha1.ModuleTemplate) { t.Spec.Allowed = a })
		}

		By("rejecting an object before anything is applied")
		restrict(&v1alpha1.ModuleAllowed{Confinement: v1alpha1.Confinement{Namespaces: []string{"elsewhere"}}})
		m.AwaitResolved(ctx, name, "1.0.0")
		module := m.Module()
		s.Create(ctx, s.Kyma("kyma", module))
		Eventually(s.GetKyma).WithContext(ctx).WithArguments("kyma").Should(
			HaveModule(m.Name, v1alpha1.StateError, "is not allowed by spec.allowed of ModuleTemplate "+name+": allowed namespaces are elsewhere"))
		Expect(m.Absent(ctx)).To(BeTrue())

		By("installing it once it is allowed")
		restrict(&v1alpha1.ModuleAllowed{
			Values: []string{"other"}, Confinement: v1alpha1.Confinement{Namespaces: []string{s.Name, "default"}, ClusterAdmin: new(false)},
		})
		s.AwaitKyma(ctx, "kyma")
		Expect(Must(m.Installed(ctx))).To(HaveData("message", "hello"))

		By("rejecting a value, and changing nothing")
		s.UpdateKyma(ctx, "kyma", func(k *v1alpha1.Kyma) { k.Spec.ForProvider.Modules[0].Values = Raw(Values{"message": "mine"}) })
		Eventually(s.GetKyma).WithContext(ctx).WithArguments("kyma").Should(
			HaveModule(m.Name, v1alpha1.StateError, "values.message is not allowed by spec.allowed.values of ModuleTemplate "+name))
		Expect(Must(m.Installed(ctx))).To(HaveData("message", "hello"))

		By("accepting it once it is allowed")
		UpdateTemplate(ctx, name, func(t *v1alpha1.ModuleTemplate) { t.Spec.Allowed.Values = []string{"message"} })
		Eventually(m.Installed).WithContext(ctx).Should(HaveData("message", "mine"))
		s.AwaitKyma(ctx, "kyma")

		By("rejecting values in the control plane, where none are allowed by default, but removing the module")
		UpdateTemplate(ctx, name, func(t *v1alpha1.ModuleTemplate) {
			t.Spec.Allowed, t.Spec.Target = nil, v1alpha1.ModuleTargetControlPlane
		})
		Eventually(s.GetKyma).WithContext(ctx).WithArguments("kyma").Should(
			HaveModule(m.Name, v1alpha1.StateError, "values.message is not allowed by spec.allowed of ModuleTemplate "+name+", which has target control-plane"))
		Expect(Must(m.Installed(ctx))).To(HaveData("message", "mine"))
		s.RemoveKyma(ctx, "kyma")
		Expect(m.Absent(ctx)).To(BeTrue())
	})
})
