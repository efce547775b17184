// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/crossplane-contrib/provider-kyma/test/bench/usage"
)

// mebi is the number of bytes in a MiB.
const mebi = 1 << 20

// Print prints a table of the phases, the figures of the run, and what the memory and the goroutines at rest belong to.
func (r *Result) Print(w io.Writer) {
	fmt.Fprintf(w, "\n%d clusters with a Kyma of %d modules each\n\n", r.Clusters, r.Modules)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	row := func(cells ...any) { fmt.Fprint(t, strings.Join(texts(cells), "\t")+"\t\n") }
	row("phase", "seconds", "CPU s", "child CPU s", "RSS MiB", "peak", "goroutines", "conns", "to clusters", "writes", "to control plane", "writes",
		"reconciles", "queue p50/p99 s", "edits p50/p99 s", "etcd MiB")
	for i := range r.Phases {
		p := &r.Phases[i]
		edits := ""
		if p.Edits != nil {
			edits = fmt.Sprintf("%.2f/%.2f (%d)", p.Edits.P50, p.Edits.P99, p.Edits.Count)
		}
		row(p.Name, p.Seconds, p.CPUSeconds, p.ChildCPUSeconds, p.RSS, p.PeakRSS, int(p.Goroutines), p.Connections, p.requests(), p.TargetWrites,
			int(p.ControlPlane.Sum()), int(p.ControlPlaneWrites), int(reconciles(p, "")),
			fmt.Sprintf("%.2f/%.2f", p.Queue.P50, p.Queue.P99), edits, p.EtcdBytes/mebi)
	}
	_ = t.Flush()
	for i := range r.Phases {
		p := &r.Phases[i]
		fmt.Fprintf(w, "\n%s: %s; to the control plane: %s", p.Name, numbers(p.Target), p.ControlPlane)
		if len(p.Values) > 0 {
			fmt.Fprintf(w, "; %s", usage.Requests(p.Values))
		}
		for _, priority := range slices.Sorted(maps.Keys(p.Waits)) {
			fmt.Fprintf(w, "; %s waits %.2f/%.2f s", priority, p.Waits[priority].P50, p.Waits[priority].P99)
		}
	}
	fmt.Fprintln(w)
	if created := r.phase(Create); created != nil {
		printCalls(w, created, float64(r.Clusters))
	}
	printShares(w, "memory at rest, MiB", r.Heap, 1.0/mebi)
	printShares(w, "goroutines at rest", r.Goroutines, 1)
	fmt.Fprintln(w)
}

// printCalls prints the calls of a phase per cluster.
func printCalls(w io.Writer, p *Phase, clusters float64) {
	fmt.Fprintf(w, "\nto the clusters in phase %s, per cluster:\n", p.Name)
	for _, call := range slices.Sorted(maps.Keys(p.Calls)) {
		fmt.Fprintf(w, "  %s %.2f\n", call, float64(p.Calls[call])/clusters)
	}
	fmt.Fprintf(w, "\nwrites to the control plane in phase %s, per cluster, with those of the benchmark:\n", p.Name)
	for _, call := range slices.Sorted(maps.Keys(p.ControlPlaneCalls)) {
		fmt.Fprintf(w, "  %s %.2f\n", call, p.ControlPlaneCalls[call]/clusters)
	}
}

// printShares prints the entries of a profile, if it was read.
func printShares(w io.Writer, title string, shares []Share, unit float64) {
	if len(shares) == 0 {
		return
	}
	fmt.Fprintf(w, "\n%s:\n", title)
	for _, s := range shares {
		fmt.Fprintf(w, "%10.2f  %s\n", s.Value*unit, s.Function)
	}
}

func numbers(m map[string]int) string {
	parts := []string{}
	for _, k := range slices.Sorted(maps.Keys(m)) {
		parts = append(parts, fmt.Sprintf("%s %d", k, m[k]))
	}
	return strings.Join(parts, ", ")
}

func texts(cells []any) []string {
	out := make([]string, 0, len(cells))
	for _, c := range cells {
		if f, ok := c.(float64); ok {
			out = append(out, fmt.Sprintf("%.1f", f))
			continue
		}
		out = append(out, fmt.Sprint(c))
	}
	return out
}
