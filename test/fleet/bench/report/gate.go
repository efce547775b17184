// SPDX-License-Identifier: Apache-2.0

package report

import "fmt"

// A Budget is the limit of a figure. Figures are numbers, bytes and ratios, but no times, which depend on the machine.
type Budget struct {
	// Name is the key of the figure, or describes what is derived from several.
	Name string
	// Phase is the phase that the figure comes from. If it was not played, the budget cannot be checked.
	Phase string
	// Most is the limit.
	Most float64
	// Positive is true if the figure is only 0 if nothing was counted, for example because a metric was renamed.
	Positive bool
	// Of returns the figure.
	Of func(r *Result) *float64
	// Least is the number of clusters from which the budget applies.
	Least int
}

const (
	// fleet is a number of clusters that take more memory than the provider itself.
	fleet = 500
	// late is a number of goroutines that do not belong to a removed cluster, but end late. It matters if few clusters are removed.
	late = 5
)

// Budgets returns the limits of a run with 50 to 500 clusters and 3 modules. A limit that the provider does not meet yet is the measured value
// plus a tenth or, for reconciles with real clusters, a fifth, and a comment states the aim. Objects of real clusters become ready in more
// steps, which cause reconciles.
func Budgets(isReal bool) []Budget {
	reconciles := 10.0
	if isReal {
		reconciles = 13.5
	}
	return append([]Budget{
		{Name: "idle_requests", Phase: Idle, Of: func(r *Result) *float64 { return r.IdleRequests }},
		{Name: "idle_writes", Phase: Idle, Of: func(r *Result) *float64 { return r.IdleWrites }},
		{Name: "restart_writes", Phase: Restart, Of: func(r *Result) *float64 { return r.RestartWrites }},
		{Name: "rotation_lists", Phase: Rotation, Of: func(r *Result) *float64 { return r.RotationLists }},
		// A rotation causes none, but some Manifests can be polled in this phase.
		{Name: "rotation_manifest_reconciles per Manifest", Phase: Rotation, Most: 0.05, Of: func(r *Result) *float64 {
			return times(r.RotationReconciles, 1/float64(r.Clusters*r.Modules))
		}},
		{Name: "new connections because of the rotation", Phase: Rotation, Of: func(r *Result) *float64 {
			return new(float64(r.phase(Rotation).NewConnections))
		}},
		// Nothing may be left. One goroutine for each removed cluster is a leak: that of its connection.
		{Name: "goroutines_left_per_removed_cluster, except for a few that end late", Phase: Removal, Most: 0.5, Of: (*Result).leaked},
		// The aim is 7.
		{Name: "target_requests_per_module", Phase: Create, Most: 9.6, Positive: true, Of: func(r *Result) *float64 { return r.TargetRequestsPerModule }},
		// The aim is 4.
		{Name: "target_requests_per_cluster", Phase: Create, Most: 11, Positive: true, Of: func(r *Result) *float64 { return r.TargetRequestsPerCluster }},
		// The aim is 20.
		{Name: "control_plane_requests_per_kyma", Phase: Create, Most: 27, Positive: true, Of: func(r *Result) *float64 { return r.ControlRequestsPerKyma }},
		// The aim is 10.
		{Name: "reconciles_per_kyma", Phase: Create, Most: reconciles, Positive: true, Of: func(r *Result) *float64 { return r.ReconcilesPerKyma }},
		// The aim is 3.
		{Name: "restart_requests_per_cluster", Phase: Restart, Most: 9.9, Positive: true, Of: func(r *Result) *float64 { return r.RestartRequests }},
		{Name: "goroutines per cluster", Phase: Idle, Most: 6, Positive: true, Of: (*Result).goroutinesPerCluster},
		// At rest, 10,000 clusters must fit into 2 GiB. The heap of 500 clusters takes about 115 KiB for each; the profile is a sample.
		{Name: "heap_mib_rest, as KiB for each of at least 500 clusters", Phase: Profiles, Most: 140, Least: fleet, Positive: true, Of: func(r *Result) *float64 {
			const kibi = 1024
			return times(r.HeapRest, kibi/float64(r.Clusters))
		}},
	}, budgetsOfReleases()...)
}

