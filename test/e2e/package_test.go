// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"context"
	"os/exec"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	pkgv1 "github.com/crossplane/crossplane/apis/v2/pkg/v1"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane/crossplane"
)

// These specs change what all specs share, so they run last, and in this order.
var _ = Describe("The package of the provider", Ordered, ContinueOnFailure, SpecPriority(-1), func() {
	It("can be upgraded without a change to modules", func(ctx SpecContext) {
		s := newSpace(ctx)
		simple, operated := s.offer(ctx, "simple"), s.operated(ctx, "operated")
		u := s.claim("environment", simple, operated)
		s.create(ctx, u)
		operated.report(ctx, `{"state":"Ready"}`)
		Eventually(now(u)).WithContext(ctx).Should(beReadyComposite())
		s.stableVersions(ctx)
		before := must(env.crossplane.AwaitPod(ctx))
		versions, specs, objects := must(s.versions(ctx)), must(s.generations(ctx)), must(s.objects(ctx))
		Expect(objects).NotTo(BeEmpty())

		env.retire(before)
		ref := must(env.pushProvider(ctx, secondVersion))
		Expect(env.crossplane.InstallProvider(ctx, ref)).To(Succeed())
		after := must(env.crossplane.AwaitPod(ctx))
		Expect(after.Deployment).NotTo(Equal(before.Deployment))
		Expect(before.Process.Err()).NotTo(HaveOccurred(), "the first version did not end as it was asked to")

		// The old version loses its permissions before it ends, so it cannot release its lease, which lasts a minute.
		By("reconciling everything with the new version")
		Eventually(func(ctx context.Context) (float64, error) {
			now, err := env.scrape(ctx)
			return min(now.sum("provider_kyma_build_info", `version="`+secondVersion+`"`),
				now.sum("controller_runtime_reconcile_total", `controller="managed/manifest.kyma.m.crossplane.io"`)/2,
				now.sum("controller_runtime_reconcile_total", `controller="managed/kyma.kyma.m.crossplane.io"`)), err
		}).WithContext(ctx).WithTimeout(2 * patience).Should(BeNumerically(">=", 1))
		Expect(s.stableVersions(ctx)).To(Equal(versions))
		Expect(s.generations(ctx)).To(Equal(specs))
		Expect(s.objects(ctx)).To(Equal(objects))
		Expect(must(env.scrape(ctx)).sum("provider_kyma_target_requests_total", `verb="PATCH"`)).To(BeZero())

		By("removing a module with the new version")
		s.remove(ctx, u)
		Eventually(simple.absent).WithContext(ctx).Should(BeTrue())
	})

	It("keeps modules if it is deleted by mistake, and adopts them when it is installed again", func(ctx SpecContext) {
		s := newSpace(ctx)
		m := s.offer(ctx, "module")
		s.enable(ctx, s.kyma("kyma", m.module()))
		objects, crds := must(s.objects(ctx)), map[string]types.UID{}
		for _, kind := range plurals {
			crds[kind] = must(uidOfCRD(ctx, kind))
		}

		By("disabling the deletion protection")
		webhook := &admissionregistrationv1.ValidatingWebhookConfiguration{}
		Expect(env.controlClient.Get(ctx, client.ObjectKey{Name: "crossplane-no-usages"}, webhook)).To(Succeed())
		s.delete(ctx, webhook)
		env.retire(must(env.crossplane.AwaitPod(ctx)))
		s.delete(ctx, &pkgv1.Provider{ObjectMeta: metav1.ObjectMeta{Name: crossplane.ObjectName(crossplane.ProviderPackage)}})
		Eventually(env.crossplane.Pods).Should(BeEmpty())
		Eventually(s.getKyma).WithContext(ctx).WithArguments("kyma").Should(HaveField("DeletionTimestamp", Not(BeNil())))

		// A CRD in deletion belongs to the deleted revision, and no other revision can own it. Controllers of its kind would
		// not start either.
		By("removing the finalizers that the deleted provider leaves behind")
		for _, kind := range plurals {
			// An API server can respond with 404 Not Found to a list of a kind while it stops serving the kind, although objects are left.
			// If objects are left after a minute, it tries again after a delay. Crossplane installs the provider again at any time, because
			// the configuration depends on it, and the kind then has a new CRD.
			Eventually(func(ctx SpecContext) (types.UID, error) {
				if err := removeAllFinalizers(ctx); err != nil {
					return crds[kind], err
				}
				return uidOfCRD(ctx, kind)
			}).WithContext(ctx).WithTimeout(4*time.Minute).ShouldNot(Equal(crds[kind]), kind)
		}
		Expect(s.objects(ctx)).To(Equal(objects))

		By("installing the provider, and creating all resources again")
		// Otherwise the lease would last for another minute.
		s.delete(ctx, &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: crossplane.Namespace, Name: leaseName}})
		webhook.ResourceVersion = ""
		s.create(ctx, webhook)
		Expect(env.crossplane.InstallProvider(ctx, must(env.pushProvider(ctx, secondVersion)))).To(Succeed())
		must(env.crossplane.AwaitPod(ctx))
		Eventually(env.allowRegistry).WithContext(ctx).Should(Succeed())
		m.release(ctx)
		again := s.enable(ctx, s.kyma("kyma", m.module()))
		Expect(s.objects(ctx)).To(Equal(objects))
		s.remove(ctx, again)
		Expect(s.objects(ctx)).To(BeEmpty())
	})

	It("cannot be deleted while there are Kymas or ModuleTemplates, and is then deleted with everything that it installed", func(ctx SpecContext) {
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
		Expect(s.stableVersions(ctx)).NotTo(BeEmpty())
		Expect(s.objects(ctx)).To(Equal(objects))

		By("deleting what uses it first")
		s.remove(ctx, k)
		Eventually(remove).WithContext(ctx).Should(MatchError(ContainSubstring("ModuleTemplate." + v1alpha1.Group)))
		Expect(env.controlClient.DeleteAllOf(ctx, &v1alpha1.ModuleTemplate{})).To(Succeed())
		// A remaining config would keep its CRD, because no provider would be left to remove its finalizer.
		s.remove(ctx, s.config())
		s.remove(ctx, &v1alpha1.ClusterProviderConfig{ObjectMeta: metav1.ObjectMeta{Name: registriesConfig}})
		// Otherwise Crossplane would install the provider again for the configuration, which depends on it.
		s.remove(ctx, &pkgv1.Configuration{ObjectMeta: metav1.ObjectMeta{Name: crossplane.ObjectName(crossplane.ConfigurationPackage)}})
		env.retire(must(env.crossplane.AwaitPod(ctx)))
		Eventually(remove).WithContext(ctx).Should(Succeed())
		for _, kind := range plurals {
			Eventually(absentCRD(kind)).WithContext(ctx).Should(BeTrue(), kind)
		}
		Eventually(env.crossplane.Pods).Should(BeEmpty())
	})

	It("is installed by kymactl, which can delete it with everything that it installed", func(ctx SpecContext) {
		s := newSpace(ctx)
		ref := must(env.pushProvider(ctx, secondVersion))
		deploy := []string{"deploy", "--package", ref, "--target-kubeconfig", env.target.KubeconfigFile(), "--wait"}
		Expect(s.kymactl(ctx, 0, deploy...)).To(ContainSubstring("provider.pkg.crossplane.io/" + crossplane.ProviderPackage + " created"))
		Expect(must(s.getKyma(ctx, "default"))).To(beReady())
		Eventually(env.allowRegistry).WithContext(ctx).Should(Succeed())
		m := s.offer(ctx, "module")
		s.kymactl(ctx, 0, "module", "enable", m.name, "--wait")
		Expect(m.installed(ctx)).To(HaveField("Data", HaveKeyWithValue("version", "1.0.0")))
		Expect(strings.Split(strings.TrimSpace(s.kymactl(ctx, 0, deploy...)), "\n")).To(HaveEach(HaveSuffix(" unchanged")))

		By("keeping the package as long as something uses it")
		undeploy := []string{"undeploy", "--package"}
		s.kymactl(ctx, 1, undeploy...)
		Expect(must(fetched(ctx, env.controlClient, client.ObjectKey{Name: crossplane.ProviderPackage}, &pkgv1.Provider{})).DeletionTimestamp).To(BeNil())
		Expect(m.absent(ctx)).To(BeTrue())
		s.remove(ctx, &v1alpha1.ClusterProviderConfig{ObjectMeta: metav1.ObjectMeta{Name: registriesConfig}})
		s.remove(ctx, &v1alpha1.ModuleTemplate{ObjectMeta: metav1.ObjectMeta{Name: m.name + "-regular"}})
		pods := env.crossplane.Pods()
		Expect(pods).To(HaveLen(1))
		env.retire(pods[0])
		s.kymactl(ctx, 0, undeploy...)
		for _, kind := range plurals {
			Eventually(absentCRD(kind)).WithContext(ctx).Should(BeTrue(), kind)
		}
		Eventually(env.crossplane.Pods).Should(BeEmpty())
	})
})

