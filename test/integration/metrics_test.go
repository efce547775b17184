// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"maps"
	"net/http"
	"strconv"
	"strings"

	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"
)

// Metrics of the provider.
const (
	targetRequests    = "provider_kyma_target_requests_total"
	controlRequests   = "provider_kyma_control_plane_requests_total"
	targetConnections = "provider_kyma_target_connections"
	reconciles        = "controller_runtime_reconcile_total"
)

// metrics are the samples of one scrape, by their names with labels as they are written: name{a="b"}.
type metrics map[string]float64

// scrape the metrics of the provider.
func (p *provider) scrape(ctx context.Context) (metrics, error) {
	text, err := fetch(ctx, "http://"+p.metrics+"/metrics")
	if err != nil {
		return nil, err
	}
	m := metrics{}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		at := strings.LastIndexByte(line, ' ')
		if at < 0 || strings.HasPrefix(line, "#") {
			continue
		}
		if v, err := strconv.ParseFloat(line[at+1:], 64); err == nil {
			m[line[:at]] = v
		}
	}
	return m, nil
}

// sum of all samples of a metric whose labels contain a text.
func (m metrics) sum(name, labels string) float64 {
	total := 0.0
	for sample, v := range m {
		if (sample == name || strings.HasPrefix(sample, name+"{")) && strings.Contains(sample, labels) {
			total += v
		}
	}
	return total
}

// requests of a metric by verb.
func (m metrics) requests(name string) map[string]float64 {
	out := map[string]float64{}
	for sample, v := range m {
		if _, labels, ok := strings.Cut(sample, name+"{"); ok {
			_, verb, _ := strings.Cut(labels, `verb="`)
			verb, _, _ = strings.Cut(verb, `"`)
			out[verb] += v
		}
	}
	return out
}

// requestsSince an earlier scrape, by verb; those that were not sent are left out.
func (m metrics) requestsSince(before metrics, name string) map[string]float64 {
	out := m.requests(name)
	for verb, n := range before.requests(name) {
		out[verb] -= n
	}
	maps.DeleteFunc(out, func(_ string, n float64) bool { return n == 0 })
	return out
}

// writeNothing matches requests by verb that change nothing.
func writeNothing() types.GomegaMatcher {
	return SatisfyAll(
		Not(HaveKey(http.MethodPost)), Not(HaveKey(http.MethodPut)), Not(HaveKey(http.MethodPatch)), Not(HaveKey(http.MethodDelete)),
	)
}

// beWatchesOnly matches requests by verb of which all are watches.
func beWatchesOnly() types.GomegaMatcher {
	return WithTransform(func(in map[string]float64) map[string]float64 {
		out := maps.Clone(in)
		delete(out, "WATCH")
		return out
	}, BeEmpty())
}
