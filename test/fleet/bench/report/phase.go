// SPDX-License-Identifier: Apache-2.0

package report

import (
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/crossplane-contrib/provider-kyma/test/bench/usage"
	"github.com/crossplane-contrib/provider-kyma/test/fleet/apiserver"
)

// A Phase is what happened in one phase of a run. All numbers are of this phase alone, unless stated otherwise.
type Phase struct {
	Name string `json:"name"`
	// Seconds is the time until the phase reached its goal, and QuietSeconds until the provider sent no more requests. It is -1 for a
	// phase that does not wait for that, or in vain.
	Seconds      float64 `json:"seconds"`
	QuietSeconds float64 `json:"quiet_seconds"`
	// CPUSeconds is the CPU time of the provider, and ChildCPUSeconds that of processes that rendered charts.
	CPUSeconds      float64 `json:"cpu_seconds"`
	ChildCPUSeconds float64 `json:"child_cpu_seconds"`
	// RSS is the resident memory of the provider at the end, and PeakRSS the highest during the phase, in MiB.
	RSS     float64 `json:"rss_mib"`
	PeakRSS float64 `json:"peak_rss_mib"`
	// Goroutines, Connections and Watches are the numbers at the end. The latter two are those of all clusters.
	Goroutines  float64 `json:"goroutines"`
	Connections int     `json:"connections"`
	Watches     int     `json:"watches"`
	// NewConnections is the number of connections that were opened.
	NewConnections int `json:"new_connections"`
	// Target is the number of requests to the clusters by verb, as counted there, and ControlPlane is the number of requests of the
	// provider to the control plane by method. Calls are the former by verb and resource.
	Target       map[string]int `json:"target_requests"`
	Calls        map[string]int `json:"target_calls"`
	ControlPlane usage.Requests `json:"control_plane_requests"`
	// ControlPlaneCalls is the number of writes to the control plane by verb, resource and subresource, as counted there, with those of
	// the benchmark.
	ControlPlaneCalls map[string]float64 `json:"control_plane_calls"`
	// Codes is the number of responses of the clusters by status code.
	Codes map[int]int `json:"target_codes"`
	// TargetWrites and ControlPlaneWrites are the numbers of requests that change something.
	TargetWrites       int     `json:"target_writes"`
	ControlPlaneWrites float64 `json:"control_plane_writes"`
	// Reconciles is the number of reconciles by controller. The quantiles are those of all controllers.
	Reconciles map[string]float64 `json:"reconciles"`
	Reconcile  Quantiles          `json:"reconcile_seconds"`
	Queue      Quantiles          `json:"queue_seconds"`
	// Waits are the times between when Kymas and Manifests were due and when they left the queue, by priority.
	Waits map[string]Quantiles `json:"queue_seconds_by_priority"`
	// Edits are the edits of users, if there were any.
	Edits *Edits `json:"edits,omitempty"`
	// EtcdBytes is the size of the database of the control plane at the end.
	EtcdBytes float64 `json:"etcd_bytes"`
	// Values are figures that only this phase has.
	Values map[string]float64 `json:"values,omitempty"`
}

// Quantiles are quantiles of a histogram, in seconds.
type Quantiles struct {
	P50 float64 `json:"p50"`
	P99 float64 `json:"p99"`
}

// Edits are the times from edits of Kymas until an object in the cluster shows them, in seconds.
type Edits struct {
	Count int     `json:"count"`
	P50   float64 `json:"p50_s"`
	P99   float64 `json:"p99_s"`
	Max   float64 `json:"max_s"`
	// TimedOut is the number of edits that were not shown in time. They count with the time until then.
	TimedOut int `json:"timed_out"`
}

// NewEdits returns the quantiles of the times of edits, or nil if there are none.
func NewEdits(took []time.Duration, timedOut int) *Edits {
	if len(took) == 0 {
		return nil
	}
	at := func(p float64) float64 { return usage.Percentile(took, p).Seconds() }
	return &Edits{Count: len(took), P50: at(50), P99: at(99), Max: at(100), TimedOut: timedOut}
}

