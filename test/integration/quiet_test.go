// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

const (
	// atRest is how long a provider with nothing to do is watched.
	atRest = 20 * time.Second
	// settled is how long nothing must happen before there is nothing to do.
	settled = 3 * time.Second
)

var _ = Describe("A provider whose Manifests are all Ready", func() {
	var s *space

	BeforeEach(func(ctx SpecContext) {
		s = newSpace(ctx)
		Eventually(s.otherConfigs).WithContext(ctx).Should(BeEmpty(), "those of other specs are still to be tidied up")
		s.create(ctx, s.module(ctx, "module"))
		s.create(ctx, s.manifest("web", s.installOf("web", webChart().pushLayer(ctx), values{"password": "x"})))
		Eventually(s.getWidget).WithContext(ctx).WithArguments("main").ShouldNot(BeNil())
		s.setStatus(ctx, "main", `{"state":"Ready"}`)
		s.awaitReady(ctx, "module")
		s.awaitReady(ctx, "web")
	})

	It("sends nothing but watches to the target, and writes nothing", func(ctx SpecContext) {
		awaitSettled(ctx)
		before := must(env.provider.scrape(ctx))
		Consistently(func(g Gomega) {
			now, err := env.provider.scrape(ctx)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(now.requestsSince(before, targetRequests)).To(beWatchesOnly())
			g.Expect(now.requestsSince(before, controlRequests)).To(writeNothing())
		}).WithTimeout(atRest).WithPolling(time.Second).Should(Succeed())
	})

	DescribeTable("writes nothing when it starts again", func(ctx SpecContext, end func(ctx SpecContext)) {
		awaitSettled(ctx)
		before := map[string]*v1alpha1.Manifest{"web": must(s.get(ctx, "web")), "module": must(s.get(ctx, "module"))}
		config := s.mustConfigMap(ctx, "web-settings")
		end(ctx)
		Expect(env.provider.start(ctx)).To(Succeed())
		Eventually(func() (float64, error) {
			m, err := env.provider.scrape(ctx)
			return m.sum(reconciles, `controller="managed/manifest.kyma.m.crossplane.io",result="requeue_after"`), err
		}).Should(BeNumerically(">=", 2), "both Manifests were checked")
		awaitSettled(ctx)
		now := must(env.provider.scrape(ctx))
		Expect(now.requests(targetRequests)).To(writeNothing())
		Expect(now.requests(controlRequests)).To(writeNothing())
		for name, m := range before {
			Expect(must(s.get(ctx, name)).ResourceVersion).To(Equal(m.ResourceVersion), name)
		}
		Expect(s.mustConfigMap(ctx, "web-settings").ResourceVersion).To(Equal(config.ResourceVersion))

		By("still seeing drift")
		edit(ctx, config, `{"data":{"message":"changed"}}`)
		s.awaitMessage(ctx, "web-settings", "hello")
		s.awaitReady(ctx, "web")
	},
		Entry("after it was asked to end", func(ctx SpecContext) { Expect(env.provider.terminate(ctx)).To(Succeed()) }),
		Entry("after it was killed", func(SpecContext) { env.provider.kill() }),
	)

	It("finds what happened while it was away", func(ctx SpecContext) {
		Expect(env.provider.terminate(ctx)).To(Succeed())
		DeferCleanup(func(ctx SpecContext) {
			if env.provider.process.State() != nil {
				Expect(env.provider.start(ctx)).To(Succeed())
			}
		})
		Expect(env.targetClient.Delete(ctx, s.mustConfigMap(ctx, "web-settings"))).To(Succeed())
		edit(ctx, s.mustDeployment(ctx, "web"), `{"spec":{"replicas":4}}`)
		s.update(ctx, "module", setValues(values{"group": "new"}))
		Expect(env.provider.start(ctx)).To(Succeed())
		s.awaitMessage(ctx, "web-settings", "hello")
		Eventually(s.deployment).WithContext(ctx).WithArguments("web").Should(HaveField("Spec.Replicas", HaveValue(BeEquivalentTo(1))))
		Eventually(s.configMap).WithContext(ctx).WithArguments("operator-operator").Should(haveData("group", "new"))
		s.awaitReady(ctx, "web")
		s.awaitReady(ctx, "module")
	})
})

// otherConfigs are the ProviderConfigs outside the space.
func (s *space) otherConfigs(ctx SpecContext) ([]string, error) {
	list := &v1alpha1.ProviderConfigList{}
	err := env.controlClient.List(ctx, list)
	var names []string
	for i := range list.Items {
		if c := &list.Items[i]; c.Namespace != s.name {
			names = append(names, c.Namespace+"/"+c.Name)
		}
	}
	return names, err
}

// awaitSettled waits until nothing but watches has been sent to a target, and nothing was written, for a while.
func awaitSettled(ctx SpecContext) {
	GinkgoHelper()
	last, since := must(env.provider.scrape(ctx)), time.Now()
	Eventually(func(g Gomega) {
		// What specs before this one left is written about until it is gone, and again after a restart.
		g.Expect(terminatingConfigs(ctx)).To(BeEmpty(), "ProviderConfigs that are being deleted")
		now, err := env.provider.scrape(ctx)
		g.Expect(err).NotTo(HaveOccurred())
		target, control := now.requestsSince(last, targetRequests), now.requestsSince(last, controlRequests)
		if !matches(target, beWatchesOnly()) || !matches(control, writeNothing()) {
			last, since = now, time.Now()
		}
		g.Expect(time.Since(since)).To(BeNumerically(">", settled), "requests were sent to the target: %v, to the control plane: %v", target, control)
	}).Should(Succeed())
}

// terminatingConfigs are the ProviderConfigs of any spec that are being deleted.
func terminatingConfigs(ctx context.Context) ([]string, error) {
	l := &v1alpha1.ProviderConfigList{}
	if err := env.controlClient.List(ctx, l); err != nil {
		return nil, err
	}
	var out []string
	for i := range l.Items {
		if c := &l.Items[i]; c.DeletionTimestamp != nil {
			out = append(out, c.Namespace+"/"+c.Name)
		}
	}
	return out, nil
}

func matches(requests map[string]float64, m types.GomegaMatcher) bool {
	ok, err := m.Match(requests)
	return ok && err == nil
}
