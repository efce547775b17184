// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"fmt"
	"slices"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"
	"golang.org/x/sync/errgroup"
	"sigs.k8s.io/yaml"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// changes are what module enable and module disable write with -o json.
type changes struct {
	Namespace string `json:"namespace"`
	Kyma      string `json:"kyma"`
	Modules   []struct {
		Name    string `json:"name"`
		Result  string `json:"result"`
		Channel string `json:"channel"`
	} `json:"modules"`
}

// haveResult matches changes by what became of a module.
func haveResult(module, result string) types.GomegaMatcher {
	return HaveField("Modules", ContainElement(SatisfyAll(HaveField("Name", module), HaveField("Result", result))))
}

var _ = Describe("kymactl module enable", func() {
	var (
		s *space
		p *person
	)

	BeforeEach(func(ctx SpecContext) {
		s = newSpace(ctx)
		p = s.person()
	})

	It("enables several at once, and again changes nothing", func(ctx SpecContext) {
		one, two := s.offer("one"), s.offer("two")
		one.release(ctx, "regular", "1.0.0")
		two.release(ctx, "regular", "2.0.0")
		s.create(ctx, s.kyma("kyma"))
		done := parsed[changes](p.ok(ctx, "module", "enable", two.name, one.name, "--wait", "-o", "json"))
		Expect(done).To(SatisfyAll(HaveField("Namespace", s.name), HaveField("Kyma", "kyma"), HaveField("Modules", HaveLen(2)),
			haveResult(one.name, "enabled"), haveResult(two.name, "enabled")))
		k := must(s.getKyma(ctx, "kyma"))
		Expect(k).To(SatisfyAll(wantModules(one.name, two.name), haveVersion(one.name, "1.0.0", "regular"), haveVersion(two.name, "2.0.0", "regular")))
		Expect(must(two.installed(ctx))).To(haveData("version", "2.0.0"))
		s.awaitKyma(ctx, "kyma")

		before := s.settled(ctx)
		Expect(lines(p.ok(ctx, "module", "enable", one.name, two.name, one.name, "--wait"))).To(Equal([]string{
			"module.kyma.m.crossplane.io/" + one.name + " unchanged", "module.kyma.m.crossplane.io/" + two.name + " unchanged",
		}))
		p.ok(ctx, "module", "enable", one.name, "--kyma", "kyma", "-n", s.name)
		Expect(s.resourceVersions(ctx)).To(Equal(before))
	})

	It("changes the channel of a module that is enabled, and its version in the cluster", func(ctx SpecContext) {
		m := s.offer("mod")
		m.release(ctx, "regular", "1.0.0")
		m.release(ctx, "fast", "1.1.0")
		module := m.module()
		module.Values = raw(values{"message": "mine"})
		s.enable(ctx, s.kyma("kyma", module))
		Expect(parsed[changes](p.ok(ctx, "module", "enable", m.name, "-c", "fast", "--wait", "-o", "json"))).To(haveResult(m.name, "changed"))
		Expect(must(m.installed(ctx))).To(SatisfyAll(haveData("version", "1.1.0"), haveData("message", "mine")))
		k := must(s.getKyma(ctx, "kyma"))
		Expect(k.Spec.ForProvider.Modules).To(HaveExactElements(SatisfyAll(HaveField("Name", m.name), HaveField("Channel", "fast"))))
		Expect(k).To(haveVersion(m.name, "1.1.0", "fast"))

		By("keeping the channel where none is named")
		before := s.settled(ctx)
		Expect(parsed[changes](p.ok(ctx, "module", "enable", m.name, "-o", "json"))).To(haveResult(m.name, "unchanged"))
		Expect(s.resourceVersions(ctx)).To(Equal(before))
	})

	It("changes nothing where one of the modules, or its channel, does not exist", func(ctx SpecContext) {
		m := s.offer("mod")
		m.release(ctx, "regular", "1.0.0")
		s.enable(ctx, s.kyma("kyma"))
		before := s.settled(ctx)
		Expect(p.fails(ctx, exitNotFound, []string{"nothing-like-it"}, "module", "enable", m.name, "nothing-like-it").stdout).To(BeEmpty())
		p.fails(ctx, exitNotFound, []string{m.name, `"fast"`, "regular"}, "module", "enable", m.name, "-c", "fast")
		p.fails(ctx, exitNotFound, []string{"nobody", s.name}, "module", "enable", m.name, "--kyma", "nobody")
		Expect(s.resourceVersions(ctx)).To(Equal(before))
	})

	It("loses none of twenty that are enabled at once, and disabled at once", func(ctx SpecContext) {
		s.create(ctx, s.kyma("kyma"))
		var names []string
		for i := range 20 {
			names = append(names, fmt.Sprintf("%s-m%d", s.name, i))
		}
		p.atOnce(ctx, names, "module", "enable", "--allow-missing")
		Expect(must(s.getKyma(ctx, "kyma"))).To(wantModules(names...))
		Eventually(s.getKyma).WithContext(ctx).WithArguments("kyma").Should(HaveField("Status.AtProvider.Modules", HaveLen(len(names))))
		p.atOnce(ctx, names[:len(names)-1], "module", "disable")
		Expect(must(s.getKyma(ctx, "kyma"))).To(wantModules(names[len(names)-1]))
	})

	It("refuses a Kyma that a composite makes, unless it is forced", func(ctx SpecContext) {
		m := s.offer("mod")
		m.release(ctx, "regular", "1.0.0")
		k := s.kyma("kyma")
		k.Labels = map[string]string{"crossplane.io/composite": "platform"}
		s.enable(ctx, k)
		before := s.settled(ctx)
		p.fails(ctx, exitFailure, []string{"Kyma " + s.name + "/kyma", "platform", "--force"}, "module", "enable", m.name)
		Expect(s.resourceVersions(ctx)).To(Equal(before))
		p.ok(ctx, "module", "enable", m.name, "--force", "--wait")
		p.fails(ctx, exitFailure, []string{"platform"}, "module", "disable", m.name)
		Expect(must(s.getKyma(ctx, "kyma"))).To(wantModules(m.name))
	})
})