// budgetsOfReleases returns the limits of the phases with releases or a KymaSet.
func budgetsOfReleases() []Budget {
	return []Budget{
		// The aim is 4: the Kyma and, for each of 3 modules, its Manifest.
		{Name: "policy_control_plane_writes_per_kyma", Phase: RolloutPolicy, Most: 29, Positive: true, Of: func(r *Result) *float64 { return r.PolicyControlWrites }},
		// The five objects and the record of the release are written once.
		{Name: "policy_target_writes_per_module", Phase: RolloutPolicy, Most: 7.2, Positive: true, Of: func(r *Result) *float64 { return r.PolicyTargetWrites }},
		{Name: "failure_exposed beyond failure_budget", Phase: RolloutFailure, Of: func(r *Result) *float64 {
			if r.FailureExposed == nil || r.FailureBudget == nil {
				return nil
			}
			return new(*r.FailureExposed - *r.FailureBudget)
		}},
		{Name: "kymaset_writes_per_cluster", Phase: Set, Most: 1, Of: func(r *Result) *float64 { return r.SetWrites }},
		{Name: "kymaset_change_writes_per_cluster", Phase: SetChanged, Most: 1, Of: func(r *Result) *float64 { return r.SetChange }},
		{Name: "kymaset_rest_writes", Phase: SetTouched, Of: func(r *Result) *float64 { return r.SetRestWrites }},
		// Without these limits, the gate would not notice that the writes are not counted anymore.
		{Name: "clusters of the KymaSet that were created without a write", Phase: Set, Of: func(r *Result) *float64 { return without(r.SetWrites) }},
		{Name: "clusters of the KymaSet that were changed without a write", Phase: SetChanged, Of: func(r *Result) *float64 {
			return without(r.SetChange)
		}},
	}
}

// leaked returns the goroutines that are left for each removed cluster, without a few that end late.
func (r *Result) leaked() *float64 {
	if r.GoroutinesLeft == nil {
		return nil
	}
	return new(*r.GoroutinesLeft - late/r.phase(Removal).Values[Removed])
}

// goroutinesPerCluster returns the goroutines at rest beyond those without clusters.
func (r *Result) goroutinesPerCluster() *float64 {
	empty := r.phase(Empty)
	if r.GoroutinesRest == nil || empty == nil {
		return nil
	}
	return new((*r.GoroutinesRest - empty.Goroutines) / float64(r.Clusters))
}

// times returns a multiple of a figure.
func times(figure *float64, factor float64) *float64 {
	if figure == nil {
		return nil
	}
	return new(*figure * factor)
}

// without returns the share of the clusters that had no write.
func without(writesPerCluster *float64) *float64 {
	if writesPerCluster == nil {
		return nil
	}
	return new(1 - *writesPerCluster)
}

// Exceeded returns a message for each budget that the result exceeds, or whose figure was not measured although its phase was played.
func (r *Result) Exceeded(budgets []Budget) []string {
	var out []string
	for _, b := range budgets {
		if r.phase(b.Phase) == nil || r.Clusters < b.Least {
			continue
		}
		switch got := b.Of(r); {
		case got == nil:
			out = append(out, fmt.Sprintf("%s was not measured in phase %s", b.Name, b.Phase))
		case b.Positive && *got <= 0:
			out = append(out, fmt.Sprintf("%s is %.4g, so nothing was counted", b.Name, *got))
		case *got > b.Most:
			out = append(out, fmt.Sprintf("%s is %.4g, and may be %.4g", b.Name, *got, b.Most))
		}
	}
	return out
}

// Unchecked returns a message for each budget that does not apply to the run, because its phase was not played or there are too few clusters.
func (r *Result) Unchecked(budgets []Budget) []string {
	var out []string
	for _, b := range budgets {
		switch {
		case r.phase(b.Phase) == nil:
			out = append(out, fmt.Sprintf("%s: phase %s was not played", b.Name, b.Phase))
		case r.Clusters < b.Least:
			out = append(out, fmt.Sprintf("%s: there are fewer than %d clusters", b.Name, b.Least))
		}
	}
	return out
}
