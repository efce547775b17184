// SPDX-License-Identifier: Apache-2.0

package kyma

import (
	"time"

	. "github.com/crossplane-contrib/provider-kyma/test/integration/harness"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// kymaReconciles is the label of reconciles by the controller of Kymas.
const kymaReconciles = `controller="managed/kyma.kyma.m.crossplane.io"`

var _ = Describe("A provider whose Kymas are all Ready", func() {
	var (
		s                *Space
		simple, operated *Offer
	)

	BeforeEach(func(ctx SpecContext) {
		s = NewSpace(ctx)
		Eventually(OtherConfigs).WithContext(ctx).WithArguments(s).Should(BeEmpty(), "those of other specs are still to be tidied up")
		simple, operated = NewOffer(s, "simple"), OfferOperated(s, "operated")
		simple.Release(ctx, "regular", "1.0.0")
		simple.Release(ctx, "fast", "1.1.0")
		operated.Release(ctx, "regular", "1.0.0")
		s.Create(ctx, s.Kyma("kyma", simple.Module(), operated.Module()))
		operated.Report(ctx, `{"state":"Ready"}`)
		s.AwaitKyma(ctx, "kyma")
		AwaitIdle(ctx)
	})

	// quiet runs do, and checks that the provider writes nothing and sends only watches to the target for a period after it.
	quiet := func(ctx SpecContext, period time.Duration, do func()) (before, after Metrics) {
		GinkgoHelper()
		before, versions := Must(Env.Provider.Scrape(ctx)), Must(versionsOf(ctx, s))
		do()
		Consistently(func(g Gomega) {
			now, err := Env.Provider.Scrape(ctx)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(now.RequestsSince(before, TargetRequests)).To(BeWatchesOnly())
			g.Expect(now.RequestsSince(before, ControlRequests)).To(WriteNothing())
		}).WithTimeout(period).WithPolling(time.Second).Should(Succeed())
		Expect(versionsOf(ctx, s)).To(Equal(versions))
		return before, Must(Env.Provider.Scrape(ctx))
	}

	It("writes nothing while nothing changes", func(ctx SpecContext) {
		quiet(ctx, AtRest, func() {})
	})

	It("writes nothing after changes that do not affect it", func(ctx SpecContext) {
		By("changing labels of its template, and a template in an unused channel")
		before, after := quiet(ctx, Calm, func() {
			UpdateTemplate(ctx, simple.TemplateName("regular"), func(t *v1alpha1.ModuleTemplate) { t.Labels["example.org/other"] = "x" })
			UpdateTemplate(ctx, simple.TemplateName("fast"), Annotate[*v1alpha1.ModuleTemplate]("example.org/other", "x"))
		})
		Expect(after.Sum(Reconciles, kymaReconciles)-before.Sum(Reconciles, kymaReconciles)).To(BeZero(), "passes of the controller of Kymas")

		By("changing annotations of its Manifest")
		before = Must(Env.Provider.Scrape(ctx))
		s.Update(ctx, simple.Manifest("kyma"), Annotate[*v1alpha1.Manifest]("example.org/other", "x"))
		_, after = quiet(ctx, Calm, func() {})
		Expect(after.Sum(Reconciles, kymaReconciles)-before.Sum(Reconciles, kymaReconciles)).To(BeZero(), "passes of the controller of Kymas")

		By("changing the status of the custom resource without a change of its state")
		before, versions := Must(Env.Provider.Scrape(ctx)), Must(versionsOf(ctx, s))
		operated.Report(ctx, `{"state":"Ready","observed":"again"}`)
		Consistently(versionsOf).WithContext(ctx).WithArguments(s).Should(Equal(versions))
		Expect(Must(Env.Provider.Scrape(ctx)).RequestsSince(before, ControlRequests)).To(WriteNothing())
	})

	DescribeTable("writes nothing after a restart", func(ctx SpecContext, end func(ctx SpecContext)) {
		versions, events := Must(versionsOf(ctx, s)), Must(s.KymaEvents(ctx, "kyma"))
		template := Must(GetTemplate(ctx, simple.TemplateName("regular")))
		Env.Registry.Reset()
		end(ctx)
		Expect(Env.Provider.Start(ctx)).To(Succeed())
		Eventually(func() (float64, error) {
			m, err := Env.Provider.Scrape(ctx)
			return m.Sum(Reconciles, kymaReconciles), err
		}).Should(BeNumerically(">=", 1), "the Kyma was checked")
		AwaitIdle(ctx)
		now := Must(Env.Provider.Scrape(ctx))
		Expect(now.Requests(TargetRequests)).To(WriteNothing())
		Expect(now.Requests(ControlRequests)).To(WriteNothing())
		Expect(versionsOf(ctx, s)).To(Equal(versions))
		Expect(s.KymaEvents(ctx, "kyma")).To(ConsistOf(events))
		Expect(Must(GetTemplate(ctx, template.Name)).ResourceVersion).To(Equal(template.ResourceVersion))
		Expect(Paths(Env.Registry.Requests())).NotTo(ContainSubstring("/manifests/"), "components are read once")

		By("detecting changes")
		operated.Report(ctx, `{"state":"Warning"}`)
		Eventually(s.GetKyma).WithContext(ctx).WithArguments("kyma").Should(HaveKymaState(v1alpha1.StateWarning, operated.Name))
	},
		Entry("with a graceful shutdown", func(ctx SpecContext) { Expect(Env.Provider.Terminate(ctx)).To(Succeed()) }),
		Entry("with SIGKILL", func(SpecContext) { Env.Provider.Kill() }),
	)

	It("changes nothing while the registry is unavailable, but repairs drift", func(ctx SpecContext) {
		DeferCleanup(func() { Env.Registry.SetFault(nil) })
		Env.Registry.SetFault(Unavailable)
		quiet(ctx, 2*Calm, func() {})
		Edit(ctx, Must(simple.Installed(ctx)), `{"data":{"message":"changed"}}`)
		s.AwaitMessage(ctx, simple.Name, "hello")
		s.AwaitKyma(ctx, "kyma")
	})

	It("writes nothing while it waits for a removal", func(ctx SpecContext) {
		operated.Hold(ctx, true)
		s.DeleteKyma(ctx, "kyma")
		Eventually(s.GetKyma).WithContext(ctx).WithArguments("kyma").Should(HaveModule(operated.Name, v1alpha1.StateDeleting, "example.org/hold"))
		awaitUnchanged(ctx, s)
		versions := Must(versionsOf(ctx, s))
		Consistently(versionsOf).WithContext(ctx).WithArguments(s).WithTimeout(AtRest).Should(Equal(versions))
		operated.Hold(ctx, false)
		s.AwaitKymaGone(ctx, "kyma")
	})

	It("records each event once", func(ctx SpecContext) {
		simple.Release(ctx, "regular", "1.2.0")
		simple.AwaitVersion(ctx, "1.2.0")
		s.AwaitKyma(ctx, "kyma")
		s.UpdateKyma(ctx, "kyma", SetModules(simple.InChannel("fast"), operated.Module()))
		Eventually(s.GetKyma).WithContext(ctx).WithArguments("kyma").Should(HaveModule(simple.Name, v1alpha1.StateWarning))
		s.UpdateKyma(ctx, "kyma", SetModules(simple.InChannel("nowhere"), operated.Module()))
		Eventually(s.GetKyma).WithContext(ctx).WithArguments("kyma").Should(HaveModule(simple.Name, v1alpha1.StateError))
		s.UpdateKyma(ctx, "kyma", SetModules(operated.Module()))
		s.AwaitKyma(ctx, "kyma")
		count := func(ctx SpecContext) (map[string]int, error) {
			all, err := s.KymaEvents(ctx, "kyma")
			out := map[string]int{}
			for _, e := range all {
				for _, reason := range []string{"ModuleEnabled", "ModuleUpgraded", "DowngradeBlocked", "ModuleFailed", "ModuleRemoved"} {
					if matched, _ := BeEvent("Normal " + reason).Match(e); matched {
						out[reason]++
					}
					if matched, _ := BeEvent("Warning " + reason).Match(e); matched {
						out[reason]++
					}
				}
			}
			return out, err
		}
		want := map[string]int{"ModuleEnabled": 1, "ModuleUpgraded": 1, "DowngradeBlocked": 1, "ModuleFailed": 1, "ModuleRemoved": 1}
		Eventually(count).WithContext(ctx).Should(Equal(want))
		Consistently(count).WithContext(ctx).Should(Equal(want))
	})
})

var _ = Describe("A registry with an outage", func() {
	It("is reported by new Kymas, without repeated writes", func(ctx SpecContext) {
		s := NewSpace(ctx)
		Eventually(OtherConfigs).WithContext(ctx).WithArguments(s).Should(BeEmpty(), "those of other specs are still to be tidied up")
		m := NewOffer(s, "mod")
		m.Release(ctx, "regular", "1.0.0")
		DeferCleanup(func() { Env.Registry.SetFault(nil) })
		Env.Registry.SetFault(Unavailable)
		for _, name := range []string{"a", "b", "c"} {
			s.Create(ctx, s.Kyma(name, m.Module()))
		}
		for _, name := range []string{"a", "b", "c"} {
			Eventually(s.GetKyma).WithContext(ctx).WithArguments(name).Should(SatisfyAll(
				HaveKymaState(v1alpha1.StateError, m.Name, Env.Registry.Host()), HaveModule(m.Name, v1alpha1.StateError, "503")))
		}
		before := Must(Env.Provider.Scrape(ctx))
		Consistently(func(g Gomega) {
			now, err := Env.Provider.Scrape(ctx)
			g.Expect(err).NotTo(HaveOccurred())
			writes := now.RequestsSince(before, ControlRequests)
			g.Expect(writes["POST"] + writes["PUT"] + writes["PATCH"]).To(BeNumerically("<", 20))
		}).WithTimeout(3 * Calm).WithPolling(time.Second).Should(Succeed())
		awaitUnchanged(ctx, s)
		Expect(Must(versionsOf(ctx, s))).To(HaveLen(6))

		By("completing the first one after the outage")
		Env.Registry.SetFault(nil)
		Eventually(func(g Gomega) {
			ready := 0
			for _, name := range []string{"a", "b", "c"} {
				if DescribeKyma(Must(s.GetKyma(ctx, name))) == "Ready" {
					ready++
				}
			}
			g.Expect(ready).To(Equal(1))
		}).WithTimeout(Recovery).Should(Succeed())
	})
})
