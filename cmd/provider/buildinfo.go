// SPDX-License-Identifier: Apache-2.0

package main

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/crossplane-contrib/provider-kyma/internal/version"
)

// newBuildInfo is a metric that says what runs.
func newBuildInfo(b version.Build) prometheus.Collector {
	g := prometheus.NewGauge(prometheus.GaugeOpts{
		Name:        "provider_kyma_build_info",
		Help:        "What the provider was built from, as labels. Always 1.",
		ConstLabels: prometheus.Labels{"version": b.Version, "commit": b.Commit, "goversion": b.Go},
	})
	g.Set(1)
	return g
}