// kymactl runs kymactl in the namespace, checks its exit code, and returns its stdout.
func (s *space) kymactl(ctx context.Context, code int, args ...string) string {
	GinkgoHelper()
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, env.kymactl, append(args, "-n", s.name, "--kubeconfig", env.control.KubeconfigFile())...)
	cmd.Env = []string{"HOME=" + GinkgoT().TempDir(), "TMPDIR=" + GinkgoT().TempDir()}
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	_ = cmd.Run()
	Expect(cmd.ProcessState.ExitCode()).To(Equal(code), "%s\n%s", stdout.String(), stderr.String())
	return stdout.String()
}

// plurals lists the plural names of the kinds whose objects have finalizers.
var plurals = []string{"kymas", "manifests", "providerconfigs", "clusterproviderconfigs"}

// absentCRD returns a function that reports whether the CRD of a kind is gone.
func absentCRD(plural string) func(ctx context.Context) (bool, error) {
	return absent(env.controlClient, client.ObjectKey{Name: plural + "." + v1alpha1.Group}, &apiextensionsv1.CustomResourceDefinition{})
}

// uidOfCRD returns the UID of the CRD of a kind, or an empty one if it does not exist.
func uidOfCRD(ctx context.Context, plural string) (types.UID, error) {
	crd := &apiextensionsv1.CustomResourceDefinition{}
	err := env.controlClient.Get(ctx, client.ObjectKey{Name: plural + "." + v1alpha1.Group}, crd)
	return crd.UID, client.IgnoreNotFound(err)
}

