// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"context"
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-kyma/internal/render"
	"github.com/crossplane-contrib/provider-kyma/internal/render/attacktest"
)

// benchChart returns a chart with n typical templates, helpers, a schema, and a CRD.
func benchChart(n int) tree {
	out := tree{
		"values.yaml":        "labels: {a: b}\nreplicas: 2\nimage: x\n",
		"values.schema.json": `{"type":"object","properties":{"replicas":{"type":"integer"}}}`,
		"crds/c.yaml":        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  name: a.b.c\n",
		"templates/_h.tpl": `{{ define "labels" }}{{ toYaml .Values.labels }}{{ end }}` +
			`{{ define "name" }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 63 }}{{ end }}`,
	}
	for i := range n {
		out[fmt.Sprintf("templates/d%d.yaml", i)] = fmt.Sprintf(`apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ include "name" . }}-%d
  labels: {{- include "labels" . | nindent 4 }}
spec:
  replicas: {{ .Values.replicas }}
  selector: {matchLabels: {app: x}}
  template:
    metadata:
      labels: {app: x}
    spec:
      containers:
      {{- range $n := list "a" "b" }}
      - name: {{ $n }}
        image: {{ $.Values.image | quote }}
        resources: {limits: {cpu: 1, memory: 64Mi}}
      {{- end }}
`, i)
	}
	return out
}

// BenchmarkChart compares rendering a chart in this process, in a spare child that is ready, and in a child that must be
// started, and taking its result from the cache. The spare child of the next rendering is started between the measurements.
func BenchmarkChart(b *testing.B) {
	for _, n := range []int{5, 50} {
		c := chartOf(b, benchChart(n))
		o := render.Options{ReleaseName: "rel"}
		b.Run(fmt.Sprintf("templates=%d/in-process", n), func(b *testing.B) {
			measure(b, func() {}, func() error {
				_, err := c.Render(b.Context(), o)
				return err
			})
		})
		for name, spares := range map[string]int{"warm": 1, "cold": 0} {
			b.Run(fmt.Sprintf("templates=%d/%s", n, name), func(b *testing.B) {
				p := newPool(b, Options{Spares: spares})
				memory := int64(0)
				ready := func() {
					if spares > 0 {
						memory = memoryOf(awaitSpare(b, p).cmd.Process.Pid)
					}
				}
				// Otherwise, the result would be cached.
				o := o
				measure(b, ready, func() error {
					o.Revision++
					_, err := p.Chart(b.Context(), "", c, o)
					return err
				})
				b.ReportMetric(float64(memory)/(1<<20), "spare-MiB")
			})
		}
		b.Run(fmt.Sprintf("templates=%d/cached", n), func(b *testing.B) {
			p := newPool(b, Options{})
			measure(b, func() {}, func() error {
				_, err := p.Chart(b.Context(), "", c, o)
				return err
			})
		})
	}
}

// measure runs f repeatedly, each time after ready, and reports the median of the durations in addition to their mean.
func measure(b *testing.B, ready func(), f func() error) {
	b.Helper()
	var times []time.Duration
	for b.Loop() {
		b.StopTimer()
		ready()
		b.StartTimer()
		begin := time.Now()
		if err := f(); err != nil {
			b.Fatal(err)
		}
		times = append(times, time.Since(begin))
	}
	slices.Sort(times)
	b.ReportMetric(float64(times[len(times)/2])/1e6, "median-ms")
}

// BenchmarkAttacks measures renderings of a tenant, with the limits of the provider, first without attacks, and then while
// another tenant repeatedly renders ten attack charts. It reports the ratio of the medians, and how much the memory of this
// process grows.
func BenchmarkAttacks(b *testing.B) {
	p := newPool(b, Options{Spares: 2})
	good := chartOf(b, benchChart(5))
	render1 := func() time.Duration {
		awaitSpare(b, p)
		begin := time.Now()
		if _, err := p.Chart(b.Context(), "team-b", good, render.Options{ReleaseName: "rel"}); err != nil {
			b.Fatal(err)
		}
		return time.Since(begin)
	}
	const samples, charts = 41, 10
	median := func() time.Duration {
		var times []time.Duration
		for range samples {
			times = append(times, render1())
		}
		slices.Sort(times)
		return times[samples/2]
	}
	for b.Loop() {
		before, memory := median(), memoryOf(os.Getpid())
		ctx, stop := context.WithCancel(b.Context())
		var wg sync.WaitGroup
		started := 0
		for _, files := range attacktest.Charts() {
			if started++; started > charts {
				break
			}
			c := chartOf(b, tree(files))
			wg.Go(func() {
				for ctx.Err() == nil {
					_, _ = p.Chart(ctx, "team-a", c, render.Options{ReleaseName: "rel"})
				}
			})
		}
		peak := int64(0)
		wg.Go(func() {
			for ctx.Err() == nil {
				peak = max(peak, memoryOf(os.Getpid()))
				time.Sleep(time.Millisecond)
			}
		})
		during := median()
		stop()
		wg.Wait()
		b.ReportMetric(float64(before)/1e6, "before-ms")
		b.ReportMetric(float64(during)/float64(before), "ratio")
		b.ReportMetric(float64(peak-memory)/(1<<20), "MiB-more")
	}
}
