// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

var _ = Describe("kymactl deploy", func() {
	It("makes all that a module needs out of nothing, and undeploy takes it away", func(ctx SpecContext) {
		s := bareSpace(ctx)
		p, m := s.person(), s.operated("mod")
		template := p.makeModule(ctx, m, "regular", "1.0.0")
		deploy := []string{"deploy", "-n", s.name, "--skip-crds", "--target-kubeconfig", p.target(), "--template", template}
		Expect(lines(p.ok(ctx, deploy...))).To(ConsistOf(
			"namespace/"+s.name+" created", HaveSuffix(" created"), HaveSuffix(" created"),
			"moduletemplate.kyma.m.crossplane.io/"+m.templateName("regular")+" created", "kyma.kyma.m.crossplane.io/"+kymaName+" created"))
		m.awaitResolved(ctx, m.templateName("regular"), "1.0.0")

		By("enabling the module")
		p.ok(ctx, "module", "enable", m.name)
		m.report(ctx, `{"state":"Ready"}`)
		p.ok(ctx, "wait", kymaName)
		Expect(must(s.getKyma(ctx, kymaName))).To(SatisfyAll(beReadyKyma(), haveVersion(m.name, "1.0.0", "regular")))
		Expect(must(m.installed(ctx))).To(haveData("version", "1.0.0"))

		By("deploying again, which changes nothing")
		before := s.settled(ctx)
		for _, line := range lines(p.ok(ctx, deploy...)) {
			Expect(line).To(HaveSuffix(" unchanged"))
		}
		done := parsed[map[string][]map[string]string](p.ok(ctx, append(deploy, "-o", "json")...))
		Expect(done["objects"]).To(SatisfyAll(HaveLen(5), HaveEach(HaveKeyWithValue("action", "unchanged"))))
		Expect(s.resourceVersions(ctx)).To(Equal(before))

		By("undeploying")
		p.ok(ctx, "undeploy")
		Expect(s.kymas(ctx)).To(BeEmpty())
		Expect(s.manifests(ctx)).To(BeEmpty())
		Expect(m.absent(ctx)).To(BeTrue())
		Expect(s.leftovers(ctx, env.target)).To(BeEmpty())
		Expect(s.resourceVersions(ctx)).NotTo(SatisfyAny(HaveKey(HavePrefix("Secret/")), HaveKey(HavePrefix("ProviderConfig/"))))
		Expect(s.resourceVersions(ctx)).To(HaveKey("ModuleTemplate/" + m.templateName("regular")))
		Expect(exists(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.name}})).To(BeTrue())

		By("undeploying again, also what is for all")
		before = s.settled(ctx)
		p.ok(ctx, "undeploy")
		Expect(s.resourceVersions(ctx)).To(Equal(before))
	})

	It("installs modules in the control plane itself with --in-cluster, and undeploy takes them away", func(ctx SpecContext) {
		s := bareSpace(ctx)
		p, m := s.person(), s.offer("mod")
		config := &v1alpha1.ClusterProviderConfig{ObjectMeta: metav1.ObjectMeta{Name: s.name}}
		DeferCleanup(func(ctx SpecContext) {
			Expect(client.IgnoreNotFound(env.controlClient.Delete(ctx, config))).To(Succeed())
		})
		installed := &corev1.ConfigMap{}
		p.ok(ctx, "deploy", "-n", s.name, "--skip-crds", "--in-cluster", "--provider-config", s.name,
			"--template", p.makeModule(ctx, m, "regular", "1.0.0"), "--module", m.name, "--wait")
		Expect(must(s.getKyma(ctx, kymaName))).To(SatisfyAll(beReadyKyma(), haveVersion(m.name, "1.0.0", "regular")))
		Expect(env.controlClient.Get(ctx, client.ObjectKeyFromObject(config), config)).To(Succeed())
		Expect(config.Spec.Credentials.Source).To(Equal(v1alpha1.CredentialsSourceInjectedIdentity))
		Expect(env.controlClient.Get(ctx, s.key(m.name), installed)).To(Succeed())
		Expect(m.absent(ctx)).To(BeTrue(), "the other cluster gets nothing")

		p.ok(ctx, "undeploy")
		Expect(env.controlClient.Get(ctx, s.key(m.name), installed)).To(beNotFound())
		Expect(env.controlClient.Get(ctx, client.ObjectKeyFromObject(config), config)).To(beNotFound())
		Expect(s.leftovers(ctx, env.control)).To(BeEmpty())
	})

	It("keeps what was enabled since, anyone who enabled it", func(ctx SpecContext) {
		s := newSpace(ctx)
		p := s.person()
		offers := []*offer{s.offer("kubectl"), s.offer("kymactl"), s.offer("patch"), s.offer("deploy")}
		for _, m := range offers {
			m.release(ctx, "regular", "1.0.0")
		}
		deploy := []string{"deploy", "--skip-crds", "--provider-config", configName}
		p.ok(ctx, deploy...)
		p.kubectl(ctx, fmt.Sprintf(`{"apiVersion":"kyma.m.crossplane.io/v1alpha1","kind":"Kyma","metadata":{"name":%q},`+
			`"spec":{"forProvider":{"modules":[{"name":%q}]}}}`, kymaName, offers[0].name), "apply", "-f", "-")
		p.ok(ctx, "module", "enable", offers[1].name)
		Expect(env.controlClient.Patch(ctx, must(s.getKyma(ctx, kymaName)), client.RawPatch("application/json-patch+json",
			fmt.Appendf(nil, `[{"op":"add","path":"/spec/forProvider/modules/-","value":{"name":%q}}]`, offers[2].name)))).To(Succeed())
		s.awaitKyma(ctx, kymaName)
		before := s.settled(ctx)
		p.ok(ctx, deploy...)
		p.ok(ctx, append(deploy, "--force-conflicts")...)
		Expect(s.resourceVersions(ctx)).To(Equal(before))

		By("enabling one more")
		p.ok(ctx, append(deploy, "--module", offers[3].name, "--wait")...)
		Expect(must(s.getKyma(ctx, kymaName))).To(SatisfyAll(beReadyKyma(),
			wantModules(offers[0].name, offers[1].name, offers[2].name, offers[3].name)))
	})

	It("leaves CRDs alone that are as it wants them", func(ctx SpecContext) {
		s := newSpace(ctx)
		p := s.person()
		before := generations(ctx)
		p.ok(ctx, "deploy", "--provider-config", configName)
		Expect(generations(ctx)).To(Equal(before))
		versions := s.settled(ctx)
		for _, line := range lines(p.ok(ctx, "deploy", "--provider-config", configName)) {
			Expect(line).To(HaveSuffix(" unchanged"))
		}
		Expect(s.resourceVersions(ctx)).To(Equal(versions))
	})

	It("says what is not Ready when the time is over", func(ctx SpecContext) {
		s := newSpace(ctx)
		p, m := s.person(), s.operated("mod")
		m.release(ctx, "regular", "1.0.0")
		p.fails(ctx, exitTimeout, []string{"Kyma " + s.name + "/" + kymaName, m.name, m.says()},
			"deploy", "--skip-crds", "--provider-config", configName, "--module", m.name, "--wait", "--timeout", "10s")
	})

	DescribeTable("does nothing where it cannot do all of it", func(ctx SpecContext, code int, why []string, args func(p *person) []string) {
		s := bareSpace(ctx)
		p := s.person()
		r := p.fails(ctx, code, why, append([]string{"deploy", "--skip-crds"}, args(p)...)...)
		Expect(r.stdout).To(BeEmpty())
		Expect(r.stderr).NotTo(ContainSubstring(password))
		Expect(exists(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.name}})).To(BeFalse())
	},
		Entry("as the kubeconfig would run a program", exitUsage, []string{"exec"}, func(p *person) []string {
			text := `{apiVersion: v1, kind: Config, current-context: c, contexts: [{name: c, context: {cluster: c, user: u}}],
				clusters: [{name: c, cluster: {server: "https://127.0.0.1:1"}}],
				users: [{name: u, user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: login, args: [` + password + `]}}}]}`
			return []string{"--target-kubeconfig", p.input("exec.kubeconfig", []byte(text))}
		}),
		Entry("as the kubeconfig is none", exitUsage, []string{"--target-kubeconfig"}, func(p *person) []string {
			return []string{"--target-kubeconfig", p.input("broken.kubeconfig", []byte("token: ["+password))}
		}),
		Entry("as there is no kubeconfig", exitUsage, []string{"nowhere.kubeconfig"}, func(p *person) []string {
			return []string{"--target-kubeconfig", p.path("nowhere.kubeconfig")}
		}),
		Entry("as a ModuleTemplate is of the original", exitUsage, []string{"module convert"}, func(p *person) []string {
			template := "apiVersion: operator.kyma-project.io/v1beta2\nkind: ModuleTemplate\nmetadata: {name: m}\n"
			return []string{"--target-kubeconfig", p.target(), "--template", p.input("template.yaml", []byte(template))}
		}),
		Entry("as there is no such ProviderConfig", exitNotFound, []string{"ProviderConfig", "missing"}, func(*person) []string {
			return []string{"--provider-config", "missing"}
		}),
	)
})

