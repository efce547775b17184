// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/test/controlplane/process"
)

// controlRequests is the metric of the provider's requests to the control plane.
const controlRequests = "provider_kyma_control_plane_requests_total"

// metrics holds the samples of one scrape, by name with labels as in the exposition format: name{a="b"}.
type metrics map[string]float64

// scrape reads the metrics of the provider.
func (e *environment) scrape(ctx context.Context) (metrics, error) {
	text, err := process.Get(ctx, http.DefaultClient, "http://"+e.metrics+"/metrics")
	if err != nil {
		return nil, errors.Wrap(err, "cannot read the metrics")
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

// sum returns the sum of all samples of a metric whose labels contain all these texts.
func (m metrics) sum(name string, labels ...string) float64 {
	total := 0.0
	for sample, v := range m {
		matches := sample == name || strings.HasPrefix(sample, name+"{")
		for _, l := range labels {
			matches = matches && strings.Contains(sample, l)
		}
		if matches {
			total += v
		}
	}
	return total
}

// writes returns the number of writes to the control plane since an earlier scrape.
func (m metrics) writes(before metrics) float64 {
	total := 0.0
	for _, verb := range []string{http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
		label := `verb="` + verb + `"`
		total += m.sum(controlRequests, label) - before.sum(controlRequests, label)
	}
	return total
}
