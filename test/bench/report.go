// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/crossplane-contrib/provider-kyma/test/bench/objects"
	"github.com/crossplane-contrib/provider-kyma/test/bench/usage"
)

// A result is the result of the benchmark. Numbers per install are averages over the Manifests.
type result struct {
	Manifests int `json:"manifests"`
	// Objects is the number of objects of one Manifest.
	Objects int `json:"objects"`
	// TargetRequests is the number of requests to the target, counted at the transport, with discovery and watches.
	TargetRequests float64 `json:"target_requests_per_install"`
	// Requests is the number of requests to the target and to the control plane.
	Requests float64 `json:"requests_per_install"`
	// ControlWrites is the number of requests to the control plane other than GET, HEAD and WATCH.
	ControlWrites float64 `json:"control_plane_writes_per_install"`
	// CPUSeconds is the CPU time of the provider, excluding its start.
	CPUSeconds float64 `json:"cpu_seconds_per_install"`
	// PeakRSS is the peak memory of the provider, in total.
	PeakRSS        float64 `json:"peak_rss_mib"`
	SecondsToReady float64 `json:"seconds_to_ready"`
	// IdleTargetRequests is the number of requests to the target other than WATCH.
	IdleTargetRequests float64 `json:"idle_target_requests"`
	// IdleWrites is the number of writes to both clusters.
	IdleWrites float64 `json:"idle_writes"`
	// ByVerb is the number of requests per install by verb, for target and control_plane.
	ByVerb map[string]usage.Requests `json:"by_verb"`

	// Kymas is the number of Kymas of three modules each, which are measured last.
	Kymas int `json:"kymas"`
	// KymaRequests and KymaWrites are the requests to the control plane for a Kyma and its Manifests.
	KymaRequests float64 `json:"kyma_requests_per_kyma"`
	KymaWrites   float64 `json:"kyma_writes_per_kyma"`
	// KymaReconciles is the number of reconciliations of a Kyma and its Manifests until all are Ready.
	KymaReconciles float64 `json:"kyma_reconciles_to_ready"`
	// KymaLagP50 and KymaLagP99 are the delays, in milliseconds, from a change of condition Ready of a Manifest to that
	// of its Kyma.
	KymaLagP50 float64 `json:"kyma_condition_lag_p50_ms"`
	KymaLagP99 float64 `json:"kyma_condition_lag_p99_ms"`
	// KymaIdleWrites is the number of writes to both clusters.
	KymaIdleWrites float64 `json:"kyma_idle_writes"`

	kymaSeconds, kymaTarget, kymaCPU, kymaReconcilesAll float64
	kymaByVerb                                          usage.Requests
	kymaByController                                    []string
	lags                                                int

	startPeak, startCPU, idleCPU float64
	idle                         map[string]usage.Requests
}

// print prints the result and the reference values, which are for 200 releases on two cores shared with the servers.
func (r *result) print(w io.Writer, o options) {
	n := float64(r.Manifests)
	fmt.Fprintf(w, "\n%d Manifests of a chart of %d objects, one target, %s %s/%s, %d cores shared with the servers\n\n",
		r.Manifests, r.Objects, runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU())
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	row := func(cells ...string) { fmt.Fprintln(t, strings.Join(cells, "\t")+"\t") }
	row("", "measured", "aim", "provider-helm 1.4*", "original*")
	row("requests to the target per install", f("%.2f", r.TargetRequests), f("%d", r.Objects+4), "46 (no discovery)", "35 (84 with discovery)")
	row("all requests per install", f("%.2f", r.Requests), "18", "", "")
	row("writes to the control plane per install", f("%.2f", r.ControlWrites), "", "", "")
	row("CPU seconds per install", f("%.4f", r.CPUSeconds), "0.03", "0.34", "0.05 to 0.095")
	row("peak memory per install, MiB", f("%.2f", r.PeakRSS/n), "1", "6.5", "1.9 to 3.7")
	row("peak memory, MiB", f("%.0f", r.PeakRSS), "", "", "")
	row("seconds until all are Ready", f("%.1f", r.SecondsToReady), "12", "54", "16 to 28")
	row("idle: requests to the target but watches", f("%.0f", r.IdleTargetRequests), "0", "", "3500")
	row("idle: writes to both clusters", f("%.0f", r.IdleWrites), "0", "", "")
	_ = t.Flush()
	fmt.Fprintf(w, "\n* for 200; the aims for time and memory are for 200 too.\n")
	fmt.Fprintf(w, "The start of the provider is not in these numbers: %.2f CPU seconds, %.0f MiB peak (%.2f MiB per install above it).\n",
		r.startCPU, r.startPeak, (r.PeakRSS-r.startPeak)/n)
	fmt.Fprintf(w, "Requests and CPU time are counted from before the first create until the provider was quiet after the last was Ready.\n")
	fmt.Fprintf(w, "Idle for %s: %.2f CPU seconds.\n\n", o.idle, r.idleCPU)
	for _, where := range []string{"target", "control_plane"} {
		fmt.Fprintf(w, "%-14s per install: %s\n", where, r.ByVerb[where])
		fmt.Fprintf(w, "%-14s while idle:  %s\n", where, r.idle[where])
	}
	fmt.Fprintln(w)
}

// printKymas prints the cost of Kymas.
func (r *result) printKymas(w io.Writer) {
	if r.Kymas == 0 {
		return
	}
	fmt.Fprintf(w, "%d Kymas of %d modules of %d objects, the same target, after the Manifests\n\n", r.Kymas, kymaModules, r.Objects+1)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	row := func(cells ...string) { fmt.Fprintln(t, strings.Join(cells, "\t")+"\t") }
	row("", "measured", "aim")
	row("requests to the control plane per Kyma", f("%.2f", r.KymaRequests), "")
	row("of these, writes", f("%.2f", r.KymaWrites), "")
	row("requests to the target per Kyma", f("%.2f", r.kymaTarget), f("%d", kymaModules*(r.Objects+1+4)))
	row("reconciles of a Kyma and its Manifests until Ready", f("%.2f", r.KymaReconciles), "12")
	row("the same until the provider was quiet", f("%.2f", r.kymaReconcilesAll), "")
	row("CPU seconds per Kyma", f("%.4f", r.kymaCPU), "")
	row("seconds until all are Ready", f("%.1f", r.kymaSeconds), "")
	row("from a Manifest's condition to the Kyma's, median, ms", f("%.1f", r.KymaLagP50), "")
	row("99th percentile, ms", f("%.1f", r.KymaLagP99), "1000")
	row("idle: writes to both clusters", f("%.0f", r.KymaIdleWrites), "0")
	_ = t.Flush()
	slices.Sort(r.kymaByController)
	fmt.Fprintf(w, "\ncontrol_plane  per Kyma: %s\n", r.kymaByVerb)
	fmt.Fprintf(w, "reconciles     per Kyma: %s\n", strings.Join(r.kymaByController, ", "))
	fmt.Fprintf(w, "The lag is of %d changes, up to %d Kymas at a time.\n\n", r.lags, objects.Creators)
}

func f(format string, v any) string { return fmt.Sprintf(format, v) }
