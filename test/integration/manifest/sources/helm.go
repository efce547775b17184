// SPDX-License-Identifier: Apache-2.0

package sources

import (
	. "github.com/crossplane-contrib/provider-kyma/test/integration/harness"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gstruct"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

var _ = Describe("The helm CLI in the target cluster", func() {
	var s *Space

	BeforeEach(func(ctx SpecContext) { s = NewSpace(ctx) })

	list := func(ctx SpecContext) []Release { return Decode(Helm(ctx, s, "list", "--all", "--output", "json")) }
	history := func(ctx SpecContext) []Release { return Decode(Helm(ctx, s, "history", "web", "--output", "json")) }
	revision := func(number, status, version string) gstruct.Fields {
		return gstruct.Fields{"Revision": BeEquivalentTo(number), "Status": Equal(status), "Chart": Equal("web-" + version), "AppVersion": Equal("1.0")}
	}

	It("lists each revision as it was installed, and nothing after the removal", func(ctx SpecContext) {
		first, second := WebChart(), WebChart2()
		s.Install(ctx, s.Manifest("any", s.InstallOf("web", first.PushLayer(ctx), Values{"message": "one"})))
		Expect(list(ctx)).To(ConsistOf(SatisfyAll(
			HaveField("Name", "web"), HaveField("Namespace", s.Name), gstruct.MatchFields(gstruct.IgnoreExtras, revision("1", "deployed", "1.0.0")))))
		Expect(Helm(ctx, s, "get", "manifest", "web")).To(Equal(Template(ctx, s, first, "message=one")))
		Expect(Helm(ctx, s, "get", "values", "web", "--output", "json")).To(MatchJSON(`{"message":"one"}`))

		s.Update(ctx, "any", func(m *v1alpha1.Manifest) {
			m.Spec.ForProvider.Installs = []v1alpha1.Install{s.InstallOf("web", second.PushLayer(ctx), Values{"message": "two"})}
		})
		s.AwaitReady(ctx, "any")
		Expect(history(ctx)).To(HaveExactElements(
			gstruct.MatchFields(gstruct.IgnoreExtras, revision("1", "superseded", "1.0.0")),
			gstruct.MatchFields(gstruct.IgnoreExtras, revision("2", "deployed", "2.0.0"))))
		Expect(list(ctx)).To(ConsistOf(gstruct.MatchFields(gstruct.IgnoreExtras, revision("2", "deployed", "2.0.0"))))
		Expect(Helm(ctx, s, "get", "manifest", "web")).To(Equal(Template(ctx, s, second, "message=two")))
		Expect(Helm(ctx, s, "get", "manifest", "web", "--revision", "1")).To(Equal(Template(ctx, s, first, "message=one")))

		s.Remove(ctx, "any")
		Expect(list(ctx)).To(BeEmpty())
		Expect(s.Leftovers(ctx, Env.Target)).To(BeEmpty())
	})

	It("can have a release of its own, which is adopted only on request", func(ctx SpecContext) {
		Helm(ctx, s, "install", "web", ChartDirectory(s, WebChart()), "--set", "message=by-hand")
		s.Create(ctx, s.Manifest("web", s.InstallOf("web", WebChart2().PushLayer(ctx), Values{"message": "by-manifest"})))
		Eventually(s.Get).WithContext(ctx).WithArguments("web").Should(SatisfyAll(
			NotSynced("Helm release web in namespace "+s.Name+" already exists", "adopt"), HaveState(v1alpha1.StateError)))
		Expect(s.MustConfigMap(ctx, "web-settings")).To(HaveData("message", "by-hand"))
		Expect(history(ctx)).To(HaveExactElements(gstruct.MatchFields(gstruct.IgnoreExtras, revision("1", "deployed", "1.0.0"))))

		s.Update(ctx, "web", func(m *v1alpha1.Manifest) { m.Spec.ForProvider.Adoption = v1alpha1.AdoptionPolicyAdopt })
		s.AwaitReady(ctx, "web")
		Expect(s.MustConfigMap(ctx, "web-options")).To(HaveData("message", "by-manifest"))
		Expect(history(ctx)).To(HaveExactElements(
			gstruct.MatchFields(gstruct.IgnoreExtras, revision("1", "superseded", "1.0.0")),
			gstruct.MatchFields(gstruct.IgnoreExtras, revision("2", "deployed", "2.0.0"))))
	})
})
