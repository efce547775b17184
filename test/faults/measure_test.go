// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"fmt"
	"slices"
	"time"

	. "github.com/crossplane-contrib/provider-kyma/test/integration/harness"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

const (
	// samples is the number of installs whose median time is compared. tries is how often they are measured, because other
	// processes on the machine can make installs slower.
	samples, tries = 9, 3
	cpu            = "process_cpu_seconds_total"
	// resolution is how exactly the time of an install is measured.
	resolution = 10 * time.Millisecond
)

// A tenant installs Manifests of a small chart into the target, one after the other.
type tenant struct {
	*Space

	source v1alpha1.Source
	count  int
}

func newTenant(ctx SpecContext) *tenant {
	GinkgoHelper()
	t := &tenant{Space: NewSpace(ctx), source: chart(ctx)}
	// The first install loads the chart, and lists the kinds of the cluster.
	t.install(ctx)
	return t
}

// chart pushes a chart with a few objects that are ready as soon as they exist.
func chart(ctx SpecContext) v1alpha1.Source {
	GinkgoHelper()
	return NewChart("small", "1.0.0").With("templates/all.yaml", `
{{- range list "a" "b" "c" "d" }}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: {{ $.Release.Name }}-{{ . }}}
data: {message: {{ $.Values.message | default "none" | quote }}}
{{- end }}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: {{ .Release.Name }}}
`).PushLayer(ctx)
}

// install returns how long an install takes until it is Ready.
func (t *tenant) install(ctx SpecContext) time.Duration {
	GinkgoHelper()
	t.count++
	name := fmt.Sprintf("install-%d", t.count)
	start := time.Now()
	t.Create(ctx, t.Manifest(name, t.InstallOf(name, t.source, nil)))
	Eventually(t.Get).WithContext(ctx).WithArguments(name).WithPolling(resolution).Should(BeReady())
	return time.Since(start)
}

// median returns the median time of several installs.
func (t *tenant) median(ctx SpecContext) time.Duration {
	GinkgoHelper()
	all := make([]time.Duration, 0, samples)
	for range samples {
		all = append(all, t.install(ctx))
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// fastest returns the shortest of several medians.
func (t *tenant) fastest(ctx SpecContext) time.Duration {
	GinkgoHelper()
	best := t.median(ctx)
	for range tries - 1 {
		best = min(best, t.median(ctx))
	}
	return best
}

// expectHardlyDelayed measures installs while something happens, and fails if they take longer than limit. Other
// processes on the machine can only make them slower, so it measures more often if they are. prepare runs before each median, and
// returns what an install takes at this time without what happens, or 0.
func (t *tenant) expectHardlyDelayed(ctx SpecContext, before time.Duration, what string, prepare func(i int) time.Duration) {
	GinkgoHelper()
	during := time.Hour
	for i := 0; i < 3*tries && (i < tries || during > limit(before)); i++ {
		if again := prepare(i); again != 0 {
			before = min(before, again)
		}
		during = min(during, t.median(ctx))
	}
	GinkgoWriter.Printf("an install takes %s without and %s with %s\n", before, during, what)
	Expect(during).To(BeNumerically("<=", limit(before)))
}

// limit returns how long an install may take that takes a given time otherwise: 1.2 times as long, as far as this can be measured.
func limit(before time.Duration) time.Duration { return before*12/10 + resolution }

// unprepared does nothing.
func unprepared(int) time.Duration { return 0 }

// A cost describes what the provider did during a period.
type cost struct {
	time                                  time.Duration
	failed, answered, reconciles, seconds float64
}

// measure returns the cost of the provider while a function runs.
func measure(ctx SpecContext, f func()) cost {
	GinkgoHelper()
	first, start := Must(Env.Provider.Scrape(ctx)), time.Now()
	f()
	last := Must(Env.Provider.Scrape(ctx))
	since := func(name, labels string) float64 { return last.Sum(name, labels) - first.Sum(name, labels) }
	failed := since(TargetRequests, `code="0"`)
	return cost{
		time: time.Since(start), failed: failed, answered: since(TargetRequests, "") - failed,
		reconciles: since(Reconciles, `controller="managed/manifest`), seconds: since(cpu, ""),
	}
}

// String returns the cost per minute.
func (c cost) String() string {
	m := c.time.Minutes()
	return fmt.Sprintf("%.0f requests without and %.0f with a response, %.1f s of CPU and %.0f reconciles in a minute",
		c.failed/m, c.answered/m, c.seconds/m, c.reconciles/m)
}
