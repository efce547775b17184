// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"cmp"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/crossplane-contrib/provider-kyma/internal/version"
)

// Metrics contains the metrics of the provider. No metric has a label for a cluster or a Manifest, so the number of series
// doesn't grow with the fleet.
type Metrics struct {
	// objects and modules are the metrics of managed resources.
	objects objectVectors
	modules *modules

	// Shards is the number of shards that this process holds.
	Shards prometheus.Gauge

	// TargetConnections is the number of open connections to target clusters.
	TargetConnections prometheus.Gauge

	// TargetStates is the number of these connections in each state.
	TargetStates States

	// TargetCacheBytes is the size of what is kept of the objects of all clusters.
	TargetCacheBytes prometheus.Gauge

	// TargetWaitSeconds is how long reads from target clusters waited because the clusters sent too much.
	TargetWaitSeconds prometheus.Counter

	// TargetRequests counts the requests to target clusters.
	TargetRequests Requests

	// ControlPlaneRequests counts the requests to the control plane.
	ControlPlaneRequests Requests

	// ChangeSeconds measures how long changes of modules took, by their type.
	ChangeSeconds Durations

	// StepSeconds measures the duration of the steps of Manifest reconciles: apply, render or pull.
	StepSeconds Durations

	// QueueSeconds measures how long objects wait in the queues of controllers, by controller and priority.
	QueueSeconds Waits

	// Events counts the events of the provider, including those that the control plane merges or rejects.
	Events Events

	// EventsDropped counts the events that were not written, by cause.
	EventsDropped Counters

	// BuildInfo has the version, the commit and the Go version as labels.
	BuildInfo prometheus.Gauge
}

// New returns metrics that start at zero, and registers them unless r is nil. It panics if a metric with one of the names is
// already registered.
func New(r prometheus.Registerer, b version.Build) *Metrics {
	f := promauto.With(r)
	if r != nil {
		r.MustRegister(newCaches())
	}
	return &Metrics{
		objects: newObjectVectors(f),
		modules: newModules(f),
		Shards: f.NewGauge(prometheus.GaugeOpts{
			Name: "provider_kyma_shards",
			Help: "Number of shards that this replica holds. Always 0 if there is only one shard.",
		}),
		TargetConnections: f.NewGauge(prometheus.GaugeOpts{
			Name: "provider_kyma_target_connections",
			Help: "Number of open connections to target clusters.",
		}),
		TargetStates: States{f.NewGaugeVec(prometheus.GaugeOpts{
			Name: "provider_kyma_target_connection_states",
			Help: "Number of connections to target clusters, by state (Connecting, Connected, Unreachable, Unauthorized, WrongCluster or Parked).",
		}, []string{"state"})},
		TargetCacheBytes: f.NewGauge(prometheus.GaugeOpts{
			Name: "provider_kyma_target_cache_bytes",
			Help: "Approximate size of the cached states of watched objects in all target clusters, in bytes.",
		}),
		TargetWaitSeconds: newTargetWaits(f),
		TargetRequests: Requests{f.NewCounterVec(prometheus.CounterOpts{
			Name: "provider_kyma_target_requests_total",
			Help: "Total number of requests to target clusters, by method (WATCH for watches) and status code (0 if there was no response).",
		}, []string{"verb", "code"})},
		ControlPlaneRequests: Requests{f.NewCounterVec(prometheus.CounterOpts{
			Name: "provider_kyma_control_plane_requests_total",
			Help: "Total number of requests to the control plane, by method (WATCH for watches, REVIEW for access reviews) and status code " +
				"(0 if there was no response).",
		}, []string{"verb", "code"})},
		ChangeSeconds: Durations{f.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "provider_kyma_module_change_seconds",
			Help:    "Duration of module changes, by type (Installed, Upgraded, Updated, RolledBack or Removed).",
			Buckets: seconds,
		}, []string{"change"})},
		StepSeconds: Durations{f.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "provider_kyma_step_seconds",
			Help:    "Duration of the steps of Manifest reconciles, by step (apply, pull or render), including steps that only read a cache.",
			Buckets: prometheus.ExponentialBuckets(0.001, 4, 9),
		}, []string{"step"})},
		QueueSeconds: Waits{f.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "provider_kyma_queue_seconds",
			Help:    "Duration for which objects wait for a reconcile after they are due, by controller and priority (User, Install, State, Rollout or Resync).",
			Buckets: prometheus.ExponentialBuckets(0.001, 4, 12),
		}, []string{"controller", "priority"})},
		Events: Events{f.NewCounterVec(prometheus.CounterOpts{
			Name: "provider_kyma_events_total",
			Help: "Total number of events that the provider recorded, by kind of the object, type (Normal or Warning) and reason.",
		}, []string{"kind", "type", "reason"})},
		EventsDropped: Counters{f.NewCounterVec(prometheus.CounterOpts{
			Name: "provider_kyma_events_dropped_total",
			Help: "Total number of events that were not written to the control plane, by cause (Full, Expired, Rejected, Frequent or Stopped).",
		}, []string{"cause"})},
		BuildInfo: newBuildInfo(f, b),
	}
}

func newTargetWaits(f promauto.Factory) prometheus.Counter {
	return f.NewCounter(prometheus.CounterOpts{
		Name: "provider_kyma_target_read_wait_seconds_total",
		Help: "Total time for which the provider delayed reading from connections to target clusters that sent too much data, in seconds.",
	})
}

// newBuildInfo returns a metric with the value 1.
func newBuildInfo(f promauto.Factory, b version.Build) prometheus.Gauge {
	g := f.NewGauge(prometheus.GaugeOpts{
		Name:        "provider_kyma_build_info",
		Help:        "Build information as labels. Always 1.",
		ConstLabels: prometheus.Labels{"version": b.Version, "commit": b.Commit, "goversion": b.Go},
	})
	g.Set(1)
	return g
}

// States counts connections by state.
type States struct{ *prometheus.GaugeVec }

// Add adds to the number of connections in a state. An empty state counts as Connecting.
func (s States) Add(state string, n float64) {
	s.WithLabelValues(cmp.Or(state, "Connecting")).Add(n)
}

// Durations measures durations by one label.
type Durations struct{ *prometheus.HistogramVec }

// Observe adds a duration.
func (d Durations) Observe(label string, took time.Duration) {
	d.WithLabelValues(label).Observe(took.Seconds())
}

// Of returns a function that adds a duration with a label.
func (d Durations) Of(label string) func(took time.Duration) {
	return func(took time.Duration) { d.Observe(label, took) }
}

// Waits are the durations of waits by controller and priority.
type Waits struct{ *prometheus.HistogramVec }

// Observe adds a wait.
func (w Waits) Observe(controller, priority string, waited time.Duration) {
	w.WithLabelValues(controller, priority).Observe(waited.Seconds())
}

// Events counts events by kind, type and reason.
type Events struct{ *prometheus.CounterVec }

// Count counts an event.
func (e Events) Count(kind, eventType, reason string) {
	e.WithLabelValues(kind, eventType, reason).Inc()
}

// Counters count by one label.
type Counters struct{ *prometheus.CounterVec }

// Count adds one to the counter of a label.
func (c Counters) Count(label string) { c.WithLabelValues(label).Inc() }

// Requests counts requests by verb and status code.
type Requests struct{ *prometheus.CounterVec }

// Count counts a request. The code is 0 if there was no response.
func (r Requests) Count(verb string, code int) {
	r.WithLabelValues(verb, strconv.Itoa(code)).Inc()
}
