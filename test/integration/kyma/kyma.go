// SPDX-License-Identifier: Apache-2.0

package kyma

import (
	"os/exec"
	"strings"

	. "github.com/crossplane-contrib/provider-kyma/test/integration/harness"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/cluster/tools"
)

var _ = Describe("A Kyma", func() {
	var s *Space

	BeforeEach(func(ctx SpecContext) { s = NewSpace(ctx) })

	It("without modules is Ready", func(ctx SpecContext) {
		k := s.Enable(ctx, s.Kyma("kyma"))
		Expect(k.Status.AtProvider).To(SatisfyAll(
			HaveField("ModulesReady", "0/0"), HaveField("Modules", BeEmpty()), HaveField("ActiveChannel", "regular")))
		s.RemoveKyma(ctx, "kyma")
	})

	It("installs its modules, and is Ready when they are", func(ctx SpecContext) {
		one, two := NewOffer(s, "one"), OfferOperated(s, "two")
		one.Release(ctx, "regular", "1.0.0")
		two.Release(ctx, "regular", "2.0.0")
		s.Create(ctx, s.Kyma("kyma", two.Module(), one.Module()))
		Eventually(s.GetKyma).WithContext(ctx).WithArguments("kyma").Should(SatisfyAll(
			Synced(), NotReady(two.Name, two.Says(), "has no status yet"), HaveKymaState(v1alpha1.StateProcessing),
			HaveModule(one.Name, v1alpha1.StateReady), HaveModule(two.Name, v1alpha1.StateProcessing, two.Says()),
			HaveField("Status.AtProvider.ModulesReady", "1/2"), HaveField("Status.AtProvider.ActiveChannel", BeEmpty())))
		two.Report(ctx, `{"state":"Ready"}`)
		k := s.AwaitKyma(ctx, "kyma")
		Expect(k.Status.AtProvider).To(Equal(v1alpha1.KymaObservation{
			State: v1alpha1.StateReady, Reason: "Available", ActiveChannel: "regular", ModulesReady: "2/2", ModuleCounts: &v1alpha1.ModuleCounts{Ready: 2, Total: 2},
			Modules: []v1alpha1.ModuleStatus{
				{Name: one.Name, Version: "1.0.0", Channel: "regular", State: v1alpha1.StateReady, Reason: "Available", Manifest: one.Manifest("kyma")},
				{Name: two.Name, Version: "2.0.0", Channel: "regular", State: v1alpha1.StateReady, Reason: "Available", Manifest: two.Manifest("kyma")},
			},
		}))
		Eventually(s.KymaEvents).WithContext(ctx).WithArguments("kyma").Should(ContainElement(
			BeEvent("Normal ModuleEnabled", one.Name, "1.0.0", two.Name, "2.0.0")))

		By("checking the labels and owners of the Manifests")
		manifest := Must(s.Get(ctx, one.Manifest("kyma")))
		Expect(manifest.Labels).To(SatisfyAll(
			HaveKeyWithValue(v1alpha1.LabelKymaName, "kyma"), HaveKeyWithValue(v1alpha1.LabelModuleName, one.Name),
			HaveKeyWithValue(v1alpha1.LabelChannel, "regular"), HaveKeyWithValue(v1alpha1.LabelManagedBy, v1alpha1.ManagedBy)))
		Expect(metav1.GetControllerOf(manifest)).To(HaveValue(SatisfyAll(HaveField("Kind", v1alpha1.KymaKind), HaveField("UID", k.UID))))
		Expect(Must(one.Installed(ctx)).Labels).To(SatisfyAll(
			HaveKeyWithValue(v1alpha1.LabelKymaName, "kyma"), HaveKeyWithValue(v1alpha1.LabelModuleName, one.Name)))

		s.RemoveKyma(ctx, "kyma")
		Expect(s.Leftovers(ctx, Env.Target)).To(BeEmpty())
		Expect(s.Manifests(ctx)).To(BeEmpty())
	})

	DescribeTable("has the state of its module", func(ctx SpecContext, status string, state v1alpha1.State, reason xpv2.ConditionReason, says ...string) {
		fine, bad := NewOffer(s, "a"), OfferOperated(s, "b")
		fine.Release(ctx, "regular", "1.0.0")
		bad.Release(ctx, "regular", "1.0.0")
		s.Create(ctx, s.Kyma("kyma", fine.Module(), bad.Module()))
		bad.Report(ctx, `{"state":"Ready"}`)
		s.AwaitKyma(ctx, "kyma")
		bad.Report(ctx, status)
		if state != v1alpha1.StateReady {
			says = append(says, bad.Says())
			Eventually(s.GetKyma).WithContext(ctx).WithTimeout(Prompt).WithArguments("kyma").Should(SatisfyAll(
				HaveKymaState(state, append(says, bad.Name)...), HaveModule(bad.Name, state, says...), HaveModule(fine.Name, v1alpha1.StateReady),
				Synced(), NotReady(bad.Name, bad.Says()), ReadyBecause(reason), HaveField("Status.AtProvider.ModulesReady", "1/2")))
		}
		bad.Report(ctx, `{"state":"Ready","conditions":[]}`)
		s.AwaitKyma(ctx, "kyma")
	},
		Entry("Ready", `{"state":"Ready","more":"x"}`, v1alpha1.StateReady, xpv2.ReasonAvailable),
		Entry("Processing", `{"state":"Processing"}`, v1alpha1.StateProcessing, v1alpha1.ReasonProgressing, "Processing"),
		Entry("Warning", `{"state":"Warning","conditions":[{"type":"Installed","status":"False","message":"needs a hand"}]}`, v1alpha1.StateWarning, xpv2.ReasonUnavailable, "needs a hand"),
		Entry("Error", `{"state":"Error"}`, v1alpha1.StateError, v1alpha1.ReasonModuleFailed, "Error"),
	)

	It("has the worst state of its modules, and names the one that has it", func(ctx SpecContext) {
		a, b, c := OfferOperated(s, "a"), OfferOperated(s, "b"), OfferOperated(s, "c")
		for _, m := range []*Offer{a, b, c} {
			m.Release(ctx, "regular", "1.0.0")
		}
		s.Create(ctx, s.Kyma("kyma", a.Module(), b.Module(), c.Module()))
		a.Report(ctx, `{"state":"Processing"}`)
		b.Report(ctx, `{"state":"Warning"}`)
		c.Report(ctx, `{"state":"Error"}`)
		expect := func(state v1alpha1.State, m *Offer) {
			GinkgoHelper()
			Eventually(s.GetKyma).WithContext(ctx).WithArguments("kyma").Should(HaveKymaState(state, m.Name, m.Says()))
		}
		expect(v1alpha1.StateError, c)
		c.Report(ctx, `{"state":"Ready"}`)
		expect(v1alpha1.StateWarning, b)
		b.Report(ctx, `{"state":"Ready"}`)
		expect(v1alpha1.StateProcessing, a)
		a.Report(ctx, `{"state":"Ready"}`)
		s.AwaitKyma(ctx, "kyma")
	})

	It("lists the modules that are enabled or still being removed", func(ctx SpecContext) {
		stays, goes := NewOffer(s, "a"), OfferOperated(s, "b")
		stays.Release(ctx, "regular", "1.0.0")
		goes.Release(ctx, "regular", "1.0.0")
		s.Create(ctx, s.Kyma("kyma", stays.Module(), goes.Module()))
		goes.Report(ctx, `{"state":"Ready"}`)
		Expect(s.AwaitKyma(ctx, "kyma")).To(HaveModules(stays.Name, goes.Name))
		goes.Hold(ctx, true)
		s.UpdateKyma(ctx, "kyma", SetModules(stays.Module()))
		Eventually(s.GetKyma).WithContext(ctx).WithArguments("kyma").Should(SatisfyAll(
			HaveModules(stays.Name, goes.Name), HaveModule(goes.Name, v1alpha1.StateDeleting, goes.Says(), "example.org/hold"),
			HaveModule(stays.Name, v1alpha1.StateReady), HaveKymaState(v1alpha1.StateDeleting, goes.Name, goes.Says()),
			HaveField("Status.AtProvider.ModulesReady", "1/1")))
		goes.Hold(ctx, false)
		Expect(s.AwaitKyma(ctx, "kyma")).To(HaveModules(stays.Name))
		Expect(goes.Absent(ctx)).To(BeTrue())
		Eventually(s.KymaEvents).WithContext(ctx).WithArguments("kyma").Should(ContainElement(BeEvent("Normal ModuleRemoved", goes.Name)))
	})

	It("installs the other modules if a module or its channel does not exist", func(ctx SpecContext) {
		known, elsewhere := NewOffer(s, "known"), NewOffer(s, "elsewhere")
		known.Release(ctx, "regular", "1.0.0")
		elsewhere.Release(ctx, "fast", "1.0.0")
		elsewhere.Release(ctx, "weekly", "1.0.0")
		unknown := NewOffer(s, "unknown")
		s.Create(ctx, s.Kyma("kyma", known.Module(), elsewhere.Module(), unknown.Module()))
		Eventually(s.GetKyma).WithContext(ctx).WithArguments("kyma").Should(SatisfyAll(
			HaveModule(known.Name, v1alpha1.StateReady),
			HaveModule(elsewhere.Name, v1alpha1.StateError, `"regular"`, "fast, weekly"),
			HaveModule(unknown.Name, v1alpha1.StateError, unknown.Name),
			HaveKymaState(v1alpha1.StateError, elsewhere.Name, "fast, weekly"), HaveField("Status.AtProvider.ModulesReady", "1/3")))
		Expect(Must(known.Installed(ctx))).To(HaveData("version", "1.0.0"))
		Eventually(s.KymaEvents).WithContext(ctx).WithArguments("kyma").Should(ContainElements(
			BeEvent("Warning ModuleFailed", elsewhere.Name), BeEvent("Warning ModuleFailed", unknown.Name)))

		By("installing them as soon as they are released")
		unknown.Release(ctx, "regular", "1.0.0")
		elsewhere.Release(ctx, "regular", "0.9.0")
		s.AwaitKyma(ctx, "kyma")
	})

	It("creates no custom resource if customResourcePolicy is Ignore", func(ctx SpecContext) {
		m := OfferOperated(s, "mod")
		m.Release(ctx, "regular", "1.0.0")
		module := m.Module()
		module.CustomResourcePolicy = v1alpha1.CustomResourcePolicyIgnore
		s.Enable(ctx, s.Kyma("kyma", module))
		_, err := m.Widget(ctx)
		Expect(err).To(BeNotFound())

		By("creating it after the policy changes")
		s.UpdateKyma(ctx, "kyma", SetModules(m.Module()))
		m.Report(ctx, `{"state":"Ready"}`)
		s.AwaitKyma(ctx, "kyma")

		By("not changing it afterwards")
		Edit(ctx, Must(m.Widget(ctx)), `{"spec":{"size":"large"}}`)
		s.AnnotateKyma(ctx, "kyma", "example.org/touched", "yes")
		m.Release(ctx, "regular", "1.0.1")
		m.AwaitVersion(ctx, "1.0.1")
		s.AwaitKyma(ctx, "kyma")
		Expect(Must(m.Widget(ctx)).Object["spec"]).To(HaveKeyWithValue("size", "large"))
	})

	It("passes values only to the module that they are for", func(ctx SpecContext) {
		one, two, three := NewOffer(s, "one"), NewOffer(s, "two"), NewOffer(s, "three")
		for _, m := range []*Offer{one, two, three} {
			m.Release(ctx, "regular", "1.0.0")
		}
		with := func(m *Offer, message string) v1alpha1.Module {
			module := m.Module()
			module.Values = Raw(Values{"message": message})
			return module
		}
		s.Enable(ctx, s.Kyma("kyma", with(one, "first"), with(two, "second"), three.Module()))
		Expect(Must(one.Installed(ctx))).To(HaveData("message", "first"))
		Expect(Must(two.Installed(ctx))).To(HaveData("message", "second"))
		Expect(Must(three.Installed(ctx))).To(HaveData("message", "hello"))

		By("changing the values of one module")
		untouched := Must(two.Installed(ctx))
		s.UpdateKyma(ctx, "kyma", SetModules(with(one, "changed"), with(two, "second"), three.Module()))
		Eventually(one.Installed).WithContext(ctx).Should(HaveData("message", "changed"))
		s.AwaitKyma(ctx, "kyma")
		Expect(Must(two.Installed(ctx)).ResourceVersion).To(Equal(untouched.ResourceVersion))
	})

	It("can have a name so long that names of Manifests are shortened", func(ctx SpecContext) {
		m, long := NewOffer(s, "mod"), strings.Repeat("long-", 46)+"name"
		m.Release(ctx, "regular", "1.0.0")
		k := s.Enable(ctx, s.Kyma(long, m.Module()))
		name := k.Status.AtProvider.Modules[0].Manifest
		Expect(len(name)).To(BeNumerically("<=", 253))
		Expect(Must(s.Get(ctx, name)).Labels[v1alpha1.LabelKymaName]).To(HavePrefix("long-"))
		s.RemoveKyma(ctx, long)
		Expect(s.Leftovers(ctx, Env.Target)).To(BeEmpty())
	})

	It("shows STATE, CHANNEL, MODULES, READY and AGE in kubectl get, and a ModuleTemplate its version", func(ctx SpecContext) {
		m := NewOffer(s, "mod")
		m.Release(ctx, "regular", "1.0.0")
		s.Enable(ctx, s.Kyma("kyma", m.Module()))
		kubectl := Must(tools.Path(ctx, tools.Kubectl))
		for what, lines := range map[string][2]string{
			"kymas": {`NAME +STATE +CHANNEL +MODULES +READY +AGE\n`, `kyma +Ready +regular +1/1 +True +\d+s`},
			"moduletemplates": {
				`NAME +MODULE +CHANNEL +VERSION +READY +REASON +AGE\n`,
				m.TemplateName("regular") + ` +` + m.Name + ` +regular +1\.0\.0 +True +Available +\d+s`,
			},
		} {
			out, err := exec.CommandContext(ctx, kubectl, "--kubeconfig", Env.Control.KubeconfigFile(), "--namespace", s.Name, "get", what).CombinedOutput()
			Expect(err).NotTo(HaveOccurred(), string(out))
			Expect(string(out)).To(SatisfyAll(MatchRegexp(lines[0]), MatchRegexp(lines[1])), what)
		}
	})

	It("reports a missing ProviderConfig, and can still be deleted", func(ctx SpecContext) {
		m := NewOffer(s, "mod")
		m.Release(ctx, "regular", "1.0.0")
		s.Create(ctx, OnConfig(s.Kyma("kyma", m.Module()), "missing"))
		Eventually(s.GetKyma).WithContext(ctx).WithArguments("kyma").Should(SatisfyAll(
			HaveCondition(xpv2.TypeReady, "False", ContainSubstring("missing")), HaveModule(m.Name, v1alpha1.StateError, `missing`)))

		By("becoming Ready when the ProviderConfig exists")
		s.Config(ctx, "missing", Env.Target.Kubeconfig())
		s.AwaitKyma(ctx, "kyma")
		s.RemoveKyma(ctx, "kyma")
		Expect(s.Leftovers(ctx, Env.Target)).To(BeEmpty())
	})
})