// atOnce runs one kymactl for each name, all at the same time.
func (p *person) atOnce(ctx context.Context, names []string, args ...string) {
	GinkgoHelper()
	var g errgroup.Group
	runs := make([]run, len(names))
	for i, name := range names {
		g.Go(func() error {
			var err error
			runs[i], err = p.run(ctx, "", append(slices.Clone(args), name)...)
			return err
		})
	}
	Expect(g.Wait()).To(Succeed())
	Expect(runs).To(HaveEach(WithTransform(func(r run) int { return r.code }, BeZero())))
}

var _ = Describe("kymactl module disable", func() {
	It("removes modules from the target, and again changes nothing", func(ctx SpecContext) {
		s := newSpace(ctx)
		p, goes, stays := s.person(), s.operated("goes"), s.offer("stays")
		goes.release(ctx, "regular", "1.0.0")
		stays.release(ctx, "regular", "1.0.0")
		s.create(ctx, s.kyma("kyma", goes.module(), stays.module()))
		goes.report(ctx, `{"state":"Ready"}`)
		s.awaitKyma(ctx, "kyma")

		By("waiting for what is in the way")
		goes.hold(ctx, true)
		p.fails(ctx, exitTimeout, []string{goes.name, goes.says(), "example.org/hold"}, "module", "disable", goes.name, "--wait", "--timeout", "3s")
		goes.hold(ctx, false)
		Expect(p.ok(ctx, "module", "disable", goes.name, "--wait")).To(Equal("module.kyma.m.crossplane.io/" + goes.name + " unchanged\n"))
		Expect(goes.absent(ctx)).To(BeTrue())
		Expect(must(s.listManifests(ctx))).To(HaveExactElements(HaveField("Name", stays.manifest("kyma"))))
		Expect(s.leftovers(ctx, env.target)).NotTo(ContainElement(ContainSubstring(goes.name)))
		s.awaitKyma(ctx, "kyma")

		before := s.settled(ctx)
		done := parsed[changes](p.ok(ctx, "module", "disable", goes.name, "never-there", "-o", "json"))
		Expect(done).To(SatisfyAll(haveResult(goes.name, "unchanged"), haveResult("never-there", "unchanged")))
		Expect(s.resourceVersions(ctx)).To(Equal(before))
	})
})

