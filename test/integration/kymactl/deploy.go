// SPDX-License-Identifier: Apache-2.0

package kymactl

import (
	"context"
	"fmt"

	. "github.com/crossplane-contrib/provider-kyma/test/integration/harness"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

var _ = Describe("kymactl deploy", func() {
	It("creates everything that a module needs, and undeploy deletes it", func(ctx SpecContext) {
		s := bareSpace(ctx)
		p, m := NewPerson(s), OfferOperated(s, "mod")
		template := p.MakeModule(ctx, m, "regular", "1.0.0")
		deploy := []string{"deploy", "-n", s.Name, "--skip-crds", "--target-kubeconfig", p.Target(), "--template", template}
		Expect(Lines(p.Ok(ctx, deploy...))).To(ConsistOf(
			"namespace/"+s.Name+" created", HaveSuffix(" created"), HaveSuffix(" created"),
			"moduletemplate.kyma.m.crossplane.io/"+m.TemplateName("regular")+" created", "kyma.kyma.m.crossplane.io/"+kymaName+" created"))
		m.AwaitResolved(ctx, m.TemplateName("regular"), "1.0.0")

		By("enabling the module")
		p.Ok(ctx, "module", "enable", m.Name)
		m.Report(ctx, `{"state":"Ready"}`)
		p.Ok(ctx, "wait", kymaName)
		Expect(Must(s.GetKyma(ctx, kymaName))).To(SatisfyAll(BeReadyKyma(), HaveVersion(m.Name, "1.0.0", "regular")))
		Expect(Must(m.Installed(ctx))).To(HaveData("version", "1.0.0"))

		By("deploying again, which changes nothing")
		before := stableVersions(ctx, s)
		for _, line := range Lines(p.Ok(ctx, deploy...)) {
			Expect(line).To(HaveSuffix(" unchanged"))
		}
		done := parsed[map[string][]map[string]string](p.Ok(ctx, append(deploy, "-o", "json")...))
		Expect(done["objects"]).To(SatisfyAll(HaveLen(5), HaveEach(HaveKeyWithValue("action", "unchanged"))))
		Expect(resourceVersions(ctx, s)).To(Equal(before))

		By("undeploying")
		p.Ok(ctx, "undeploy")
		Expect(s.Kymas(ctx)).To(BeEmpty())
		Expect(s.Manifests(ctx)).To(BeEmpty())
		Expect(m.Absent(ctx)).To(BeTrue())
		Expect(s.Leftovers(ctx, Env.Target)).To(BeEmpty())
		Expect(resourceVersions(ctx, s)).NotTo(SatisfyAny(HaveKey(HavePrefix("Secret/")), HaveKey(HavePrefix("ProviderConfig/"))))
		Expect(resourceVersions(ctx, s)).To(HaveKey("ModuleTemplate/" + m.TemplateName("regular")))
		Expect(exists(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.Name}})).To(BeTrue())

		By("undeploying again, including cluster-scoped objects")
		before = stableVersions(ctx, s)
		p.Ok(ctx, "undeploy")
		Expect(resourceVersions(ctx, s)).To(Equal(before))
	})

	It("installs modules in the control plane with --in-cluster, and undeploy removes them", func(ctx SpecContext) {
		s := bareSpace(ctx)
		p, m := NewPerson(s), NewOffer(s, "mod")
		config := &v1alpha1.ClusterProviderConfig{ObjectMeta: metav1.ObjectMeta{Name: s.Name}}
		DeferCleanup(func(ctx SpecContext) {
			Expect(client.IgnoreNotFound(Env.ControlClient.Delete(ctx, config))).To(Succeed())
		})
		installed := &corev1.ConfigMap{}
		p.Ok(ctx, "deploy", "-n", s.Name, "--skip-crds", "--in-cluster", "--provider-config", s.Name,
			"--template", p.MakeModule(ctx, m, "regular", "1.0.0"), "--module", m.Name, "--wait")
		Expect(Must(s.GetKyma(ctx, kymaName))).To(SatisfyAll(BeReadyKyma(), HaveVersion(m.Name, "1.0.0", "regular")))
		Expect(Env.ControlClient.Get(ctx, client.ObjectKeyFromObject(config), config)).To(Succeed())
		Expect(config.Spec.Credentials.Source).To(Equal(v1alpha1.CredentialsSourceInjectedIdentity))
		Expect(Env.ControlClient.Get(ctx, s.Key(m.Name), installed)).To(Succeed())
		Expect(m.Absent(ctx)).To(BeTrue(), "the other cluster gets nothing")

		p.Ok(ctx, "undeploy")
		Expect(Env.ControlClient.Get(ctx, s.Key(m.Name), installed)).To(BeNotFound())
		Expect(Env.ControlClient.Get(ctx, client.ObjectKeyFromObject(config), config)).To(BeNotFound())
		Expect(s.Leftovers(ctx, Env.Control)).To(BeEmpty())
	})

	It("keeps modules that were enabled since, by any client", func(ctx SpecContext) {
		s := NewSpace(ctx)
		p := NewPerson(s)
		offers := []*Offer{NewOffer(s, "kubectl"), NewOffer(s, "kymactl"), NewOffer(s, "patch"), NewOffer(s, "deploy")}
		for _, m := range offers {
			m.Release(ctx, "regular", "1.0.0")
		}
		deploy := []string{"deploy", "--skip-crds", "--provider-config", ConfigName}
		p.Ok(ctx, deploy...)
		p.Kubectl(ctx, fmt.Sprintf(`{"apiVersion":"kyma.m.crossplane.io/v1alpha1","kind":"Kyma","metadata":{"name":%q},`+
			`"spec":{"forProvider":{"modules":[{"name":%q}]}}}`, kymaName, offers[0].Name), "apply", "-f", "-")
		p.Ok(ctx, "module", "enable", offers[1].Name)
		Expect(Env.ControlClient.Patch(ctx, Must(s.GetKyma(ctx, kymaName)), client.RawPatch("application/json-patch+json",
			fmt.Appendf(nil, `[{"op":"add","path":"/spec/forProvider/modules/-","value":{"name":%q}}]`, offers[2].Name)))).To(Succeed())
		s.AwaitKyma(ctx, kymaName)
		before := stableVersions(ctx, s)
		p.Ok(ctx, deploy...)
		p.Ok(ctx, append(deploy, "--force-conflicts")...)
		Expect(resourceVersions(ctx, s)).To(Equal(before))

		By("enabling another module")
		p.Ok(ctx, append(deploy, "--module", offers[3].Name, "--wait")...)
		Expect(Must(s.GetKyma(ctx, kymaName))).To(SatisfyAll(BeReadyKyma(),
			wantModules(offers[0].Name, offers[1].Name, offers[2].Name, offers[3].Name)))
	})

	It("does not write CRDs that are up to date", func(ctx SpecContext) {
		s := NewSpace(ctx)
		p := NewPerson(s)
		before := generations(ctx)
		p.Ok(ctx, "deploy", "--provider-config", ConfigName)
		Expect(generations(ctx)).To(Equal(before))
		versions := stableVersions(ctx, s)
		for _, line := range Lines(p.Ok(ctx, "deploy", "--provider-config", ConfigName)) {
			Expect(line).To(HaveSuffix(" unchanged"))
		}
		Expect(resourceVersions(ctx, s)).To(Equal(versions))
	})

	It("reports what is not Ready when it times out", func(ctx SpecContext) {
		s := NewSpace(ctx)
		p, m := NewPerson(s), OfferOperated(s, "mod")
		m.Release(ctx, "regular", "1.0.0")
		args := []string{"deploy", "--skip-crds", "--provider-config", ConfigName, "--module", m.Name}
		p.Ok(ctx, args...)
		Eventually(s.GetKyma).WithContext(ctx).WithArguments(kymaName).Should(HaveModule(m.Name, v1alpha1.StateProcessing, m.Says()))
		p.Fails(ctx, exitTimeout, []string{"Kyma " + s.Name + "/" + kymaName, m.Name, m.Says()}, append(args, "--wait", "--timeout", "5s")...)
	})

	DescribeTable("changes nothing if it cannot complete", func(ctx SpecContext, code int, why []string, args func(p *Person) []string) {
		s := bareSpace(ctx)
		p := NewPerson(s)
		r := p.Fails(ctx, code, why, append([]string{"deploy", "--skip-crds"}, args(p)...)...)
		Expect(r.Stdout).To(BeEmpty())
		Expect(r.Stderr).NotTo(ContainSubstring(Password))
		Expect(exists(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.Name}})).To(BeFalse())
	},
		Entry("because the kubeconfig would execute a program", exitUsage, []string{"exec"}, func(p *Person) []string {
			text := `{apiVersion: v1, kind: Config, current-context: c, contexts: [{name: c, context: {cluster: c, user: u}}],
				clusters: [{name: c, cluster: {server: "https://127.0.0.1:1"}}],
				users: [{name: u, user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: login, args: [` + Password + `]}}}]}`
			return []string{"--target-kubeconfig", p.Input("exec.kubeconfig", []byte(text))}
		}),
		Entry("because the kubeconfig is invalid", exitUsage, []string{"--target-kubeconfig"}, func(p *Person) []string {
			return []string{"--target-kubeconfig", p.Input("broken.kubeconfig", []byte("token: ["+Password))}
		}),
		Entry("because the kubeconfig is missing", exitUsage, []string{"nowhere.kubeconfig"}, func(p *Person) []string {
			return []string{"--target-kubeconfig", p.Path("nowhere.kubeconfig")}
		}),
		Entry("because a ModuleTemplate is one of the original", exitUsage, []string{"module convert"}, func(p *Person) []string {
			template := "apiVersion: operator.kyma-project.io/v1beta2\nkind: ModuleTemplate\nmetadata: {name: m}\n"
			return []string{"--target-kubeconfig", p.Target(), "--template", p.Input("template.yaml", []byte(template))}
		}),
		Entry("because the ProviderConfig does not exist", exitNotFound, []string{"ProviderConfig", "missing"}, func(*Person) []string {
			return []string{"--provider-config", "missing"}
		}),
	)
})

