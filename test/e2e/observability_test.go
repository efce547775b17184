// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

var _ = Describe("The output for users of Crossplane", func() {
	var (
		s *space
		m *offer
	)

	BeforeEach(func(ctx SpecContext) {
		s = newSpace(ctx)
		m = s.operated(ctx, "module")
	})

	It("is the tree of a claim, with the first problem", func(ctx SpecContext) {
		u := s.claim("environment", m)
		s.create(ctx, u)
		m.report(ctx, `{"state":"Warning","conditions":[{"type":"Installed","status":"False","message":"needs a hand"}]}`)
		Eventually(now(u)).WithContext(ctx).Should(showModule(m.name, v1alpha1.StateWarning))
		k := must(s.composed(ctx))
		tree := must(env.crossplane.Crank(ctx, "beta", "trace", strings.ToLower(claimKind)+"."+platformGroup, u.GetName(), "-n", s.name, "-o", "wide"))
		AddReportEntry("crossplane beta trace", tree)
		Expect(lines(tree)).To(ContainElements(
			ContainSubstring(claimKind+"/"+u.GetName()), ContainSubstring("XKymaEnvironment/"+k.Name), ContainSubstring("ProviderConfig/"+k.Name),
			SatisfyAll(ContainSubstring("Kyma/"+k.Name+" ("+s.name+")"), ContainSubstring("False"), ContainSubstring("needs a hand")),
			SatisfyAll(ContainSubstring("Manifest/"+m.manifest(k.Name)), ContainSubstring("False"), ContainSubstring("needs a hand")),
		))
		m.report(ctx, `{"state":"Ready","conditions":[]}`)
		Eventually(now(u)).WithContext(ctx).Should(beReadyComposite())
		// The claim becomes Ready after its composite resource.
		Eventually(func(ctx context.Context) (string, error) {
			return env.crossplane.Crank(ctx, "beta", "trace", strings.ToLower(claimKind)+"."+platformGroup, u.GetName(), "-n", s.name)
		}).WithContext(ctx).Should(SatisfyAll(ContainSubstring("Available"), Not(ContainSubstring("False"))))
	})

	It("contains the metrics of managed resources", func(ctx SpecContext) {
		s.create(ctx, s.config())
		s.create(ctx, s.kyma("kyma", m.module()))
		m.report(ctx, `{"state":"Ready"}`)
		Eventually(s.getKyma).WithContext(ctx).WithArguments("kyma").Should(beReady())
		for _, kind := range []string{v1alpha1.KymaKind, v1alpha1.ManifestKind} {
			gvk := `gvk="kyma.m.crossplane.io/v1alpha1, Kind=` + kind + `"`
			for _, name := range []string{"crossplane_managed_resource_exists", "crossplane_managed_resource_ready", "crossplane_managed_resource_synced"} {
				Eventually(func(ctx context.Context) (float64, error) {
					now, err := env.scrape(ctx)
					return now.sum(name, gvk), err
				}).WithContext(ctx).Should(BeNumerically(">=", 1), name+" of "+kind)
			}
			Expect(must(env.scrape(ctx)).sum("crossplane_managed_resource_first_time_to_readiness_seconds_count", gvk)).To(BeNumerically(">=", 1))
		}
		Expect(must(env.scrape(ctx)).sum("provider_kyma_build_info", `version="v0.0.`)).To(BeEquivalentTo(1))

		By("counting modules, and measuring their changes")
		module := `module="` + m.name + `"`
		Eventually(func(ctx context.Context) (float64, error) {
			now, err := env.scrape(ctx)
			return now.sum("provider_kyma_modules", module, `state="Ready"`), err
		}).WithContext(ctx).Should(BeEquivalentTo(1))
		now := must(env.scrape(ctx))
		Expect(now.sum("provider_kyma_module_change_seconds_count", `change="Installed"`)).To(BeNumerically(">=", 1))
		Expect(now.sum("provider_kyma_events_total", `kind="Manifest"`, `reason="Installed"`)).To(BeNumerically(">=", 1))
		for _, step := range []string{"apply", "pull", "render"} {
			Expect(now.sum("provider_kyma_step_seconds_count", `step="`+step+`"`)).To(BeNumerically(">=", 1), step)
		}
	})

	It("contains events and change logs", func(ctx SpecContext) {
		s.create(ctx, s.config())
		k := s.kyma("kyma", m.module())
		s.create(ctx, k)
		m.report(ctx, `{"state":"Ready"}`)
		Eventually(s.getKyma).WithContext(ctx).WithArguments("kyma").Should(beReady())
		Eventually(s.events).WithContext(ctx).Should(ContainElements(
			HavePrefix("Kyma kyma Normal ModuleEnabled"), HavePrefix("Manifest "+m.manifest("kyma")+" Normal Installed")))
		Eventually(env.changes.of).WithArguments(v1alpha1.ManifestKind, m.manifest("kyma")).Should(ContainElement("OPERATION_TYPE_CREATE"))
		Expect(env.changes.of(v1alpha1.KymaKind, "kyma")).To(ContainElement("OPERATION_TYPE_CREATE"))
		s.remove(ctx, k)
		Expect(env.changes.of(v1alpha1.ManifestKind, m.manifest("kyma"))).To(ContainElement("OPERATION_TYPE_DELETE"))
	})
})

func lines(text string) []string { return strings.Split(strings.TrimSpace(text), "\n") }