var _ = Describe("kymactl", func() {
	DescribeTable("exits with a code that says what kind of failure it is, and writes no data", func(ctx SpecContext, code int, why []string, args ...string) {
		s := newSpace(ctx)
		p := s.person()
		for _, name := range []string{"one", "two"} {
			s.create(ctx, s.kyma(name))
		}
		before := must(s.listKymas(ctx))
		Expect(p.fails(ctx, code, why, args...).stdout).To(BeEmpty())
		after := must(s.listKymas(ctx))
		Expect(after).To(HaveLen(len(before)))
		for i := range after {
			Expect(after[i].Spec).To(Equal(before[i].Spec))
		}
	},
		Entry("wrong flag", exitUsage, []string{"--colour"}, "module", "list", "--colour"),
		Entry("no module", exitUsage, []string{"arg"}, "module", "enable"),
		Entry("wrong name", exitUsage, []string{"Istio!"}, "module", "enable", "Istio!", "--kyma", "one"),
		Entry("wrong channel", exitUsage, []string{"no"}, "module", "enable", "istio", "-c", "no", "--kyma", "one"),
		Entry("wrong format", exitUsage, []string{"xml"}, "status", "one", "-o", "xml"),
		Entry("several Kymas and no name", exitUsage, []string{"one, two"}, "status"),
		Entry("no such kubeconfig", exitUsage, []string{"--kubeconfig"}, "status", "--kubeconfig", "nowhere"),
		Entry("no such context", exitUsage, []string{"--context"}, "status", "--context", "nowhere"),
		Entry("no such Kyma", exitNotFound, []string{"three"}, "status", "three"),
		Entry("no such Kyma to wait for", exitNotFound, []string{"three"}, "wait", "three"),
		Entry("no such namespace", exitNotFound, []string{"nowhere"}, "status", "-n", "nowhere"),
		Entry("no such module", exitNotFound, []string{"istio"}, "wait", "one", "--module", "istio"),
		Entry("no time at all", exitTimeout, []string{"--timeout"}, "wait", "one", "--timeout", "1ns"),
	)

	It("fails where the control plane does not answer, or does not let it in", func(ctx SpecContext) {
		p := newSpace(ctx).person()
		config := func(server, token string) string {
			return p.input("other.kubeconfig", fmt.Appendf(nil, `{apiVersion: v1, kind: Config, current-context: c, contexts: [{name: c, context: {cluster: c, user: u}}],
				clusters: [{name: c, cluster: {server: %q, insecure-skip-tls-verify: true}}], users: [{name: u, user: {token: %q}}]}`, server, token))
		}
		r := p.fails(ctx, exitFailure, []string{"connection refused"}, "status", "--kubeconfig", config("https://127.0.0.1:1", password))
		Expect(r.stderr).NotTo(ContainSubstring(password))
		start := time.Now()
		r = p.fails(ctx, exitFailure, []string{"credentials"}, "wait", "kyma", "--kubeconfig", config(env.control.Config().Host, password))
		Expect(r.stderr).NotTo(ContainSubstring(password))
		Expect(time.Since(start)).To(BeNumerically("<", patience))
	})
})

var _ = Describe("kymactl module manifest", func() {
	It("writes a Manifest that installs the module without a Kyma", func(ctx SpecContext) {
		s := newSpace(ctx)
		p, m := s.person(), s.operated("mod")
		p.makeModule(ctx, m, "regular", "1.0.0")
		written := &v1alpha1.Manifest{}
		Expect(yaml.UnmarshalStrict([]byte(p.ok(ctx, "module", "manifest", "-n", s.name, "--provider-config", configName,
			env.registry.Host()+"/"+modulesRepository+"//example.org/module/"+m.name+":1.0.0")), written)).To(Succeed())
		s.create(ctx, written)
		m.report(ctx, `{"state":"Ready"}`)
		s.awaitReady(ctx, written.Name)
		Expect(must(m.installed(ctx))).To(haveData("version", "1.0.0"))
		s.remove(ctx, written.Name)
		Expect(m.absent(ctx)).To(BeTrue())
		Expect(s.leftovers(ctx, env.target)).To(BeEmpty())
	})
})
