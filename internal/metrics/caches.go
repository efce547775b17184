// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/crossplane-contrib/provider-kyma/internal/bytelru"
)

// caches collects the use of all caches that are limited by size.
type caches struct{ hits, misses, bytes *prometheus.Desc }

func newCaches() *caches {
	desc := func(name, help string) *prometheus.Desc {
		return prometheus.NewDesc("provider_kyma_cache_"+name, help, []string{"cache"}, nil)
	}
	return &caches{
		hits:   desc("hits_total", "Total number of lookups in a cache in memory that found a value, by cache."),
		misses: desc("misses_total", "Total number of lookups in a cache in memory that found no value, by cache."),
		bytes:  desc("bytes", "Approximate size of the entries of a cache in memory, in bytes, by cache."),
	}
}

// Describe sends the descriptions of the metrics.
func (c *caches) Describe(out chan<- *prometheus.Desc) {
	out <- c.hits
	out <- c.misses
	out <- c.bytes
}

// Collect sends the current values.
func (c *caches) Collect(out chan<- prometheus.Metric) {
	for name, u := range bytelru.Usages() {
		out <- prometheus.MustNewConstMetric(c.hits, prometheus.CounterValue, float64(u.Hits), name)
		out <- prometheus.MustNewConstMetric(c.misses, prometheus.CounterValue, float64(u.Misses), name)
		out <- prometheus.MustNewConstMetric(c.bytes, prometheus.GaugeValue, float64(u.Bytes), name)
	}
}
