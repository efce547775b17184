// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"os/exec"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/cluster/tools"
)

var _ = Describe("A Kyma", func() {
	var s *space

	BeforeEach(func(ctx SpecContext) { s = newSpace(ctx) })

	It("without modules is Ready", func(ctx SpecContext) {
		k := s.enable(ctx, s.kyma("kyma"))
		Expect(k.Status.AtProvider).To(SatisfyAll(
			HaveField("ModulesReady", "0/0"), HaveField("Modules", BeEmpty()), HaveField("ActiveChannel", "regular")))
		s.removeKyma(ctx, "kyma")
	})

	It("installs its modules, and is Ready when they are", func(ctx SpecContext) {
		one, two := s.offer("one"), s.operated("two")
		one.release(ctx, "regular", "1.0.0")
		two.release(ctx, "regular", "2.0.0")
		s.create(ctx, s.kyma("kyma", two.module(), one.module()))
		Eventually(s.getKyma).WithContext(ctx).WithArguments("kyma").Should(SatisfyAll(
			synced(), notReady(two.name, two.says(), "has no status yet"), haveKymaState(v1alpha1.StateProcessing),
			haveModule(one.name, v1alpha1.StateReady), haveModule(two.name, v1alpha1.StateProcessing, two.says()),
			HaveField("Status.AtProvider.ModulesReady", "1/2"), HaveField("Status.AtProvider.ActiveChannel", BeEmpty())))
		two.report(ctx, `{"state":"Ready"}`)
		k := s.awaitKyma(ctx, "kyma")
		Expect(k.Status.AtProvider).To(Equal(v1alpha1.KymaObservation{
			State: v1alpha1.StateReady, ActiveChannel: "regular", ModulesReady: "2/2", ModuleCounts: &v1alpha1.ModuleCounts{Ready: 2, Total: 2},
			Modules: []v1alpha1.ModuleStatus{
				{Name: one.name, Version: "1.0.0", Channel: "regular", State: v1alpha1.StateReady, Reason: "Available", Manifest: one.manifest("kyma")},
				{Name: two.name, Version: "2.0.0", Channel: "regular", State: v1alpha1.StateReady, Reason: "Available", Manifest: two.manifest("kyma")},
			},
		}))
		Eventually(s.kymaEvents).WithContext(ctx).WithArguments("kyma").Should(ContainElements(
			beEvent("Normal ModuleEnabled", one.name, "1.0.0"), beEvent("Normal ModuleEnabled", two.name, "2.0.0")))

		By("making Manifests that say whose they are")
		manifest := must(s.get(ctx, one.manifest("kyma")))
		Expect(manifest.Labels).To(SatisfyAll(
			HaveKeyWithValue(v1alpha1.LabelKymaName, "kyma"), HaveKeyWithValue(v1alpha1.LabelModuleName, one.name),
			HaveKeyWithValue(v1alpha1.LabelChannel, "regular"), HaveKeyWithValue(v1alpha1.LabelManagedBy, v1alpha1.ManagedBy)))
		Expect(metav1.GetControllerOf(manifest)).To(HaveValue(SatisfyAll(HaveField("Kind", v1alpha1.KymaKind), HaveField("UID", k.UID))))
		Expect(must(one.installed(ctx)).Labels).To(SatisfyAll(
			HaveKeyWithValue(v1alpha1.LabelKymaName, "kyma"), HaveKeyWithValue(v1alpha1.LabelModuleName, one.name)))

		s.removeKyma(ctx, "kyma")
		Expect(s.leftovers(ctx, env.target)).To(BeEmpty())
		Expect(s.manifests(ctx)).To(BeEmpty())
	})

	DescribeTable("has the state of its module", func(ctx SpecContext, status string, state v1alpha1.State, reason xpv2.ConditionReason, says ...string) {
		fine, bad := s.offer("a"), s.operated("b")
		fine.release(ctx, "regular", "1.0.0")
		bad.release(ctx, "regular", "1.0.0")
		s.create(ctx, s.kyma("kyma", fine.module(), bad.module()))
		bad.report(ctx, `{"state":"Ready"}`)
		s.awaitKyma(ctx, "kyma")
		bad.report(ctx, status)
		if state != v1alpha1.StateReady {
			says = append(says, bad.says())
			Eventually(s.getKyma).WithContext(ctx).WithTimeout(prompt).WithArguments("kyma").Should(SatisfyAll(
				haveKymaState(state, append(says, bad.name)...), haveModule(bad.name, state, says...), haveModule(fine.name, v1alpha1.StateReady),
				synced(), notReady(bad.name, bad.says()), readyBecause(reason), HaveField("Status.AtProvider.ModulesReady", "1/2")))
		}
		bad.report(ctx, `{"state":"Ready","conditions":[]}`)
		s.awaitKyma(ctx, "kyma")
	},
		Entry("Ready", `{"state":"Ready","more":"x"}`, v1alpha1.StateReady, xpv2.ReasonAvailable),
		Entry("Processing", `{"state":"Processing"}`, v1alpha1.StateProcessing, v1alpha1.ReasonProgressing, "Processing"),
		Entry("Warning", `{"state":"Warning","conditions":[{"type":"Installed","status":"False","message":"needs a hand"}]}`, v1alpha1.StateWarning, xpv2.ReasonUnavailable, "needs a hand"),
		Entry("Error", `{"state":"Error"}`, v1alpha1.StateError, v1alpha1.ReasonModuleFailed, "Error"),
	)

	It("has the worst state of its modules, and names the one that has it", func(ctx SpecContext) {
		a, b, c := s.operated("a"), s.operated("b"), s.operated("c")
		for _, m := range []*offer{a, b, c} {
			m.release(ctx, "regular", "1.0.0")
		}
		s.create(ctx, s.kyma("kyma", a.module(), b.module(), c.module()))
		a.report(ctx, `{"state":"Processing"}`)
		b.report(ctx, `{"state":"Warning"}`)
		c.report(ctx, `{"state":"Error"}`)
		expect := func(state v1alpha1.State, m *offer) {
			GinkgoHelper()
			Eventually(s.getKyma).WithContext(ctx).WithArguments("kyma").Should(haveKymaState(state, m.name, m.says()))
		}
		expect(v1alpha1.StateError, c)
		c.report(ctx, `{"state":"Ready"}`)
		expect(v1alpha1.StateWarning, b)
		b.report(ctx, `{"state":"Ready"}`)
		expect(v1alpha1.StateProcessing, a)
		a.report(ctx, `{"state":"Ready"}`)
		s.awaitKyma(ctx, "kyma")
	})

	It("lists the modules that are wanted or still being removed", func(ctx SpecContext) {
		stays, goes := s.offer("a"), s.operated("b")
		stays.release(ctx, "regular", "1.0.0")
		goes.release(ctx, "regular", "1.0.0")
		s.create(ctx, s.kyma("kyma", stays.module(), goes.module()))
		goes.report(ctx, `{"state":"Ready"}`)
		Expect(s.awaitKyma(ctx, "kyma")).To(haveModules(stays.name, goes.name))
		goes.hold(ctx, true)
		s.updateKyma(ctx, "kyma", setModules(stays.module()))
		Eventually(s.getKyma).WithContext(ctx).WithArguments("kyma").Should(SatisfyAll(
			haveModules(stays.name, goes.name), haveModule(goes.name, v1alpha1.StateDeleting, goes.says(), "example.org/hold"),
			haveModule(stays.name, v1alpha1.StateReady), haveKymaState(v1alpha1.StateDeleting, goes.name, goes.says()),
			HaveField("Status.AtProvider.ModulesReady", "1/1")))
		goes.hold(ctx, false)
		Expect(s.awaitKyma(ctx, "kyma")).To(haveModules(stays.name))
		Expect(goes.absent(ctx)).To(BeTrue())
		Eventually(s.kymaEvents).WithContext(ctx).WithArguments("kyma").Should(ContainElement(beEvent("Normal ModuleRemoved", goes.name)))
	})

	It("continues with the others where a module or its channel is unknown", func(ctx SpecContext) {
		known, elsewhere := s.offer("known"), s.offer("elsewhere")
		known.release(ctx, "regular", "1.0.0")
		elsewhere.release(ctx, "fast", "1.0.0")
		elsewhere.release(ctx, "weekly", "1.0.0")
		unknown := s.offer("unknown")
		s.create(ctx, s.kyma("kyma", known.module(), elsewhere.module(), unknown.module()))
		Eventually(s.getKyma).WithContext(ctx).WithArguments("kyma").Should(SatisfyAll(
			haveModule(known.name, v1alpha1.StateReady),
			haveModule(elsewhere.name, v1alpha1.StateError, `"regular"`, "fast, weekly"),
			haveModule(unknown.name, v1alpha1.StateError, unknown.name),
			haveKymaState(v1alpha1.StateError, elsewhere.name, "fast, weekly"), HaveField("Status.AtProvider.ModulesReady", "1/3")))
		Expect(must(known.installed(ctx))).To(haveData("version", "1.0.0"))
		Eventually(s.kymaEvents).WithContext(ctx).WithArguments("kyma").Should(ContainElements(
			beEvent("Warning ModuleFailed", elsewhere.name), beEvent("Warning ModuleFailed", unknown.name)))

		By("continuing with them as soon as they are released")
		unknown.release(ctx, "regular", "1.0.0")
		elsewhere.release(ctx, "regular", "0.9.0")
		s.awaitKyma(ctx, "kyma")
	})

	It("leaves custom resources to others where it is told to", func(ctx SpecContext) {
		m := s.operated("mod")
		m.release(ctx, "regular", "1.0.0")
		module := m.module()
		module.CustomResourcePolicy = v1alpha1.CustomResourcePolicyIgnore
		s.enable(ctx, s.kyma("kyma", module))
		_, err := m.widget(ctx)
		Expect(err).To(beNotFound())

		By("creating it once that is wanted")
		s.updateKyma(ctx, "kyma", setModules(m.module()))
		m.report(ctx, `{"state":"Ready"}`)
		s.awaitKyma(ctx, "kyma")

		By("leaving it to its users from then on")
		edit(ctx, must(m.widget(ctx)), `{"spec":{"size":"large"}}`)
		s.annotateKyma(ctx, "kyma", "example.org/touched", "yes")
		m.release(ctx, "regular", "1.0.1")
		m.awaitVersion(ctx, "1.0.1")
		s.awaitKyma(ctx, "kyma")
		Expect(must(m.widget(ctx)).Object["spec"]).To(HaveKeyWithValue("size", "large"))
	})

	It("hands values to one module without another getting them", func(ctx SpecContext) {
		one, two, three := s.offer("one"), s.offer("two"), s.offer("three")
		for _, m := range []*offer{one, two, three} {
			m.release(ctx, "regular", "1.0.0")
		}
		with := func(m *offer, message string) v1alpha1.Module {
			module := m.module()
			module.Values = raw(values{"message": message})
			return module
		}
		s.enable(ctx, s.kyma("kyma", with(one, "first"), with(two, "second"), three.module()))
		Expect(must(one.installed(ctx))).To(haveData("message", "first"))
		Expect(must(two.installed(ctx))).To(haveData("message", "second"))
		Expect(must(three.installed(ctx))).To(haveData("message", "hello"))

		By("changing those of one module")
		untouched := must(two.installed(ctx))
		s.updateKyma(ctx, "kyma", setModules(with(one, "changed"), with(two, "second"), three.module()))
		Eventually(one.installed).WithContext(ctx).Should(haveData("message", "changed"))
		s.awaitKyma(ctx, "kyma")
		Expect(must(two.installed(ctx)).ResourceVersion).To(Equal(untouched.ResourceVersion))
	})

	It("may have a name that leaves no room for that of a module", func(ctx SpecContext) {
		m, long := s.offer("mod"), strings.Repeat("long-", 46)+"name"
		m.release(ctx, "regular", "1.0.0")
		k := s.enable(ctx, s.kyma(long, m.module()))
		name := k.Status.AtProvider.Modules[0].Manifest
		Expect(len(name)).To(BeNumerically("<=", 253))
		Expect(must(s.get(ctx, name)).Labels[v1alpha1.LabelKymaName]).To(HavePrefix("long-"))
		s.removeKyma(ctx, long)
		Expect(s.leftovers(ctx, env.target)).To(BeEmpty())
	})

	It("shows STATE, CHANNEL, MODULES, READY and AGE in kubectl get, and a ModuleTemplate its version", func(ctx SpecContext) {
		m := s.offer("mod")
		m.release(ctx, "regular", "1.0.0")
		s.enable(ctx, s.kyma("kyma", m.module()))
		kubectl := must(tools.Path(ctx, tools.Kubectl))
		for what, lines := range map[string][2]string{
			"kymas": {`NAME +STATE +CHANNEL +MODULES +READY +AGE\n`, `kyma +Ready +regular +1/1 +True +\d+s`},
			"moduletemplates": {
				`NAME +MODULE +CHANNEL +VERSION +READY +REASON +AGE\n`,
				m.templateName("regular") + ` +` + m.name + ` +regular +1\.0\.0 +True +Available +\d+s`,
			},
		} {
			out, err := exec.CommandContext(ctx, kubectl, "--kubeconfig", env.control.KubeconfigFile(), "--namespace", s.name, "get", what).CombinedOutput()
			Expect(err).NotTo(HaveOccurred(), string(out))
			Expect(string(out)).To(SatisfyAll(MatchRegexp(lines[0]), MatchRegexp(lines[1])), what)
		}
	})

	It("says what is wrong where its ProviderConfig is missing, and goes when it is told to", func(ctx SpecContext) {
		m := s.offer("mod")
		m.release(ctx, "regular", "1.0.0")
		s.create(ctx, onConfig(s.kyma("kyma", m.module()), "missing"))
		Eventually(s.getKyma).WithContext(ctx).WithArguments("kyma").Should(SatisfyAll(
			haveCondition(xpv2.TypeReady, "False", ContainSubstring("missing")), haveModule(m.name, v1alpha1.StateError, `missing`)))

		By("getting Ready when it appears")
		s.config(ctx, "missing", env.target.Kubeconfig())
		s.awaitKyma(ctx, "kyma")
		s.removeKyma(ctx, "kyma")
		Expect(s.leftovers(ctx, env.target)).To(BeEmpty())
	})
})
