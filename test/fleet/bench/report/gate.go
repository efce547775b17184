// SPDX-License-Identifier: Apache-2.0

package report

import "fmt"

// A Budget is the limit of a figure. Figures are numbers, bytes and ratios, but no times, which depend on the machine.
type Budget struct {
	// Name is the key of the figure, or describes what is derived from several.
	Name string
	// Most is the limit.
	Most float64
	// Of returns the figure.
	Of func(r *Result) float64
}

// fleet is a number of clusters that take more memory than the provider itself.
const fleet = 500

// Budgets returns the limits of a run with 50 to 500 clusters and 3 modules. A limit that the provider does not meet yet is the measured value
// plus a fifth, and a comment states the aim. Objects of real clusters become ready in more steps, which cause reconciles.
func Budgets(isReal bool) []Budget {
	reconciles := 10.0
	if isReal {
		reconciles = 13.5
	}
	return []Budget{
		{"idle_requests", 0, func(r *Result) float64 { return r.IdleRequests }},
		{"idle_writes", 0, func(r *Result) float64 { return r.IdleWrites }},
		{"restart_writes", 0, func(r *Result) float64 { return r.RestartWrites }},
		{"rotation_lists", 0, func(r *Result) float64 { return r.RotationLists }},
		// A rotation causes none, but some Manifests can be polled in this phase.
		{"rotation_manifest_reconciles per Manifest", 0.05, func(r *Result) float64 {
			return r.RotationReconciles / float64(r.Clusters*r.Modules)
		}},
		{"new connections because of the rotation", 0, func(r *Result) float64 { return float64(r.phase(Rotation).NewConnections) }},
		// The aim is 6, but some goroutines end late.
		{"goroutines_left_per_removed_cluster", 6, func(r *Result) float64 { return r.GoroutinesLeft }},
		// The aim is 7.
		{"target_requests_per_module", 10.6, func(r *Result) float64 { return r.TargetRequestsPerModule }},
		// The aim is 4.
		{"target_requests_per_cluster", 10.8, func(r *Result) float64 { return r.TargetRequestsPerCluster }},
		// The aim is 20.
		{"control_plane_requests_per_kyma", 30, func(r *Result) float64 { return r.ControlRequestsPerKyma }},
		// The aim is 10.
		{"reconciles_per_kyma", reconciles, func(r *Result) float64 { return r.ReconcilesPerKyma }},
		// The aim is 3.
		{"restart_requests_per_cluster", 10.8, func(r *Result) float64 { return r.RestartRequests }},
		{"goroutines per cluster", 6, func(r *Result) float64 {
			return (r.GoroutinesRest - r.phase(Empty).Goroutines) / float64(r.Clusters)
		}},
		// At rest, 10,000 clusters must fit into 2 GiB.
		{"heap_mib_rest, as KiB for each of at least 500 clusters", 175, func(r *Result) float64 {
			if r.Clusters < fleet {
				return 0
			}
			return r.HeapRest * 1024 / float64(r.Clusters) //nolint:mnd // KiB of a MiB.
		}},
		// The aim is 4: the Kyma and, for each of 3 modules, its Manifest.
		{"policy_control_plane_writes_per_kyma", 31, func(r *Result) float64 { return r.PolicyControlWrites }},
		// The five objects and the record of the release are written once.
		{"policy_target_writes_per_module", 7.2, func(r *Result) float64 { return r.PolicyTargetWrites }},
		{"failure_exposed beyond failure_budget", 0, func(r *Result) float64 { return r.FailureExposed - r.FailureBudget }},
		{"kymaset_writes_per_cluster", 1, func(r *Result) float64 { return r.SetWrites }},
		{"kymaset_change_writes_per_cluster", 1, func(r *Result) float64 { return r.SetChange }},
		{"kymaset_rest_writes", 0, func(r *Result) float64 { return r.SetRestWrites }},
		// Without this limit, the gate would not notice that the writes are not counted anymore.
		{"clusters of the KymaSet without a write", 0, func(r *Result) float64 {
			return max(r.without(Set, r.SetWrites), r.without(SetChanged, r.SetChange))
		}},
	}
}

// without returns the share of the clusters that had no write in a phase, or 0 if there was no such phase.
func (r *Result) without(phase string, writesPerCluster float64) float64 {
	if r.phase(phase).Name == "" {
		return 0
	}
	return 1 - writesPerCluster
}

// Exceeded returns a message for each budget that the result exceeds.
func (r *Result) Exceeded(budgets []Budget) []string {
	var out []string
	for _, b := range budgets {
		if got := b.Of(r); got > b.Most {
			out = append(out, fmt.Sprintf("%s is %.4g, and may be %.4g", b.Name, got, b.Most))
		}
	}
	return out
}
