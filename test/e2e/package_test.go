// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	pkgv1 "github.com/crossplane/crossplane/apis/v2/pkg/v1"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane/crossplane"
)

var _ = Describe("The package of the provider", func() {
	It("is upgraded, and no module is touched", upgradeLate, func(ctx SpecContext) {
		s := newSpace(ctx)
		simple, operated := s.offer(ctx, "simple"), s.operated(ctx, "operated")
		u := s.claim("environment", simple, operated)
		s.create(ctx, u)
		operated.report(ctx, `{"state":"Ready"}`)
		Eventually(now(u)).WithContext(ctx).Should(beReadyComposite())
		s.settled(ctx)
		before := must(env.crossplane.AwaitPod(ctx))
		versions, specs, objects := must(s.versions(ctx)), must(s.generations(ctx)), must(s.objects(ctx))
		Expect(objects).NotTo(BeEmpty())

		Expect(env.refused()).To(BeEmpty())
		env.retired = before.Deployment
		ref := must(env.pushProvider(ctx, secondVersion))
		Expect(env.crossplane.InstallProvider(ctx, ref)).To(Succeed())
		after := must(env.crossplane.AwaitPod(ctx))
		Expect(after.Deployment).NotTo(Equal(before.Deployment))
		Expect(before.Process.Err()).NotTo(HaveOccurred(), "the first version did not end as it was asked to")

		// The old version has lost its rights when it ends, so that it cannot give up its lease, which lasts a minute.
		By("being looked at by the new version")
		Eventually(func(ctx context.Context) (float64, error) {
			now, err := env.scrape(ctx)
			return min(now.sum("provider_kyma_build_info", `version="`+secondVersion+`"`),
				now.sum("controller_runtime_reconcile_total", `controller="managed/manifest.kyma.m.crossplane.io"`),
				now.sum("controller_runtime_reconcile_total", `controller="managed/kyma.kyma.m.crossplane.io"`)), err
		}).WithContext(ctx).WithTimeout(2 * patience).Should(BeNumerically(">=", 1))
		Expect(s.settled(ctx)).To(Equal(versions))
		Expect(s.generations(ctx)).To(Equal(specs))
		Expect(s.objects(ctx)).To(Equal(objects))
		Expect(must(env.scrape(ctx)).sum("provider_kyma_target_requests_total", `verb="PATCH"`)).To(BeZero())

		By("working for the new version")
		s.remove(ctx, u)
		Eventually(simple.absent).WithContext(ctx).Should(BeTrue())
	})

	It("cannot be deleted while there are Kymas or ModuleTemplates, and goes with all that it brought when there are none", deletionLast, func(ctx SpecContext) {
		s := newSpace(ctx)
		m := s.offer(ctx, "module")
		k := s.enable(ctx, s.kyma("kyma", m.module()))
		objects := must(s.objects(ctx))
		provider := &pkgv1.Provider{ObjectMeta: metav1.ObjectMeta{Name: crossplane.ObjectName(crossplane.ProviderPackage)}}
		remove := func(ctx context.Context) error {
			return client.IgnoreNotFound(env.controlClient.Delete(ctx, provider.DeepCopy()))
		}
		Eventually(func(ctx context.Context) (map[string]string, error) {
			err := env.controlClient.Get(ctx, client.ObjectKeyFromObject(provider), provider)
			return provider.Labels, err
		}).WithContext(ctx).Should(HaveKeyWithValue("crossplane.io/in-use", "true"))
		Expect(env.controlClient.Delete(ctx, provider.DeepCopy(), client.DryRunAll)).To(MatchError(
			ContainSubstring("Provider has active managed resources of type")))
		Expect(remove(ctx)).To(MatchError(ContainSubstring("in-use")))
		Expect(s.settled(ctx)).NotTo(BeEmpty())
		Expect(s.objects(ctx)).To(Equal(objects))

		By("deleting first what needs it")
		s.remove(ctx, k)
		Eventually(remove).WithContext(ctx).Should(MatchError(ContainSubstring("ModuleTemplate." + v1alpha1.Group)))
		Expect(env.controlClient.DeleteAllOf(ctx, &v1alpha1.ModuleTemplate{})).To(Succeed())
		s.remove(ctx, s.config())
		s.remove(ctx, &v1alpha1.ClusterProviderConfig{ObjectMeta: metav1.ObjectMeta{Name: registriesConfig}})
		// Crossplane would install it again for the configuration, which depends on it.
		s.remove(ctx, &pkgv1.Configuration{ObjectMeta: metav1.ObjectMeta{Name: crossplane.ObjectName(crossplane.ConfigurationPackage)}})
		Eventually(remove).WithContext(ctx).Should(Succeed())
		for _, kind := range []string{"kymas", "manifests", "moduletemplates", "providerconfigs"} {
			Eventually(absent(env.controlClient, client.ObjectKey{Name: kind + "." + v1alpha1.Group}, &apiextensionsv1.CustomResourceDefinition{})).
				WithContext(ctx).Should(BeTrue(), kind)
		}
		Eventually(env.crossplane.Pods).Should(BeEmpty())
	})
})

// generations of all Manifests in the namespace.
func (s *space) generations(ctx context.Context) (map[string]int64, error) {
	list := &v1alpha1.ManifestList{}
	err := env.controlClient.List(ctx, list, client.InNamespace(s.name))
	out := map[string]int64{}
	for i := range list.Items {
		out[list.Items[i].Name] = list.Items[i].Generation
	}
	return out, err
}

// objects in the target of modules of the space, with their versions.
func (s *space) objects(ctx context.Context) ([]string, error) {
	var out []string
	for _, kind := range []schema.GroupVersionKind{
		corev1.SchemeGroupVersion.WithKind("ConfigMap"), corev1.SchemeGroupVersion.WithKind("Secret"),
		{Group: "apps", Version: "v1", Kind: "Deployment"},
		{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"},
	} {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(kind)
		if err := env.targetClient.List(ctx, list, client.MatchingLabels{v1alpha1.LabelManagedBy: v1alpha1.ManagedBy}); err != nil {
			return nil, err
		}
		for i := range list.Items {
			o := &list.Items[i]
			if name := o.GetKind() + " " + o.GetNamespace() + "/" + o.GetName(); strings.Contains(name, s.name) {
				out = append(out, name+" "+o.GetResourceVersion())
			}
		}
	}
	slices.Sort(out)
	return out, nil
}
