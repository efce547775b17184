// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// kymaReconciles is the label of the passes of the controller of Kymas.
const kymaReconciles = `controller="managed/kyma.kyma.m.crossplane.io"`

var _ = Describe("A provider whose Kymas are all Ready", func() {
	var (
		s                *space
		simple, operated *offer
	)

	BeforeEach(func(ctx SpecContext) {
		s = newSpace(ctx)
		Eventually(s.otherConfigs).WithContext(ctx).Should(BeEmpty(), "those of other specs are still to be tidied up")
		simple, operated = s.offer("simple"), s.operated("operated")
		simple.release(ctx, "regular", "1.0.0")
		simple.release(ctx, "fast", "1.1.0")
		operated.release(ctx, "regular", "1.0.0")
		s.create(ctx, s.kyma("kyma", simple.module(), operated.module()))
		operated.report(ctx, `{"state":"Ready"}`)
		s.awaitKyma(ctx, "kyma")
		awaitSettled(ctx)
	})

	// quiet runs something after which nothing may be written, and nothing sent to the target but watches.
	quiet := func(ctx SpecContext, period time.Duration, do func()) (before, after metrics) {
		GinkgoHelper()
		before, versions := must(env.provider.scrape(ctx)), must(s.versions(ctx))
		do()
		Consistently(func(g Gomega) {
			now, err := env.provider.scrape(ctx)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(now.requestsSince(before, targetRequests)).To(beWatchesOnly())
			g.Expect(now.requestsSince(before, controlRequests)).To(writeNothing())
		}).WithTimeout(period).WithPolling(time.Second).Should(Succeed())
		Expect(s.versions(ctx)).To(Equal(versions))
		return before, must(env.provider.scrape(ctx))
	}

	It("writes nothing while nothing happens", func(ctx SpecContext) {
		quiet(ctx, atRest, func() {})
	})

	It("writes nothing when something changes that does not matter", func(ctx SpecContext) {
		By("labels of its template, and everything of one in a channel that no one uses")
		before, after := quiet(ctx, calm, func() {
			updateTemplate(ctx, simple.templateName("regular"), func(t *v1alpha1.ModuleTemplate) { t.Labels["example.org/other"] = "x" })
			updateTemplate(ctx, simple.templateName("fast"), annotate[*v1alpha1.ModuleTemplate]("example.org/other", "x"))
		})
		Expect(after.sum(reconciles, kymaReconciles)-before.sum(reconciles, kymaReconciles)).To(BeZero(), "passes of the controller of Kymas")

		By("annotations of its Manifest")
		before = must(env.provider.scrape(ctx))
		s.update(ctx, simple.manifest("kyma"), annotate[*v1alpha1.Manifest]("example.org/other", "x"))
		_, after = quiet(ctx, calm, func() {})
		Expect(after.sum(reconciles, kymaReconciles)-before.sum(reconciles, kymaReconciles)).To(BeZero(), "passes of the controller of Kymas")

		By("a status of the custom resource that means the same, which has to be read")
		before, versions := must(env.provider.scrape(ctx)), must(s.versions(ctx))
		operated.report(ctx, `{"state":"Ready","observed":"again"}`)
		Consistently(s.versions).WithContext(ctx).Should(Equal(versions))
		Expect(must(env.provider.scrape(ctx)).requestsSince(before, controlRequests)).To(writeNothing())
	})

	DescribeTable("writes nothing when it starts again", func(ctx SpecContext, end func(ctx SpecContext)) {
		versions, events := must(s.versions(ctx)), must(s.kymaEvents(ctx, "kyma"))
		template := must(getTemplate(ctx, simple.templateName("regular")))
		env.registry.Reset()
		end(ctx)
		Expect(env.provider.start(ctx)).To(Succeed())
		Eventually(func() (float64, error) {
			m, err := env.provider.scrape(ctx)
			return m.sum(reconciles, kymaReconciles), err
		}).Should(BeNumerically(">=", 1), "the Kyma was checked")
		awaitSettled(ctx)
		now := must(env.provider.scrape(ctx))
		Expect(now.requests(targetRequests)).To(writeNothing())
		Expect(now.requests(controlRequests)).To(writeNothing())
		Expect(s.versions(ctx)).To(Equal(versions))
		Expect(s.kymaEvents(ctx, "kyma")).To(ConsistOf(events))
		Expect(must(getTemplate(ctx, template.Name)).ResourceVersion).To(Equal(template.ResourceVersion))
		Expect(paths(env.registry.Requests())).NotTo(ContainSubstring("/manifests/"), "components are read once")

		By("still seeing what happens")
		operated.report(ctx, `{"state":"Warning"}`)
		Eventually(s.getKyma).WithContext(ctx).WithArguments("kyma").Should(haveKymaState(v1alpha1.StateWarning, operated.name))
	},
		Entry("after it was asked to end", func(ctx SpecContext) { Expect(env.provider.terminate(ctx)).To(Succeed()) }),
		Entry("after it was killed", func(SpecContext) { env.provider.kill() }),
	)

	It("changes nothing while the registry is away, and repairs as ever", func(ctx SpecContext) {
		DeferCleanup(func() { env.registry.SetFault(nil) })
		env.registry.SetFault(unavailable)
		quiet(ctx, 2*calm, func() {})
		edit(ctx, must(simple.installed(ctx)), `{"data":{"message":"changed"}}`)
		s.awaitMessage(ctx, simple.name, "hello")
		s.awaitKyma(ctx, "kyma")
	})

	It("writes nothing while it waits for a removal", func(ctx SpecContext) {
		operated.hold(ctx, true)
		s.deleteKyma(ctx, "kyma")
		Eventually(s.getKyma).WithContext(ctx).WithArguments("kyma").Should(haveModule(operated.name, v1alpha1.StateDeleting, "example.org/hold"))
		awaitUnchanged(ctx, s)
		versions := must(s.versions(ctx))
		Consistently(s.versions).WithContext(ctx).WithTimeout(atRest).Should(Equal(versions))
		operated.hold(ctx, false)
		s.awaitKymaGone(ctx, "kyma")
	})

	It("tells each thing once", func(ctx SpecContext) {
		simple.release(ctx, "regular", "1.2.0")
		simple.awaitVersion(ctx, "1.2.0")
		s.awaitKyma(ctx, "kyma")
		s.updateKyma(ctx, "kyma", setModules(simple.inChannel("fast"), operated.module()))
		Eventually(s.getKyma).WithContext(ctx).WithArguments("kyma").Should(haveModule(simple.name, v1alpha1.StateWarning))
		s.updateKyma(ctx, "kyma", setModules(simple.inChannel("nowhere"), operated.module()))
		Eventually(s.getKyma).WithContext(ctx).WithArguments("kyma").Should(haveModule(simple.name, v1alpha1.StateError))
		s.updateKyma(ctx, "kyma", setModules(operated.module()))
		s.awaitKyma(ctx, "kyma")
		count := func(ctx SpecContext) (map[string]int, error) {
			all, err := s.kymaEvents(ctx, "kyma")
			out := map[string]int{}
			for _, e := range all {
				for _, reason := range []string{"ModuleEnabled", "ModuleUpgraded", "DowngradeBlocked", "ModuleFailed", "ModuleRemoved"} {
					if matched, _ := beEvent("Normal " + reason).Match(e); matched {
						out[reason]++
					}
					if matched, _ := beEvent("Warning " + reason).Match(e); matched {
						out[reason]++
					}
				}
			}
			return out, err
		}
		want := map[string]int{"ModuleEnabled": 2, "ModuleUpgraded": 1, "DowngradeBlocked": 1, "ModuleFailed": 1, "ModuleRemoved": 1}
		Eventually(count).WithContext(ctx).Should(Equal(want))
		Consistently(count).WithContext(ctx).Should(Equal(want))
	})
})