// A Snapshot is a state of the provider and the clusters.
type Snapshot struct {
	Provider usage.Sample
	Target   apiserver.Count
	// ControlPlane are the metrics of the API server of the control plane.
	ControlPlane usage.Metrics
}

// Measure sets what happened between two snapshots, and the state in the latter one.
func (p *Phase) Measure(before, after Snapshot) {
	a, b := after.Provider, before.Provider
	p.CPUSeconds, p.ChildCPUSeconds = a.CPU-b.CPU, a.ChildCPU-b.ChildCPU
	p.RSS, p.PeakRSS = a.RSS, a.Peak
	p.Goroutines = a.Metrics.Sum("go_goroutines")
	p.Connections, p.Watches = after.Target.OpenConnections, after.Target.OpenWatches
	p.NewConnections = after.Target.Connections - before.Target.Connections
	p.Target, p.Calls = calls(before.Target, after.Target)
	p.Codes = minus(after.Target.Codes, before.Target.Codes)
	p.TargetWrites = after.Target.Writes - before.Target.Writes
	p.ControlPlane = a.Control.Minus(b.Control)
	p.ControlPlaneCalls = controlPlaneCalls(before.ControlPlane, after.ControlPlane)
	p.EtcdBytes = after.ControlPlane.Sum("apiserver_storage_size_bytes")
	p.ControlPlaneWrites = p.ControlPlane.Writes()
	p.Reconciles = usage.Requests(a.Reconciles).Minus(b.Reconciles)
	p.Reconcile = quantiles(a.Metrics, b.Metrics, "controller_runtime_reconcile_time_seconds")
	p.Queue = quantiles(a.Metrics, b.Metrics, "workqueue_queue_duration_seconds")
	const waits, label = "provider_kyma_queue_seconds", "priority"
	p.Waits = map[string]Quantiles{}
	earlier := b.Metrics.Histograms(waits, label)
	for priority, h := range a.Metrics.Histograms(waits, label) {
		if h = h.Minus(earlier[priority]); h[math.Inf(1)] > 0 {
			p.Waits[priority] = Quantiles{P50: h.Quantile(0.5), P99: h.Quantile(0.99)}
		}
	}
}

func quantiles(after, before usage.Metrics, metric string) Quantiles {
	h := after.Histogram(metric).Minus(before.Histogram(metric))
	return Quantiles{P50: h.Quantile(0.5), P99: h.Quantile(0.99)}
}

// calls returns the requests between two counts by verb, and by verb and resource.
func calls(before, after apiserver.Count) (byVerb, byCall map[string]int) {
	byVerb, byCall = map[string]int{}, map[string]int{}
	for call, n := range minus(after.Requests, before.Requests) {
		byVerb[call.Verb] += n
		byCall[call.Verb+" "+call.Resource] += n
	}
	return byVerb, byCall
}

// controlPlaneCalls returns the writes between two states of the metrics of the API server.
func controlPlaneCalls(before, after usage.Metrics) map[string]float64 {
	const metric = "apiserver_request_total"
	labels := []string{"verb", "resource", "subresource"}
	out := usage.Requests(after.Counts(metric, labels...)).Minus(before.Counts(metric, labels...))
	maps.DeleteFunc(out, func(call string, _ float64) bool {
		verb, _, _ := strings.Cut(call, " ")
		return slices.Contains([]string{"GET", "LIST", "WATCH", "WATCHLIST"}, verb)
	})
	return out
}

// minus returns the differences that are not 0.
func minus[K comparable](after, before map[K]int) map[K]int {
	out := map[K]int{}
	for k, n := range after {
		if n != before[k] {
			out[k] = n - before[k]
		}
	}
	return out
}

// requests returns the number of requests to the clusters, without those of the given verbs.
func (p *Phase) requests(but ...string) int {
	total := 0
	for _, n := range p.Target {
		total += n
	}
	for _, verb := range but {
		total -= p.Target[verb]
	}
	return total
}
