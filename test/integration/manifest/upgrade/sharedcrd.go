// SPDX-License-Identifier: Apache-2.0

package upgrade

import (
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	. "github.com/crossplane-contrib/provider-kyma/test/integration/harness"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
)

const (
	partOf = "applyset.kubernetes.io/part-of"
	usedBy = "kyma.m.crossplane.io/used-by."
)

// withSize returns version 2.0.0 of OperatorChart, whose CRD describes the field size.
func withSize(group string) Chart {
	more := strings.Replace(controlplane.WidgetCRD(group), "spec: {type: object, ", "spec: {type: object, properties: {size: {type: string}}, ", 1)
	return OperatorChart(group).Version("2.0.0").With("crds/widgets.yaml", more)
}

var _ = Describe("A CRD that two Manifests contain", func() {
	var s *Space
	var survives func(ctx SpecContext)

	crd := func(ctx SpecContext) (*unstructured.Unstructured, error) {
		u := &unstructured.Unstructured{}
		u.SetGroupVersionKind(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"))
		return Fetched(ctx, client.ObjectKey{Name: "widgets." + s.Group()}, u)
	}
	users := func(ctx SpecContext) []string {
		GinkgoHelper()
		var out []string
		for k, v := range Must(crd(ctx)).GetAnnotations() {
			if strings.HasPrefix(k, usedBy) {
				out = append(out, v)
			}
		}
		return out
	}
	module := func(ctx SpecContext, name string, chart Chart) *v1alpha1.Manifest {
		return s.Manifest(name, s.InstallOf(name, chart.PushLayer(ctx), nil))
	}

	BeforeEach(func(ctx SpecContext) {
		s = NewSpace(ctx)
		s.Install(ctx, module(ctx, "first", OperatorChart(s.Group())))
		s.Install(ctx, module(ctx, "second", OperatorChart(s.Group())))
		mine := &unstructured.Unstructured{Object: s.Widget(s.Group(), "mine", Values{"size": "small"})}
		Expect(Env.TargetClient.Create(ctx, mine)).To(Succeed())
		survives = func(ctx SpecContext) {
			GinkgoHelper()
			Expect(s.MustWidget(ctx, "mine")).To(SatisfyAll(
				WithTransform(func(u *unstructured.Unstructured) types.UID { return u.GetUID() }, Equal(mine.GetUID())),
				WithTransform(func(u *unstructured.Unstructured) any { return u.GetDeletionTimestamp() }, BeNil())))
		}
	})

	It("is used by the second Manifest, and stays with its custom resources when the first one is removed", func(ctx SpecContext) {
		first := Must(crd(ctx)).GetLabels()[partOf]
		Expect(users(ctx)).To(ConsistOf("Manifest " + s.Name + "/second"))
		Eventually(Events).WithContext(ctx).WithArguments(s, "second").Should(ContainElement(SatisfyAll(
			HavePrefix("Normal CRDShared "), ContainSubstring("belongs to Manifest "+s.Name+"/first, and is used as is"))))

		s.Remove(ctx, "first")
		survives(ctx)
		Eventually(Events).WithContext(ctx).WithArguments(s, "first").Should(ContainElement(SatisfyAll(
			HavePrefix("Normal Kept "), ContainSubstring("CRDs that other Manifests use: "), ContainSubstring("Manifest "+s.Name+"/second"))))
		Eventually(func(ctx SpecContext) string { return Must(crd(ctx)).GetLabels()[partOf] }).WithContext(ctx).Should(
			SatisfyAll(Not(BeEmpty()), Not(Equal(first))))
		s.AwaitReady(ctx, "second")
		// It was Ready before, too, and removes its use after it has become the owner.
		Eventually(users).WithContext(ctx).Should(BeEmpty())

		By("upgrading it as its owner")
		s.Update(ctx, "second", SetSource(withSize(s.Group()).PushLayer(ctx)))
		s.AwaitReady(ctx, "second")
		survives(ctx)

		By("removing the last Manifest, which waits for the custom resource")
		s.Delete(ctx, "second")
		Eventually(s.Get).WithContext(ctx).WithArguments("second").Should(HaveState(v1alpha1.StateWarning, "Widget "+s.Name+"/mine"))
		Expect(Env.TargetClient.Delete(ctx, s.MustWidget(ctx, "mine"))).To(Succeed())
		s.AwaitGone(ctx, "second")
		_, err := crd(ctx)
		Expect(err).To(BeNotFound())
		Expect(s.Leftovers(ctx, Env.Target)).To(BeEmpty())
	})

	It("stays with the first Manifest when the second one is removed", func(ctx SpecContext) {
		first := Must(crd(ctx)).GetLabels()[partOf]
		s.Remove(ctx, "second")
		survives(ctx)
		Expect(users(ctx)).To(BeEmpty())
		Expect(Must(crd(ctx)).GetLabels()).To(HaveKeyWithValue(partOf, first))
		Expect(Must(crd(ctx)).GetManagedFields()).NotTo(ContainElement(HaveField("Manager", HavePrefix("provider-kyma-"))))
		s.AwaitReady(ctx, "first")

		s.Delete(ctx, "first")
		Eventually(s.Get).WithContext(ctx).WithArguments("first").Should(HaveState(v1alpha1.StateWarning, "Widget "+s.Name+"/mine"))
		Expect(Env.TargetClient.Delete(ctx, s.MustWidget(ctx, "mine"))).To(Succeed())
		s.AwaitGone(ctx, "first")
		Expect(s.Leftovers(ctx, Env.Target)).To(BeEmpty())
	})

	It("is deleted if both Manifests are removed at the same time", func(ctx SpecContext) {
		Expect(Env.TargetClient.Delete(ctx, s.MustWidget(ctx, "mine"))).To(Succeed())
		s.Delete(ctx, "first")
		s.Delete(ctx, "second")
		s.AwaitGone(ctx, "first")
		s.AwaitGone(ctx, "second")
		_, err := crd(ctx)
		Expect(err).To(BeNotFound())
		Expect(s.Leftovers(ctx, Env.Target)).To(BeEmpty())
	})

	It("is an error of the second Manifest if it needs a newer CRD, until the first one is upgraded", func(ctx SpecContext) {
		strict := strictOperator(s.Group()).Version("3.0.0").Without("templates/more.yaml")
		s.Update(ctx, "second", SetSource(withVersion(s.Group(), "v2").PushLayer(ctx)))
		Eventually(s.Get).WithContext(ctx).WithArguments("second").Should(SatisfyAll(HaveState(v1alpha1.StateError,
			"CustomResourceDefinition widgets."+s.Group()+": already exists and belongs to Manifest "+s.Name+"/first, and cannot be used as is: "+
				"the existing CRD does not serve version v2; upgrade or remove the CRD there")))
		survives(ctx)
		s.Update(ctx, "first", SetSource(withVersion(s.Group(), "v2").PushLayer(ctx)))
		s.AwaitReady(ctx, "first")
		s.AwaitReady(ctx, "second")

		By("reporting an incompatible change")
		s.Update(ctx, "first", SetSource(strict.PushLayer(ctx)))
		Eventually(s.Get).WithContext(ctx).WithArguments("second").Should(HaveState(v1alpha1.StateError,
			"version v1: the existing CRD restricts the field spec.mode"))
		s.AwaitReady(ctx, "first")
		survives(ctx)
		s.Update(ctx, "second", SetSource(strict.PushLayer(ctx)))
		s.AwaitReady(ctx, "second")
		Expect(Env.TargetClient.Delete(ctx, s.MustWidget(ctx, "mine"))).To(Succeed())
	})
})

// withVersion returns version 2.0.0 of OperatorChart, whose CRD serves a further version.
func withVersion(group, version string) Chart {
	more := controlplane.WidgetCRD(group) + `  - name: ` + version + `
    served: true
    storage: false
    subresources: {status: {}}
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`
	return OperatorChart(group).Version("2.0.0").With("crds/widgets.yaml", more)
}