var _ = Describe("A registry that is away", func() {
	It("lets new Kymas say so, without a loop of writes", func(ctx SpecContext) {
		s := newSpace(ctx)
		Eventually(s.otherConfigs).WithContext(ctx).Should(BeEmpty(), "those of other specs are still to be tidied up")
		m := s.offer("mod")
		m.release(ctx, "regular", "1.0.0")
		DeferCleanup(func() { env.registry.SetFault(nil) })
		env.registry.SetFault(unavailable)
		for _, name := range []string{"a", "b", "c"} {
			s.create(ctx, s.kyma(name, m.module()))
		}
		for _, name := range []string{"a", "b", "c"} {
			Eventually(s.getKyma).WithContext(ctx).WithArguments(name).Should(SatisfyAll(
				haveKymaState(v1alpha1.StateError, m.name, env.registry.Host()), haveModule(m.name, v1alpha1.StateError, "503")))
		}
		before := must(env.provider.scrape(ctx))
		Consistently(func(g Gomega) {
			now, err := env.provider.scrape(ctx)
			g.Expect(err).NotTo(HaveOccurred())
			writes := now.requestsSince(before, controlRequests)
			g.Expect(writes["POST"] + writes["PUT"] + writes["PATCH"]).To(BeNumerically("<", 20))
		}).WithTimeout(3 * calm).WithPolling(time.Second).Should(Succeed())
		awaitUnchanged(ctx, s)
		Expect(must(s.versions(ctx))).To(HaveLen(6))

		By("finishing the first of them when it is back: the others have the same module")
		env.registry.SetFault(nil)
		Eventually(func(g Gomega) {
			ready := 0
			for _, name := range []string{"a", "b", "c"} {
				if describeKyma(must(s.getKyma(ctx, name))) == "Ready" {
					ready++
				}
			}
			g.Expect(ready).To(Equal(1))
		}).WithTimeout(recovery).Should(Succeed())
	})
})
