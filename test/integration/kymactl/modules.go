// SPDX-License-Identifier: Apache-2.0

package kymactl

import (
	"fmt"
	"time"

	. "github.com/crossplane-contrib/provider-kyma/test/integration/harness"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"
	"sigs.k8s.io/yaml"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// changes is the output of module enable and module disable with -o json.
type changes struct {
	Namespace string `json:"namespace"`
	Kyma      string `json:"kyma"`
	Modules   []struct {
		Name    string `json:"name"`
		Result  string `json:"result"`
		Channel string `json:"channel"`
	} `json:"modules"`
}

// haveResult matches changes by the result for a module.
func haveResult(module, result string) types.GomegaMatcher {
	return HaveField("Modules", ContainElement(SatisfyAll(HaveField("Name", module), HaveField("Result", result))))
}

var _ = Describe("kymactl module enable", func() {
	var (
		s *Space
		p *Person
	)

	BeforeEach(func(ctx SpecContext) {
		s = NewSpace(ctx)
		p = NewPerson(s)
	})

	It("enables several modules, and changes nothing the second time", func(ctx SpecContext) {
		one, two := NewOffer(s, "one"), NewOffer(s, "two")
		one.Release(ctx, "regular", "1.0.0")
		two.Release(ctx, "regular", "2.0.0")
		s.Create(ctx, s.Kyma("kyma"))
		done := parsed[changes](p.Ok(ctx, "module", "enable", two.Name, one.Name, "--wait", "-o", "json"))
		Expect(done).To(SatisfyAll(HaveField("Namespace", s.Name), HaveField("Kyma", "kyma"), HaveField("Modules", HaveLen(2)),
			haveResult(one.Name, "enabled"), haveResult(two.Name, "enabled")))
		k := Must(s.GetKyma(ctx, "kyma"))
		Expect(k).To(SatisfyAll(wantModules(one.Name, two.Name), HaveVersion(one.Name, "1.0.0", "regular"), HaveVersion(two.Name, "2.0.0", "regular")))
		Expect(Must(two.Installed(ctx))).To(HaveData("version", "2.0.0"))
		s.AwaitKyma(ctx, "kyma")

		before := stableVersions(ctx, s)
		Expect(Lines(p.Ok(ctx, "module", "enable", one.Name, two.Name, one.Name, "--wait"))).To(Equal([]string{
			"module.kyma.m.crossplane.io/" + one.Name + " unchanged", "module.kyma.m.crossplane.io/" + two.Name + " unchanged",
		}))
		p.Ok(ctx, "module", "enable", one.Name, "--kyma", "kyma", "-n", s.Name)
		Expect(resourceVersions(ctx, s)).To(Equal(before))
	})

	It("changes the channel of an enabled module, and its version in the cluster", func(ctx SpecContext) {
		m := NewOffer(s, "mod")
		m.Release(ctx, "regular", "1.0.0")
		m.Release(ctx, "fast", "1.1.0")
		module := m.Module()
		module.Values = Raw(Values{"message": "mine"})
		s.Enable(ctx, s.Kyma("kyma", module))
		Expect(parsed[changes](p.Ok(ctx, "module", "enable", m.Name, "-c", "fast", "--wait", "-o", "json"))).To(haveResult(m.Name, "changed"))
		Expect(Must(m.Installed(ctx))).To(SatisfyAll(HaveData("version", "1.1.0"), HaveData("message", "mine")))
		k := Must(s.GetKyma(ctx, "kyma"))
		Expect(k.Spec.ForProvider.Modules).To(HaveExactElements(SatisfyAll(HaveField("Name", m.Name), HaveField("Channel", "fast"))))
		Expect(k).To(HaveVersion(m.Name, "1.1.0", "fast"))

		By("keeping the channel if none is specified")
		before := stableVersions(ctx, s)
		Expect(parsed[changes](p.Ok(ctx, "module", "enable", m.Name, "-o", "json"))).To(haveResult(m.Name, "unchanged"))
		Expect(resourceVersions(ctx, s)).To(Equal(before))
	})

	It("changes nothing if one of the modules, or its channel, does not exist", func(ctx SpecContext) {
		m := NewOffer(s, "mod")
		m.Release(ctx, "regular", "1.0.0")
		s.Enable(ctx, s.Kyma("kyma"))
		before := stableVersions(ctx, s)
		Expect(p.Fails(ctx, exitNotFound, []string{"nothing-like-it"}, "module", "enable", m.Name, "nothing-like-it").Stdout).To(BeEmpty())
		p.Fails(ctx, exitNotFound, []string{m.Name, `"fast"`, "regular"}, "module", "enable", m.Name, "-c", "fast")
		p.Fails(ctx, exitNotFound, []string{"missing", s.Name}, "module", "enable", m.Name, "--kyma", "missing")
		Expect(resourceVersions(ctx, s)).To(Equal(before))
	})

	It("loses no change if twenty modules are enabled or disabled concurrently", func(ctx SpecContext) {
		s.Create(ctx, s.Kyma("kyma"))
		var names []string
		for i := range 20 {
			names = append(names, fmt.Sprintf("%s-m%d", s.Name, i))
		}
		p.AtOnce(ctx, names, "module", "enable", "--allow-missing")
		Expect(Must(s.GetKyma(ctx, "kyma"))).To(wantModules(names...))
		Eventually(s.GetKyma).WithContext(ctx).WithArguments("kyma").Should(HaveField("Status.AtProvider.Modules", HaveLen(len(names))))
		p.AtOnce(ctx, names[:len(names)-1], "module", "disable")
		Expect(Must(s.GetKyma(ctx, "kyma"))).To(wantModules(names[len(names)-1]))
	})

	It("refuses to change a composed Kyma, unless it is forced", func(ctx SpecContext) {
		m := NewOffer(s, "mod")
		m.Release(ctx, "regular", "1.0.0")
		k := s.Kyma("kyma")
		k.Labels = map[string]string{"crossplane.io/composite": "platform"}
		s.Enable(ctx, k)
		before := stableVersions(ctx, s)
		p.Fails(ctx, exitFailure, []string{"Kyma " + s.Name + "/kyma", "platform", "--force"}, "module", "enable", m.Name)
		Expect(resourceVersions(ctx, s)).To(Equal(before))
		p.Ok(ctx, "module", "enable", m.Name, "--force", "--wait")
		p.Fails(ctx, exitFailure, []string{"platform"}, "module", "disable", m.Name)
		Expect(Must(s.GetKyma(ctx, "kyma"))).To(wantModules(m.Name))
	})
})

var _ = Describe("kymactl module disable", func() {
	It("removes modules from the target cluster, and changes nothing the second time", func(ctx SpecContext) {
		s := NewSpace(ctx)
		p, goes, stays := NewPerson(s), OfferOperated(s, "goes"), NewOffer(s, "stays")
		goes.Release(ctx, "regular", "1.0.0")
		stays.Release(ctx, "regular", "1.0.0")
		s.Create(ctx, s.Kyma("kyma", goes.Module(), stays.Module()))
		goes.Report(ctx, `{"state":"Ready"}`)
		s.AwaitKyma(ctx, "kyma")

		By("waiting for what blocks the removal")
		goes.Hold(ctx, true)
		p.Ok(ctx, "module", "disable", goes.Name)
		Eventually(s.GetKyma).WithContext(ctx).WithArguments("kyma").Should(HaveModule(goes.Name, v1alpha1.StateDeleting, goes.Says(), "example.org/hold"))
		p.Fails(ctx, exitTimeout, []string{goes.Name, goes.Says(), "example.org/hold"}, "module", "disable", goes.Name, "--wait", "--timeout", "5s")
		goes.Hold(ctx, false)
		Expect(p.Ok(ctx, "module", "disable", goes.Name, "--wait")).To(Equal("module.kyma.m.crossplane.io/" + goes.Name + " unchanged\n"))
		Expect(goes.Absent(ctx)).To(BeTrue())
		Expect(Must(s.ListManifests(ctx))).To(HaveExactElements(HaveField("Name", stays.Manifest("kyma"))))
		Expect(s.Leftovers(ctx, Env.Target)).NotTo(ContainElement(ContainSubstring(goes.Name)))
		s.AwaitKyma(ctx, "kyma")

		before := stableVersions(ctx, s)
		done := parsed[changes](p.Ok(ctx, "module", "disable", goes.Name, "never-there", "-o", "json"))
		Expect(done).To(SatisfyAll(haveResult(goes.Name, "unchanged"), haveResult("never-there", "unchanged")))
		Expect(resourceVersions(ctx, s)).To(Equal(before))
	})
})

var _ = Describe("kymactl", func() {
	DescribeTable("exits with the code for the kind of failure, and writes nothing to stdout", func(ctx SpecContext, code int, why []string, args ...string) {
		s := NewSpace(ctx)
		p := NewPerson(s)
		for _, name := range []string{"one", "two"} {
			s.Create(ctx, s.Kyma(name))
		}
		before := Must(s.ListKymas(ctx))
		Expect(p.Fails(ctx, code, why, args...).Stdout).To(BeEmpty())
		after := Must(s.ListKymas(ctx))
		Expect(after).To(HaveLen(len(before)))
		for i := range after {
			Expect(after[i].Spec).To(Equal(before[i].Spec))
		}
	},
		Entry("unknown flag", exitUsage, []string{"--colour"}, "module", "list", "--colour"),
		Entry("missing argument", exitUsage, []string{"arg"}, "module", "enable"),
		Entry("invalid name", exitUsage, []string{"Istio!"}, "module", "enable", "Istio!", "--kyma", "one"),
		Entry("invalid channel", exitUsage, []string{"no"}, "module", "enable", "istio", "-c", "no", "--kyma", "one"),
		Entry("unknown format", exitUsage, []string{"xml"}, "status", "one", "-o", "xml"),
		Entry("ambiguous Kyma", exitUsage, []string{"one, two"}, "status"),
		Entry("missing kubeconfig", exitUsage, []string{"--kubeconfig"}, "status", "--kubeconfig", "nowhere"),
		Entry("missing context", exitUsage, []string{"--context"}, "status", "--context", "nowhere"),
		Entry("missing Kyma", exitNotFound, []string{"three"}, "status", "three"),
		Entry("missing Kyma to wait for", exitNotFound, []string{"three"}, "wait", "three"),
		Entry("missing namespace", exitNotFound, []string{"nowhere"}, "status", "-n", "nowhere"),
		Entry("missing module", exitNotFound, []string{"istio"}, "wait", "one", "--module", "istio"),
		Entry("timeout", exitTimeout, []string{"--timeout"}, "wait", "one", "--timeout", "1ns"),
	)

	It("fails if the control plane does not respond, or rejects the credentials", func(ctx SpecContext) {
		p := NewPerson(NewSpace(ctx))
		config := func(server, token string) string {
			return p.Input("other.kubeconfig", fmt.Appendf(nil, `{apiVersion: v1, kind: Config, current-context: c, contexts: [{name: c, context: {cluster: c, user: u}}],
				clusters: [{name: c, cluster: {server: %q, insecure-skip-tls-verify: true}}], users: [{name: u, user: {token: %q}}]}`, server, token))
		}
		r := p.Fails(ctx, exitFailure, []string{"connection refused"}, "status", "--kubeconfig", config("https://127.0.0.1:1", Password))
		Expect(r.Stderr).NotTo(ContainSubstring(Password))
		start := time.Now()
		r = p.Fails(ctx, exitFailure, []string{"credentials"}, "wait", "kyma", "--kubeconfig", config(Env.Control.Config().Host, Password))
		Expect(r.Stderr).NotTo(ContainSubstring(Password))
		Expect(time.Since(start)).To(BeNumerically("<", Patience))
	})
})

var _ = Describe("kymactl module manifest", func() {
	It("writes a Manifest that installs the module without a Kyma", func(ctx SpecContext) {
		s := NewSpace(ctx)
		p, m := NewPerson(s), OfferOperated(s, "mod")
		p.MakeModule(ctx, m, "regular", "1.0.0")
		written := &v1alpha1.Manifest{}
		Expect(yaml.UnmarshalStrict([]byte(p.Ok(ctx, "module", "manifest", "-n", s.Name, "--provider-config", ConfigName,
			Env.Registry.Host()+"/"+ModulesRepository+"//example.org/module/"+m.Name+":1.0.0")), written)).To(Succeed())
		s.Create(ctx, written)
		m.Report(ctx, `{"state":"Ready"}`)
		s.AwaitReady(ctx, written.Name)
		Expect(Must(m.Installed(ctx))).To(HaveData("version", "1.0.0"))
		s.Remove(ctx, written.Name)
		Expect(m.Absent(ctx)).To(BeTrue())
		Expect(s.Leftovers(ctx, Env.Target)).To(BeEmpty())
	})
})
