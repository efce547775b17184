// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"fmt"
	"time"

	. "github.com/crossplane-contrib/provider-kyma/test/integration/harness"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

const (
	// each is the number of clusters with each fault, and modules the number of Manifests on each of them.
	each, modules = 20, 5
	// samples is the number of installs whose median time is compared.
	samples = 5
	states  = "provider_kyma_target_connection_states"
	cpu     = "process_cpu_seconds_total"
)

var _ = Describe("Clusters that do not answer", Ordered, func() {
	var (
		s      *Space
		source v1alpha1.Source
		before time.Duration
	)

	install := func(ctx SpecContext, name string) time.Duration {
		start := time.Now()
		s.Install(ctx, s.Manifest(name, s.InstallOf(name, source, Values{"workload": false})))
		return time.Since(start)
	}

	median := func(ctx SpecContext, prefix string) time.Duration {
		var all []time.Duration
		for i := range samples {
			all = append(all, install(ctx, named(prefix, i)))
		}
		return middle(all)
	}

	BeforeAll(func(ctx SpecContext) {
		s = NewSpace(ctx)
		// This runs before the space is cleaned up.
		DeferCleanup(abandon, &s)
		source = WebChart().PushLayer(ctx)
		install(ctx, "first")
		before = median(ctx, "before")
		for kind, f := range map[string]fault{"hanging": hanging, "silent": silent, "refusing": refusing} {
			for i := range each {
				s.Config(ctx, named(kind, i), At(f(ctx))())
				for j := range modules {
					s.Create(ctx, With(s.Manifest(fmt.Sprintf("%s-%d-%d", kind, i, j), s.InstallOf("web", source, nil)), named(kind, i)))
				}
			}
		}
	})

	It("hold no worker, and get few requests", Label("short"), func(ctx SpecContext) {
		Eventually(func(g Gomega) {
			m, err := Env.Provider.Scrape(ctx)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(m.Sum(states, `"Unreachable"`)).To(BeNumerically("==", 3*each))
			g.Expect(m.Sum(states, `"Connecting"`)).To(BeZero())
		}).Should(Succeed())
		install(ctx, "during")

		first := Must(Env.Provider.Scrape(ctx))
		time.Sleep(time.Minute)
		last := Must(Env.Provider.Scrape(ctx))
		requests := last.Sum(TargetRequests, `code="0"`) - first.Sum(TargetRequests, `code="0"`)
		GinkgoWriter.Printf("%d clusters cost %.0f requests, %.1f s of CPU and %.0f reconciles in a minute; %.0f goroutines\n",
			3*each, requests, last.Sum(cpu, "")-first.Sum(cpu, ""), last.Sum(Reconciles, "manifest")-first.Sum(Reconciles, "manifest"),
			last.Sum("go_goroutines", ""))
		// Pauses of 1, 2, 4, 8, 16 and 32 seconds last a minute.
		Expect(requests).To(BeNumerically("<=", 3*each*6))
		Expect(requests).To(BeNumerically(">", 0))
		Expect(last.Sum(states, `"Unreachable"`)).To(BeNumerically("==", 3*each))
	})

	It("do not delay the install of a Manifest on another cluster", func(ctx SpecContext) {
		during := median(ctx, "delayed")
		GinkgoWriter.Printf("an install takes %s without and %s with %d clusters that do not answer\n", before, during, 3*each)
		Expect(during).To(BeNumerically("<=", before*12/10))
	})
})

// abandon lets the Manifests of a space be deleted although their clusters do not answer. They installed nothing.
func abandon(ctx SpecContext, s **Space) {
	list := &v1alpha1.ManifestList{}
	Expect(Env.ControlClient.List(ctx, list, client.InNamespace((*s).Name))).To(Succeed())
	for i := range list.Items {
		m := &list.Items[i]
		if m.Spec.ProviderConfigReference.Name == ConfigName {
			continue
		}
		Expect(Env.ControlClient.Delete(ctx, m)).To(Succeed())
		Expect(Env.ControlClient.Patch(ctx, m, client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`)))).To(Or(Succeed(), BeNotFound()))
	}
}