// removeAllFinalizers removes the finalizers of all objects of our kinds that the API server lists.
func removeAllFinalizers(ctx context.Context) error {
	for _, kind := range []string{
		v1alpha1.KymaKind, v1alpha1.ManifestKind, v1alpha1.ProviderConfigKind, v1alpha1.ClusterProviderConfigKind,
	} {
		list := listOf(v1alpha1.Group, "v1alpha1", kind)
		if err := env.controlClient.List(ctx, list); err != nil {
			if kerrors.IsNotFound(err) || meta.IsNoMatchError(err) {
				continue
			}
			return err
		}
		for i := range list.Items {
			err := env.controlClient.Patch(ctx, &list.Items[i], client.RawPatch("application/merge-patch+json", []byte(removeFinalizers)))
			if client.IgnoreNotFound(err) != nil {
				return err
			}
		}
	}
	return nil
}

// generations returns the generations of all Manifests in the namespace, by name.
func (s *space) generations(ctx context.Context) (map[string]int64, error) {
	list := &v1alpha1.ManifestList{}
	err := env.controlClient.List(ctx, list, client.InNamespace(s.name))
	out := map[string]int64{}
	for i := range list.Items {
		out[list.Items[i].Name] = list.Items[i].Generation
	}
	return out, err
}

// objects returns the objects of modules of the space in the target, with their resource versions.
func (s *space) objects(ctx context.Context) ([]string, error) {
	return s.objectsIn(ctx, env.targetClient)
}

// objectsIn returns the objects of modules of the space in a cluster, with their resource versions, sorted.
func (s *space) objectsIn(ctx context.Context, c client.Client) ([]string, error) {
	var out []string
	for _, kind := range []schema.GroupVersionKind{
		corev1.SchemeGroupVersion.WithKind("ConfigMap"), corev1.SchemeGroupVersion.WithKind("Secret"),
		{Group: "apps", Version: "v1", Kind: "Deployment"},
		{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"},
	} {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(kind)
		if err := c.List(ctx, list, client.MatchingLabels{v1alpha1.LabelManagedBy: v1alpha1.ManagedBy}); err != nil {
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
