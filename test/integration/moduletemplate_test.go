// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"net/http"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/ocm"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
)

var _ = Describe("A ModuleTemplate", func() {
	var (
		s *space
		m *offer
	)

	BeforeEach(func(ctx SpecContext) {
		s = newSpace(ctx)
		m = s.offer("mod")
	})

	DescribeTable("is resolved, and its module installed", func(ctx SpecContext, version string, edit func(c *controlplane.Component), isInline bool) {
		c := m.component(version)
		edit(&c)
		pushed := push(ctx, c)
		t := m.template("regular", c)
		if isInline {
			t.Spec.Component, t.Spec.Descriptor = nil, inline(pushed)
		}
		s.create(ctx, t)
		t = m.awaitResolved(ctx, t.Name, version)
		Expect(t.Status.ModuleName).To(Equal(m.name))
		Expect(t.Status.Digest).To(MatchRegexp("^sha256:[0-9a-f]{64}$"))
		if !isInline {
			Expect(t.Status.Digest).To(Equal(pushed.Digest))
		}
		host, name, _ := strings.Cut(pushed.Repository, "/")
		Expect(t.Status.Resources).To(ConsistOf(SatisfyAll(
			HaveField("Name", m.name), HaveField("Type", "helm-chart"), HaveField("Use", v1alpha1.UseInstall), HaveField("Install", m.name),
			HaveField("Source.Type", v1alpha1.SourceTypeOCIRef),
			WithTransform(func(r v1alpha1.ModuleResource) string { return r.Source.Repo + "/" + r.Source.Name }, Equal(host+"/"+name)))))
		Expect(t.Status.Conditions).NotTo(ContainElement(HaveField("Type", v1alpha1.TypeVerified)), "no keys are configured")

		k := s.enable(ctx, s.kyma("kyma", m.module()))
		Expect(k).To(haveVersion(m.name, version, "regular"))
		Expect(must(m.installed(ctx))).To(haveData("message", "hello"))
	},
		Entry("fetched", "1.0.0", func(*controlplane.Component) {}, false),
		Entry("from a descriptor that stands in it", "1.0.0", func(*controlplane.Component) {}, true),
		Entry("fetched, as OCM writes it", "1.0.0", func(c *controlplane.Component) { c.OCM = true }, false),
		Entry("inline, as OCM writes it", "1.0.0", func(c *controlplane.Component) { c.OCM = true }, true),
		Entry("fetched, under the hash of its name", "1.0.0", func(c *controlplane.Component) { c.Mapping = ocm.SHA256Digest }, false),
		Entry("inline, under the hash of its name", "1.0.0", func(c *controlplane.Component) { c.Mapping = ocm.SHA256Digest }, true),
		Entry("with a + in its version", "1.0.0+build.7", func(*controlplane.Component) {}, false),
	)

	It("says what each resource is to the module", func(ctx SpecContext) {
		c := m.component("1.0.0")
		c.Resources = append(c.Resources,
			controlplane.ComponentResource{Name: "crds", Type: "crds", Files: controlplane.Files{"w.yaml": []byte(controlplane.WidgetDefinition(m.group()))}},
			controlplane.ComponentResource{Name: "config", Type: "config", Data: []byte(
				"configs:\n- name: " + m.name + "\n  overrides: message=configured\n")},
			controlplane.ComponentResource{Name: "raw-manifest", Type: "yaml", Data: []byte(
				"apiVersion: v1\nkind: ConfigMap\nmetadata: {namespace: " + s.name + ", name: plain}\n")},
			controlplane.ComponentResource{Name: "default-cr", Type: "yaml", Data: []byte(
				"apiVersion: " + m.group() + "/v1\nkind: Widget\nmetadata: {namespace: " + s.name + "}\nspec: {size: large}\n")},
			controlplane.ComponentResource{Name: "image", Type: "ociImage", Access: map[string]any{"type": "ociRegistry", "imageReference": "example.org/x:1"}})
		push(ctx, c)
		t := m.template("regular", c)
		s.create(ctx, t)
		t = m.awaitResolved(ctx, t.Name, "1.0.0")
		uses := map[string]v1alpha1.ModuleResourceUse{}
		for _, r := range t.Status.Resources {
			uses[r.Name] = r.Use
		}
		Expect(uses).To(Equal(map[string]v1alpha1.ModuleResourceUse{
			m.name: v1alpha1.UseInstall, "raw-manifest": v1alpha1.UseInstall, "crds": v1alpha1.UseCRDs, "config": v1alpha1.UseConfig,
			"default-cr": v1alpha1.UseCustomResource, "image": v1alpha1.UseNone,
		}))
		s.create(ctx, s.kyma("kyma", m.module()))
		m.report(ctx, `{"state":"Ready"}`)
		s.awaitKyma(ctx, "kyma")
		manifest := must(s.get(ctx, m.manifest("kyma")))
		Expect(manifest.Spec.ForProvider.Config).NotTo(BeNil())
		Expect(manifest.Spec.ForProvider.CRDs).NotTo(BeNil())
		Expect(must(m.installed(ctx))).To(haveData("message", "configured"))
		Expect(must(m.widget(ctx)).Object["spec"]).To(Equal(map[string]any{"size": "large"}))
		s.mustConfigMap(ctx, "plain")
	})

	It("has the resources of the components that its own references", func(ctx SpecContext) {
		base := controlplane.Component{
			Name: "example.org/module/" + s.name + "-base", Version: "0.3.0",
			Resources: []controlplane.ComponentResource{{Name: "base", Type: "helm-chart", Files: m.chart("0.3.0").files}},
		}
		c := m.component("1.0.0")
		c.References = []controlplane.ComponentReference{{Name: s.name, Component: base.Name, Version: base.Version}}
		push(ctx, c)
		t := m.template("regular", c)
		s.create(ctx, t)
		Eventually(getTemplate).WithContext(ctx).WithArguments(t.Name).Should(beResolved(corev1.ConditionFalse, v1alpha1.ReasonResolveFailed, base.Name))

		By("finding what is pushed later")
		push(ctx, base)
		t = m.awaitResolved(ctx, t.Name, "1.0.0")
		Expect(t.Status.Resources).To(HaveExactElements(
			SatisfyAll(HaveField("Component", base.Name), HaveField("Install", s.name+"-base")),
			SatisfyAll(HaveField("Component", ""), HaveField("Install", m.name))))
		s.enable(ctx, s.kyma("kyma", m.module()))
		Expect(s.mustConfigMap(ctx, s.name+"-base")).To(haveData("version", "0.3.0"))
		Expect(must(m.installed(ctx))).To(haveData("version", "1.0.0"))
	})

	DescribeTable("that cannot be resolved says why, and so does the Kyma", func(ctx SpecContext, edit func(c *controlplane.Component), says ...string) {
		c := m.component("1.0.0")
		edit(&c)
		push(ctx, c)
		t := m.template("regular", c)
		s.create(ctx, t)
		Eventually(getTemplate).WithContext(ctx).WithArguments(t.Name).Should(beResolved(corev1.ConditionFalse, v1alpha1.ReasonInvalid, says...))
		s.create(ctx, s.kyma("kyma", m.module()))
		Eventually(s.getKyma).WithContext(ctx).WithArguments("kyma").Should(haveModule(m.name, v1alpha1.StateError, append(says, t.Name)...))
		Eventually(s.kymaEvents).WithContext(ctx).WithArguments("kyma").Should(ContainElement(beEvent("Warning ModuleFailed", says...)))
		for _, text := range append(must(s.kymaEvents(ctx, "kyma")), must(getTemplate(ctx, t.Name)).Status.GetCondition(v1alpha1.TypeResolved).Message) {
			Expect(text).NotTo(ContainSubstring("\n"))
		}

		By("being fixed by another version")
		c = m.component("1.0.1")
		push(ctx, c)
		updateTemplate(ctx, t.Name, func(t *v1alpha1.ModuleTemplate) { t.Spec.Component = componentAt(c) })
		s.awaitKyma(ctx, "kyma")
	},
		Entry("with a resource of a type that means nothing", func(c *controlplane.Component) {
			c.Resources = append(c.Resources, controlplane.ComponentResource{Name: "strange", Type: "blueprint", Data: []byte("x")})
		}, "strange", "blueprint"),
		Entry("with an access that no one can follow", func(c *controlplane.Component) {
			c.Resources = append(c.Resources, controlplane.ComponentResource{Name: "strange", Type: "helm-chart", Access: map[string]any{"type": "s3"}})
		}, "strange", "s3"),
		Entry("with a blob that has another digest than it says", func(c *controlplane.Component) {
			c.Resources = append(c.Resources, controlplane.ComponentResource{
				Name: "strange", Type: "helm-chart",
				Access: map[string]any{"type": "ociBlob", "ref": "example.org/x/y", "digest": "sha256:" + strings.Repeat("a", 64)},
				Digest: &ocm.Digest{HashAlgorithm: "sha256", NormalisationAlgorithm: ocm.NormalisationBlob, Value: strings.Repeat("b", 64)},
			})
		}, "strange", strings.Repeat("a", 64), strings.Repeat("b", 64)),
		Entry("that references itself", func(c *controlplane.Component) {
			c.References = []controlplane.ComponentReference{{Name: "self", Component: c.Name, Version: c.Version}}
		}, "cycle", "-> "),
	)

	It("refuses a version that is not a version", func(ctx SpecContext) {
		c := m.component("1.0.0")
		pushed := push(ctx, c)
		t := m.template("regular", c)
		t.Spec.Component.Version = "latest"
		s.create(ctx, t)
		Eventually(getTemplate).WithContext(ctx).WithArguments(t.Name).Should(beResolved(corev1.ConditionFalse, v1alpha1.ReasonInvalid, `"latest"`))

		By("refusing it where it stands in a descriptor")
		updateTemplate(ctx, t.Name, func(t *v1alpha1.ModuleTemplate) {
			t.Spec.Component, t.Spec.Descriptor = nil, inline(pushed)
			t.Spec.Descriptor.Raw = []byte(strings.ReplaceAll(string(t.Spec.Descriptor.Raw), `"1.0.0"`, `"newest"`))
		})
		Eventually(getTemplate).WithContext(ctx).WithArguments(t.Name).Should(beResolved(corev1.ConditionFalse, v1alpha1.ReasonInvalid, `"newest"`))
	})

	It("refuses a lower version than it had, unless that is meant", func(ctx SpecContext) {
		name := m.release(ctx, "regular", "1.1.0").Name
		m.release(ctx, "regular", "1.0.0")
		Eventually(getTemplate).WithContext(ctx).WithArguments(name).Should(SatisfyAll(
			beResolved(corev1.ConditionFalse, v1alpha1.ReasonDowngrade, "1.0.0", "1.1.0", v1alpha1.AnnotationAllowDowngrade+"=1.0.0"),
			HaveField("Status.Version", "1.1.0")))
		Eventually(s.eventsOf).WithContext(ctx).WithArguments(v1alpha1.ModuleTemplateKind, name).Should(ContainElement(beEvent("Warning VersionLowered", "1.0.0")))

		updateTemplate(ctx, name, annotate[*v1alpha1.ModuleTemplate](v1alpha1.AnnotationAllowDowngrade, "1.0.0"))
		m.awaitResolved(ctx, name, "1.0.0")
	})

	It("that is not the only one of its module and channel says so, and so does the Kyma", func(ctx SpecContext) {
		first := m.release(ctx, "regular", "1.0.0").Name
		s.enable(ctx, s.kyma("kyma", m.module()))
		c := m.component("1.1.0")
		push(ctx, c)
		second := m.template("regular", c)
		second.Name += "-again"
		s.create(ctx, second)
		for name, other := range map[string]string{first: second.Name, second.Name: first} {
			Eventually(getTemplate).WithContext(ctx).WithArguments(name).Should(beResolved(corev1.ConditionFalse, v1alpha1.ReasonAmbiguous, other))
		}
		Eventually(s.getKyma).WithContext(ctx).WithArguments("kyma").Should(SatisfyAll(
			haveKymaState(v1alpha1.StateError, m.name), haveModule(m.name, v1alpha1.StateError, first, second.Name)))
		Consistently(m.installed).WithContext(ctx).Should(haveData("version", "1.0.0"))

		By("being fixed when one of them goes")
		deleteTemplate(ctx, first)
		m.awaitResolved(ctx, second.Name, "1.1.0")
		m.awaitVersion(ctx, "1.1.0")
		s.awaitKyma(ctx, "kyma")
	})

	It("is resolved once the registry is back, and says meanwhile that it is away", func(ctx SpecContext) {
		DeferCleanup(func() { env.registry.SetFault(nil) })
		env.registry.SetFault(unavailable)
		c := m.component("1.0.0")
		t := m.template("regular", c)
		s.create(ctx, t)
		Eventually(getTemplate).WithContext(ctx).WithArguments(t.Name).Should(beResolved(corev1.ConditionFalse, v1alpha1.ReasonResolveFailed, env.registry.Host()))
		env.registry.SetFault(nil)
		push(ctx, c)
		m.awaitResolved(ctx, t.Name, "1.0.0")
	})

	It("is read once, and again when that is asked for", func(ctx SpecContext) {
		name := m.release(ctx, "regular", "1.0.0").Name
		env.registry.Reset()
		updateTemplate(ctx, name, func(t *v1alpha1.ModuleTemplate) { t.Labels["example.org/other"] = "x" })
		s.enable(ctx, s.kyma("kyma", m.module()))
		Expect(paths(env.registry.Requests())).NotTo(ContainSubstring("/manifests/"))

		By("pushing the version again, with other content")
		c := m.component("1.0.0")
		c.Resources = append(c.Resources, controlplane.ComponentResource{Name: "raw-manifest", Type: "yaml", Data: []byte(
			"apiVersion: v1\nkind: ConfigMap\nmetadata: {namespace: " + s.name + ", name: plain}\n")})
		pushed := push(ctx, c)
		updateTemplate(ctx, name, annotate[*v1alpha1.ModuleTemplate]("crossplane.io/reconcile-requested-at", time.Now().Format(time.RFC3339)))
		Eventually(getTemplate).WithContext(ctx).WithArguments(name).Should(HaveField("Status.Digest", pushed.Digest))
		Eventually(s.configMap).WithContext(ctx).WithArguments("plain").ShouldNot(BeNil())
		s.awaitKyma(ctx, "kyma")
	})

	It("whose status is wiped is resolved again, and its module stays", func(ctx SpecContext) {
		t := m.release(ctx, "regular", "1.0.0")
		s.enable(ctx, s.kyma("kyma", m.module()))
		before, manifest := must(m.installed(ctx)), must(s.get(ctx, m.manifest("kyma")))
		wipe(ctx, t)
		m.awaitResolved(ctx, t.Name, "1.0.0")
		s.awaitKyma(ctx, "kyma")
		Consistently(m.installed).WithContext(ctx).Should(HaveField("UID", before.UID))
		Expect(must(s.get(ctx, manifest.Name)).Generation).To(Equal(manifest.Generation))
	})
})

// unavailable is a registry that answers 503.
func unavailable(w http.ResponseWriter, _ *http.Request) bool {
	w.WriteHeader(http.StatusServiceUnavailable)
	return true
}
