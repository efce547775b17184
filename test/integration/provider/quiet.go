// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"time"

	. "github.com/crossplane-contrib/provider-kyma/test/integration/harness"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

var _ = Describe("A provider whose Manifests are all Ready", func() {
	var s *Space

	BeforeEach(func(ctx SpecContext) {
		s = NewSpace(ctx)
		Eventually(OtherConfigs).WithContext(ctx).WithArguments(s).Should(BeEmpty(), "those of other specs are still to be tidied up")
		s.Create(ctx, s.Module(ctx, "module"))
		s.Create(ctx, s.Manifest("web", s.InstallOf("web", WebChart().PushLayer(ctx), Values{"password": "x"})))
		Eventually(s.GetWidget).WithContext(ctx).WithArguments("main").ShouldNot(BeNil())
		s.SetStatus(ctx, "main", `{"state":"Ready"}`)
		s.AwaitReady(ctx, "module")
		s.AwaitReady(ctx, "web")
	})

	It("sends only watches to the target cluster, and writes nothing", func(ctx SpecContext) {
		AwaitIdle(ctx)
		before := Must(Env.Provider.Scrape(ctx))
		Consistently(func(g Gomega) {
			now, err := Env.Provider.Scrape(ctx)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(now.RequestsSince(before, TargetRequests)).To(BeWatchesOnly())
			g.Expect(now.RequestsSince(before, ControlRequests)).To(WriteNothing())
		}).WithTimeout(AtRest).WithPolling(time.Second).Should(Succeed())
	})

	DescribeTable("writes nothing after a restart", func(ctx SpecContext, end func(ctx SpecContext)) {
		AwaitIdle(ctx)
		before := map[string]*v1alpha1.Manifest{"web": Must(s.Get(ctx, "web")), "module": Must(s.Get(ctx, "module"))}
		config := s.MustConfigMap(ctx, "web-settings")
		end(ctx)
		Expect(Env.Provider.Start(ctx)).To(Succeed())
		Eventually(func() (float64, error) {
			m, err := Env.Provider.Scrape(ctx)
			return m.Sum(Reconciles, `controller="managed/manifest.kyma.m.crossplane.io",result="requeue_after"`), err
		}).Should(BeNumerically(">=", 2), "both Manifests were checked")
		AwaitIdle(ctx)
		now := Must(Env.Provider.Scrape(ctx))
		Expect(now.Requests(TargetRequests)).To(WriteNothing())
		Expect(now.Requests(ControlRequests)).To(WriteNothing())
		for name, m := range before {
			Expect(Must(s.Get(ctx, name)).ResourceVersion).To(Equal(m.ResourceVersion), name)
		}
		Expect(s.MustConfigMap(ctx, "web-settings").ResourceVersion).To(Equal(config.ResourceVersion))

		By("detecting drift")
		Edit(ctx, config, `{"data":{"message":"changed"}}`)
		s.AwaitMessage(ctx, "web-settings", "hello")
		s.AwaitReady(ctx, "web")
	},
		Entry("with a graceful shutdown", func(ctx SpecContext) { Expect(Env.Provider.Terminate(ctx)).To(Succeed()) }),
		Entry("with SIGKILL", func(SpecContext) { Env.Provider.Kill() }),
	)

	It("detects changes that happened while it was stopped", func(ctx SpecContext) {
		Expect(Env.Provider.Terminate(ctx)).To(Succeed())
		DeferCleanup(func(ctx SpecContext) {
			if Env.Provider.Process.State() != nil {
				Expect(Env.Provider.Start(ctx)).To(Succeed())
			}
		})
		Expect(Env.TargetClient.Delete(ctx, s.MustConfigMap(ctx, "web-settings"))).To(Succeed())
		Edit(ctx, s.MustDeployment(ctx, "web"), `{"spec":{"replicas":4}}`)
		s.Update(ctx, "module", SetValues(Values{"group": "new"}))
		Expect(Env.Provider.Start(ctx)).To(Succeed())
		s.AwaitMessage(ctx, "web-settings", "hello")
		Eventually(s.Deployment).WithContext(ctx).WithArguments("web").Should(HaveField("Spec.Replicas", HaveValue(BeEquivalentTo(1))))
		Eventually(s.ConfigMap).WithContext(ctx).WithArguments("operator-operator").Should(HaveData("group", "new"))
		s.AwaitReady(ctx, "web")
		s.AwaitReady(ctx, "module")
	})
})
