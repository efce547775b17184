// SPDX-License-Identifier: Apache-2.0

package hooks

import (
	"context"

	. "github.com/crossplane-contrib/provider-kyma/test/integration/harness"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	batchv1 "k8s.io/api/batch/v1"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

var _ = Describe("A Job with ttlSecondsAfterFinished", func() {
	var s *Space

	BeforeEach(func(ctx SpecContext) { s = NewSpace(ctx) })

	It("runs once for each version, and does not make the Manifest unready when it expires, unless it failed", func(ctx SpecContext) {
		chart := func(message, ttl string) Chart {
			return NewChart("once", "1.0.0").With("templates/all.yaml", `
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {message: `+message+`}
---
apiVersion: batch/v1
kind: Job
metadata: {name: once}
spec:
  ttlSecondsAfterFinished: `+ttl+`
  backoffLimit: 0
  template: {spec: {restartPolicy: Never, nodeSelector: {nowhere: "true"}, containers: [{name: main, image: example.org/once, args: [`+message+`]}]}}
`)
		}
		expired := func(ctx SpecContext) {
			GinkgoHelper()
			endPod(ctx, s, "once", 0, "")
			Eventually(Gone(func(ctx context.Context, name string) (*batchv1.Job, error) {
				return Fetched(ctx, s.Key(name), &batchv1.Job{})
			})).WithContext(ctx).WithArguments("once").Should(BeTrue())
			s.AwaitReady(ctx, "once")
		}
		s.Create(ctx, s.Manifest("once", s.InstallOf("once", chart("one", "0").PushLayer(ctx), nil)))
		expired(ctx)

		By("repairing another object")
		Expect(Env.TargetClient.Delete(ctx, s.MustConfigMap(ctx, "settings"))).To(Succeed())
		s.AwaitMessage(ctx, "settings", "one")
		s.AwaitReady(ctx, "once")
		repaired, err := s.Get(ctx, "once")
		Expect(err).NotTo(HaveOccurred())
		// The status can be from before the repair.
		if drift := repaired.Status.AtProvider.Drift; drift != nil {
			Expect(drift.Objects).NotTo(ContainElement(HaveField("Kind", "Job")))
		}
		Expect(pods(ctx, s, "once")).To(BeZero(), "the Job ran again")

		By("upgrading")
		s.Update(ctx, "once", SetSource(chart("two", "0").PushLayer(ctx)))
		s.AwaitMessage(ctx, "settings", "two")
		expired(ctx)

		By("running the Job again if it failed")
		s.Update(ctx, "once", SetSource(chart("three", "5").PushLayer(ctx)))
		s.AwaitMessage(ctx, "settings", "three")
		endPod(ctx, s, "once", 1, "no such table")
		failed := job(ctx, s, "once").UID
		Eventually(s.Get).WithContext(ctx).WithArguments("once").Should(HaveState(v1alpha1.StateError, "Job "+s.Name+"/once"))
		Eventually(func(ctx SpecContext) (*batchv1.Job, error) {
			return Fetched(ctx, s.Key("once"), &batchv1.Job{})
		}).WithContext(ctx).Should(HaveField("UID", Not(Equal(failed))))
		expired(ctx)
	})
})
