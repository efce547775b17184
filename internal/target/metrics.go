// SPDX-License-Identifier: Apache-2.0

package target

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
)

// Metrics of all connections together. They carry no label of a cluster, so that their number does not grow with the
// fleet. Whoever makes them registers them.
type Metrics struct {
	connections prometheus.Gauge
	requests    *prometheus.CounterVec
}

var _ prometheus.Collector = &Metrics{}

// NewMetrics returns metrics that count from zero.
func NewMetrics() *Metrics {
	return &Metrics{
		connections: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "provider_kyma_target_connections",
			Help: "Target clusters that the provider holds a connection to.",
		}),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "provider_kyma_target_requests_total",
			Help: "Requests sent to target clusters, by method (WATCH for watches) and status code (0 if there was no answer).",
		}, []string{"verb", "code"}),
	}
}

// Describe the metrics.
func (m *Metrics) Describe(ch chan<- *prometheus.Desc) {
	m.connections.Describe(ch)
	m.requests.Describe(ch)
}

// Collect the metrics.
func (m *Metrics) Collect(ch chan<- prometheus.Metric) {
	m.connections.Collect(ch)
	m.requests.Collect(ch)
}

func (m *Metrics) count(verb string, code int) {
	m.requests.WithLabelValues(verb, strconv.Itoa(code)).Inc()
}