var _ = Describe("kymactl undeploy", func() {
	It("leaves what it did not make, and what others use", func(ctx SpecContext) {
		s := newSpace(ctx)
		p, m := s.person(), s.offer("mod")
		m.release(ctx, "regular", "1.0.0")
		s.enable(ctx, s.kyma(kymaName, m.module()))
		before := s.settled(ctx)
		Expect(p.ok(ctx, "undeploy")).To(ContainSubstring("kyma.kyma.m.crossplane.io/" + kymaName + " kept"))
		p.ok(ctx, "undeploy", "--templates")
		Expect(s.resourceVersions(ctx)).To(Equal(before))

		By("deleting what is named, and leaving what it needed")
		p.ok(ctx, "undeploy", "--kyma", kymaName)
		Expect(s.kymas(ctx)).To(BeEmpty())
		Expect(m.absent(ctx)).To(BeTrue())
		after := s.settled(ctx)
		Expect(after).To(SatisfyAll(HaveKey("ProviderConfig/"+configName), HaveKey("Secret/"+configName), HaveKey("ModuleTemplate/"+m.templateName("regular"))))
		p.ok(ctx, "undeploy", "--kyma", kymaName, "--templates")
		Expect(s.resourceVersions(ctx)).To(Equal(after))
	})

	It("leaves a ProviderConfig to a second Kyma, and goes with the last one", func(ctx SpecContext) {
		s := bareSpace(ctx)
		p := s.person()
		p.ok(ctx, "deploy", "--skip-crds", "--kyma", "first", "--provider-config", "shared", "--target-kubeconfig", p.target())
		p.ok(ctx, "deploy", "--skip-crds", "--kyma", "second", "--provider-config", "shared")
		p.ok(ctx, "undeploy", "--kyma", "first")
		Expect(exists(ctx, named(s, &v1alpha1.ProviderConfig{}, "shared"))).To(BeTrue())
		p.ok(ctx, "wait", "second")
		p.ok(ctx, "undeploy", "--kyma", "second")
		Expect(exists(ctx, named(s, &v1alpha1.ProviderConfig{}, "shared"))).To(BeFalse())
		Expect(s.resourceVersions(ctx)).NotTo(HaveKey(HavePrefix("Secret/")))
	})

	It("waits for a module that cannot go, and completes what was interrupted", func(ctx SpecContext) {
		s := bareSpace(ctx)
		p, m := s.person(), s.operated("mod")
		m.release(ctx, "regular", "1.0.0")
		p.ok(ctx, "deploy", "--skip-crds", "--target-kubeconfig", p.target(), "--module", m.name)
		m.report(ctx, `{"state":"Ready"}`)
		p.ok(ctx, "wait")
		m.hold(ctx, true)
		p.fails(ctx, exitTimeout, []string{"Kyma " + s.name + "/" + kymaName, m.manifest(kymaName), m.says()}, "undeploy", "--timeout", "3s")
		m.hold(ctx, false)
		p.ok(ctx, "undeploy")
		Expect(s.resourceVersions(ctx)).NotTo(SatisfyAny(HaveKey(HavePrefix("Secret/")), HaveKey(HavePrefix("ProviderConfig/")), HaveKey(HavePrefix("Kyma/"))))
		Expect(s.leftovers(ctx, env.target)).To(BeEmpty())
	})
})

// generations of our CRDs.
func generations(ctx context.Context) map[string]int64 {
	GinkgoHelper()
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinitionList"))
	Expect(env.controlClient.List(ctx, list)).To(Succeed())
	out := map[string]int64{}
	for i := range list.Items {
		out[list.Items[i].Name] = list.Items[i].Generation
	}
	return out
}
