// SPDX-License-Identifier: Apache-2.0

package moduletemplate

import (
	"strings"
	"time"

	. "github.com/crossplane-contrib/provider-kyma/test/integration/harness"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/ocm"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
)

var _ = Describe("A ModuleTemplate", func() {
	var (
		s *Space
		m *Offer
	)

	BeforeEach(func(ctx SpecContext) {
		s = NewSpace(ctx)
		m = NewOffer(s, "mod")
	})

	DescribeTable("is resolved, and its module installed", func(ctx SpecContext, version string, edit func(c *controlplane.Component), isInline bool) {
		c := m.Component(version)
		edit(&c)
		pushed := Push(ctx, c)
		t := m.Template("regular", c)
		if isInline {
			t.Spec.Component, t.Spec.Descriptor = nil, Inline(pushed)
		}
		s.Create(ctx, t)
		t = m.AwaitResolved(ctx, t.Name, version)
		Expect(t.Status.ModuleName).To(Equal(m.Name))
		Expect(t.Status.Digest).To(MatchRegexp("^sha256:[0-9a-f]{64}$"))
		if !isInline {
			Expect(t.Status.Digest).To(Equal(pushed.Digest))
		}
		host, name, _ := strings.Cut(pushed.Repository, "/")
		Expect(t.Status.Resources).To(ConsistOf(SatisfyAll(
			HaveField("Name", m.Name), HaveField("Type", "helm-chart"), HaveField("Use", v1alpha1.UseInstall), HaveField("Install", m.Name),
			HaveField("Source.Type", v1alpha1.SourceTypeOCIRef),
			WithTransform(func(r v1alpha1.ModuleResource) string { return r.Source.Repo + "/" + r.Source.Name }, Equal(host+"/"+name)))))
		Expect(t.Status.Conditions).NotTo(ContainElement(HaveField("Type", v1alpha1.TypeVerified)), "no keys are configured")

		k := s.Enable(ctx, s.Kyma("kyma", m.Module()))
		Expect(k).To(HaveVersion(m.Name, version, "regular"))
		Expect(Must(m.Installed(ctx))).To(HaveData("message", "hello"))
	},
		Entry("from a registry", "1.0.0", func(*controlplane.Component) {}, false),
		Entry("inline", "1.0.0", func(*controlplane.Component) {}, true),
		Entry("from a registry, as pushed by the OCM CLI", "1.0.0", func(c *controlplane.Component) { c.OCM = true }, false),
		Entry("inline, as written by the OCM CLI", "1.0.0", func(c *controlplane.Component) { c.OCM = true }, true),
		Entry("from a registry, with a hash as the repository", "1.0.0", func(c *controlplane.Component) { c.Mapping = ocm.SHA256Digest }, false),
		Entry("inline, with a hash as the repository", "1.0.0", func(c *controlplane.Component) { c.Mapping = ocm.SHA256Digest }, true),
		Entry("with build metadata in its version", "1.0.0+build.7", func(*controlplane.Component) {}, false),
	)

	It("reports how the module uses each resource", func(ctx SpecContext) {
		c := m.Component("1.0.0")
		c.Resources = append(c.Resources,
			controlplane.ComponentResource{Name: "crds", Type: "crds", Files: controlplane.Files{"w.yaml": []byte(controlplane.WidgetCRD(m.Group()))}},
			controlplane.ComponentResource{Name: "config", Type: "config", Data: []byte(
				"configs:\n- name: " + m.Name + "\n  overrides: message=configured\n")},
			controlplane.ComponentResource{Name: "raw-manifest", Type: "yaml", Data: []byte(
				"apiVersion: v1\nkind: ConfigMap\nmetadata: {namespace: " + s.Name + ", name: plain}\n")},
			controlplane.ComponentResource{Name: "default-cr", Type: "yaml", Data: []byte(
				"apiVersion: " + m.Group() + "/v1\nkind: Widget\nmetadata: {namespace: " + s.Name + "}\nspec: {size: large}\n")},
			controlplane.ComponentResource{Name: "image", Type: "ociImage", Access: map[string]any{"type": "ociRegistry", "imageReference": "example.org/x:1"}})
		Push(ctx, c)
		t := m.Template("regular", c)
		s.Create(ctx, t)
		t = m.AwaitResolved(ctx, t.Name, "1.0.0")
		uses := map[string]v1alpha1.ModuleResourceUse{}
		for _, r := range t.Status.Resources {
			uses[r.Name] = r.Use
		}
		Expect(uses).To(Equal(map[string]v1alpha1.ModuleResourceUse{
			m.Name: v1alpha1.UseInstall, "raw-manifest": v1alpha1.UseInstall, "crds": v1alpha1.UseCRDs, "config": v1alpha1.UseConfig,
			"default-cr": v1alpha1.UseCustomResource, "image": v1alpha1.UseNone,
		}))
		s.Create(ctx, s.Kyma("kyma", m.Module()))
		m.Report(ctx, `{"state":"Ready"}`)
		s.AwaitKyma(ctx, "kyma")
		manifest := Must(s.Get(ctx, m.Manifest("kyma")))
		Expect(manifest.Spec.ForProvider.Config).NotTo(BeNil())
		Expect(manifest.Spec.ForProvider.CRDs).NotTo(BeNil())
		Expect(Must(m.Installed(ctx))).To(HaveData("message", "configured"))
		Expect(Must(m.Widget(ctx)).Object["spec"]).To(Equal(map[string]any{"size": "large"}))
		s.MustConfigMap(ctx, "plain")
	})

	It("contains the resources of referenced components", func(ctx SpecContext) {
		base := controlplane.Component{
			Name: "example.org/module/" + s.Name + "-base", Version: "0.3.0",
			Resources: []controlplane.ComponentResource{{Name: "base", Type: "helm-chart", Files: m.Chart("0.3.0").Files}},
		}
		c := m.Component("1.0.0")
		c.References = []controlplane.ComponentReference{{Name: s.Name, Component: base.Name, Version: base.Version}}
		Push(ctx, c)
		t := m.Template("regular", c)
		s.Create(ctx, t)
		Eventually(GetTemplate).WithContext(ctx).WithArguments(t.Name).Should(BeResolved(corev1.ConditionFalse, v1alpha1.ReasonResolveFailed, base.Name))

		By("resolving a version that is pushed later")
		Push(ctx, base)
		t = m.AwaitResolved(ctx, t.Name, "1.0.0")
		Expect(t.Status.Resources).To(HaveExactElements(
			SatisfyAll(HaveField("Component", base.Name), HaveField("Install", s.Name+"-base")),
			SatisfyAll(HaveField("Component", ""), HaveField("Install", m.Name))))
		s.Enable(ctx, s.Kyma("kyma", m.Module()))
		Expect(s.MustConfigMap(ctx, s.Name+"-base")).To(HaveData("version", "0.3.0"))
		Expect(Must(m.Installed(ctx))).To(HaveData("version", "1.0.0"))
	})

	DescribeTable("reports why it cannot be resolved, and so does the Kyma", func(ctx SpecContext, edit func(c *controlplane.Component), says ...string) {
		c := m.Component("1.0.0")
		edit(&c)
		Push(ctx, c)
		t := m.Template("regular", c)
		s.Create(ctx, t)
		Eventually(GetTemplate).WithContext(ctx).WithArguments(t.Name).Should(BeResolved(corev1.ConditionFalse, v1alpha1.ReasonInvalid, says...))
		s.Create(ctx, s.Kyma("kyma", m.Module()))
		Eventually(s.GetKyma).WithContext(ctx).WithArguments("kyma").Should(HaveModule(m.Name, v1alpha1.StateError, append(says, t.Name)...))
		Eventually(s.KymaEvents).WithContext(ctx).WithArguments("kyma").Should(ContainElement(BeEvent("Warning ModuleFailed", says...)))
		for _, text := range append(Must(s.KymaEvents(ctx, "kyma")), Must(GetTemplate(ctx, t.Name)).Status.GetCondition(v1alpha1.TypeResolved).Message) {
			Expect(text).NotTo(ContainSubstring("\n"))
		}

		By("fixing it with another version")
		c = m.Component("1.0.1")
		Push(ctx, c)
		UpdateTemplate(ctx, t.Name, func(t *v1alpha1.ModuleTemplate) { t.Spec.Component = ComponentAt(c) })
		s.AwaitKyma(ctx, "kyma")
	},
		Entry("with a resource of an unknown type", func(c *controlplane.Component) {
			c.Resources = append(c.Resources, controlplane.ComponentResource{Name: "strange", Type: "blueprint", Data: []byte("x")})
		}, "strange", "blueprint"),
		Entry("with an unsupported access type", func(c *controlplane.Component) {
			c.Resources = append(c.Resources, controlplane.ComponentResource{Name: "strange", Type: "helm-chart", Access: map[string]any{"type": "s3"}})
		}, "strange", "s3"),
		Entry("with a blob that does not match its digest", func(c *controlplane.Component) {
			c.Resources = append(c.Resources, controlplane.ComponentResource{
				Name: "strange", Type: "helm-chart",
				Access: map[string]any{"type": "ociBlob", "ref": "example.org/x/y", "digest": "sha256:" + strings.Repeat("a", 64)},
				Digest: &ocm.Digest{HashAlgorithm: "sha256", NormalisationAlgorithm: ocm.NormalisationBlob, Value: strings.Repeat("b", 64)},
			})
		}, "strange", strings.Repeat("a", 64), strings.Repeat("b", 64)),
		Entry("with a component that references itself", func(c *controlplane.Component) {
			c.References = []controlplane.ComponentReference{{Name: "self", Component: c.Name, Version: c.Version}}
		}, "cycle", "-> "),
	)

	It("reports an invalid version", func(ctx SpecContext) {
		c := m.Component("1.0.0")
		pushed := Push(ctx, c)
		t := m.Template("regular", c)
		t.Spec.Component.Version = "latest"
		s.Create(ctx, t)
		Eventually(GetTemplate).WithContext(ctx).WithArguments(t.Name).Should(BeResolved(corev1.ConditionFalse, v1alpha1.ReasonInvalid, `"latest"`))

		By("reporting it in a descriptor")
		UpdateTemplate(ctx, t.Name, func(t *v1alpha1.ModuleTemplate) {
			t.Spec.Component, t.Spec.Descriptor = nil, Inline(pushed)
			t.Spec.Descriptor.Raw = []byte(strings.ReplaceAll(string(t.Spec.Descriptor.Raw), `"1.0.0"`, `"newest"`))
		})
		Eventually(GetTemplate).WithContext(ctx).WithArguments(t.Name).Should(BeResolved(corev1.ConditionFalse, v1alpha1.ReasonInvalid, `"newest"`))
	})

	It("refuses a lower version than before, unless it is requested", func(ctx SpecContext) {
		name := m.Release(ctx, "regular", "1.1.0").Name
		m.Release(ctx, "regular", "1.0.0")
		Eventually(GetTemplate).WithContext(ctx).WithArguments(name).Should(SatisfyAll(
			BeResolved(corev1.ConditionFalse, v1alpha1.ReasonDowngrade, "1.0.0", "1.1.0", v1alpha1.AnnotationAllowDowngrade+"=1.0.0"),
			HaveField("Status.Version", "1.1.0")))
		Eventually(s.EventsOf).WithContext(ctx).WithArguments(v1alpha1.ModuleTemplateKind, name).Should(ContainElement(BeEvent("Warning VersionLowered", "1.0.0")))

		UpdateTemplate(ctx, name, Annotate[*v1alpha1.ModuleTemplate](v1alpha1.AnnotationAllowDowngrade, "1.0.0"))
		m.AwaitResolved(ctx, name, "1.0.0")
	})

	It("reports that another one has the same module and channel, and so does the Kyma", func(ctx SpecContext) {
		first := m.Release(ctx, "regular", "1.0.0").Name
		s.Enable(ctx, s.Kyma("kyma", m.Module()))
		c := m.Component("1.1.0")
		Push(ctx, c)
		second := m.Template("regular", c)
		second.Name += "-again"
		s.Create(ctx, second)
		for name, other := range map[string]string{first: second.Name, second.Name: first} {
			Eventually(GetTemplate).WithContext(ctx).WithArguments(name).Should(BeResolved(corev1.ConditionFalse, v1alpha1.ReasonAmbiguous, other))
		}
		Eventually(s.GetKyma).WithContext(ctx).WithArguments("kyma").Should(SatisfyAll(
			HaveKymaState(v1alpha1.StateError, m.Name), HaveModule(m.Name, v1alpha1.StateError, first, second.Name)))
		Consistently(m.Installed).WithContext(ctx).Should(HaveData("version", "1.0.0"))

		By("resolving it by deleting one of them")
		DeleteTemplate(ctx, first)
		m.AwaitResolved(ctx, second.Name, "1.1.0")
		m.AwaitVersion(ctx, "1.1.0")
		s.AwaitKyma(ctx, "kyma")
	})

	It("is resolved once the registry is available again, and reports the outage until then", func(ctx SpecContext) {
		DeferCleanup(func() { Env.Registry.SetFault(nil) })
		Env.Registry.SetFault(Unavailable)
		c := m.Component("1.0.0")
		t := m.Template("regular", c)
		s.Create(ctx, t)
		Eventually(GetTemplate).WithContext(ctx).WithArguments(t.Name).Should(BeResolved(corev1.ConditionFalse, v1alpha1.ReasonResolveFailed, Env.Registry.Host()))
		Env.Registry.SetFault(nil)
		Push(ctx, c)
		m.AwaitResolved(ctx, t.Name, "1.0.0")
	})

	It("is resolved once, and again on request", func(ctx SpecContext) {
		name := m.Release(ctx, "regular", "1.0.0").Name
		Env.Registry.Reset()
		UpdateTemplate(ctx, name, func(t *v1alpha1.ModuleTemplate) { t.Labels["example.org/other"] = "x" })
		s.Enable(ctx, s.Kyma("kyma", m.Module()))
		Expect(Paths(Env.Registry.Requests())).NotTo(ContainSubstring("/manifests/"))

		By("pushing the version again, with other content")
		c := m.Component("1.0.0")
		c.Resources = append(c.Resources, controlplane.ComponentResource{Name: "raw-manifest", Type: "yaml", Data: []byte(
			"apiVersion: v1\nkind: ConfigMap\nmetadata: {namespace: " + s.Name + ", name: plain}\n")})
		pushed := Push(ctx, c)
		UpdateTemplate(ctx, name, Annotate[*v1alpha1.ModuleTemplate]("crossplane.io/reconcile-requested-at", time.Now().Format(time.RFC3339)))
		Eventually(GetTemplate).WithContext(ctx).WithArguments(name).Should(HaveField("Status.Digest", pushed.Digest))
		Eventually(s.ConfigMap).WithContext(ctx).WithArguments("plain").ShouldNot(BeNil())
		s.AwaitKyma(ctx, "kyma")
	})

	It("is resolved again if its status is cleared, and its module stays", func(ctx SpecContext) {
		t := m.Release(ctx, "regular", "1.0.0")
		s.Enable(ctx, s.Kyma("kyma", m.Module()))
		before, manifest := Must(m.Installed(ctx)), Must(s.Get(ctx, m.Manifest("kyma")))
		Wipe(ctx, t)
		m.AwaitResolved(ctx, t.Name, "1.0.0")
		s.AwaitKyma(ctx, "kyma")
		Consistently(m.Installed).WithContext(ctx).Should(HaveField("UID", before.UID))
		Expect(Must(s.Get(ctx, manifest.Name)).Generation).To(Equal(manifest.Generation))
	})
})