var _ = Describe("kymactl undeploy", func() {
	It("keeps what deploy did not create, and what others use", func(ctx SpecContext) {
		s := NewSpace(ctx)
		p, m := NewPerson(s), NewOffer(s, "mod")
		m.Release(ctx, "regular", "1.0.0")
		s.Enable(ctx, s.Kyma(kymaName, m.Module()))
		before := stableVersions(ctx, s)
		Expect(p.Ok(ctx, "undeploy")).To(ContainSubstring("kyma.kyma.m.crossplane.io/" + kymaName + " kept"))
		p.Ok(ctx, "undeploy", "--templates")
		Expect(resourceVersions(ctx, s)).To(Equal(before))

		By("deleting the named objects, and keeping what they need")
		p.Ok(ctx, "undeploy", "--kyma", kymaName)
		Expect(s.Kymas(ctx)).To(BeEmpty())
		Expect(m.Absent(ctx)).To(BeTrue())
		after := stableVersions(ctx, s)
		Expect(after).To(SatisfyAll(HaveKey("ProviderConfig/"+ConfigName), HaveKey("Secret/"+ConfigName), HaveKey("ModuleTemplate/"+m.TemplateName("regular"))))
		p.Ok(ctx, "undeploy", "--kyma", kymaName, "--templates")
		Expect(resourceVersions(ctx, s)).To(Equal(after))
	})

	It("keeps a ProviderConfig until its last Kyma is deleted", func(ctx SpecContext) {
		s := bareSpace(ctx)
		p := NewPerson(s)
		p.Ok(ctx, "deploy", "--skip-crds", "--kyma", "first", "--provider-config", "shared", "--target-kubeconfig", p.Target())
		p.Ok(ctx, "deploy", "--skip-crds", "--kyma", "second", "--provider-config", "shared")
		p.Ok(ctx, "undeploy", "--kyma", "first")
		Expect(exists(ctx, named(s, &v1alpha1.ProviderConfig{}, "shared"))).To(BeTrue())
		p.Ok(ctx, "wait", "second")
		p.Ok(ctx, "undeploy", "--kyma", "second")
		Expect(exists(ctx, named(s, &v1alpha1.ProviderConfig{}, "shared"))).To(BeFalse())
		Expect(resourceVersions(ctx, s)).NotTo(HaveKey(HavePrefix("Secret/")))
	})

	It("waits for a module whose removal is blocked, and completes after an interruption", func(ctx SpecContext) {
		s := bareSpace(ctx)
		p, m := NewPerson(s), OfferOperated(s, "mod")
		m.Release(ctx, "regular", "1.0.0")
		p.Ok(ctx, "deploy", "--skip-crds", "--target-kubeconfig", p.Target(), "--module", m.Name)
		m.Report(ctx, `{"state":"Ready"}`)
		p.Ok(ctx, "wait")
		m.Hold(ctx, true)
		p.Fails(ctx, exitTimeout, []string{"Kyma " + s.Name + "/" + kymaName, m.Manifest(kymaName), m.Says()}, "undeploy", "--timeout", "10s")
		m.Hold(ctx, false)
		p.Ok(ctx, "undeploy")
		Expect(resourceVersions(ctx, s)).NotTo(SatisfyAny(HaveKey(HavePrefix("Secret/")), HaveKey(HavePrefix("ProviderConfig/")), HaveKey(HavePrefix("Kyma/"))))
		Expect(s.Leftovers(ctx, Env.Target)).To(BeEmpty())
	})
})

// generations returns the generations of all CRDs in the control plane, by name.
func generations(ctx context.Context) map[string]int64 {
	GinkgoHelper()
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinitionList"))
	Expect(Env.ControlClient.List(ctx, list)).To(Succeed())
	out := map[string]int64{}
	for i := range list.Items {
		out[list.Items[i].Name] = list.Items[i].Generation
	}
	return out
}
