// SPDX-License-Identifier: Apache-2.0

package report

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestExceededBudgets(t *testing.T) {
	budget := Budget{Name: "x", Phase: Idle, Most: 2, Of: func(r *Result) *float64 { return r.IdleWrites }}
	large, positive := budget, budget
	large.Least, positive.Positive = 11, true
	type want struct{ Exceeded, Unchecked []string }
	cases := map[string]struct {
		reason string
		budget Budget
		phase  string
		writes *float64
		want   want
	}{
		"Within": {reason: "The limit itself is allowed.", budget: budget, phase: Idle, writes: new(2.0)},
		"Over": {
			reason: "The message has the figure and the limit.", budget: budget, phase: Idle, writes: new(3.0),
			want: want{Exceeded: []string{"x is 3, and may be 2"}},
		},
		"Unplayed": {reason: "There is no figure.", budget: budget, phase: Create, want: want{Unchecked: []string{"x: phase idle was not played"}}},
		"Few": {
			reason: "The budget is that of a larger fleet.", budget: large, phase: Idle, writes: new(3.0),
			want: want{Unchecked: []string{"x: there are fewer than 11 clusters"}},
		},
		"Nothing": {reason: "Nothing at all is within this budget.", budget: budget, phase: Idle, writes: new(0.0)},
		"Uncounted": {
			reason: "A figure that is always positive was not counted.", budget: positive, phase: Idle, writes: new(0.0),
			want: want{Exceeded: []string{"x is 0, so nothing was counted"}},
		},
		"Positive": {reason: "A figure was counted.", budget: positive, phase: Idle, writes: new(1.0)},
		"Lost": {
			reason: "A figure that is missing is not within its budget.", budget: budget, phase: Idle,
			want: want{Exceeded: []string{"x was not measured in phase idle"}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := &Result{Clusters: 10, IdleWrites: tc.writes, Phases: []Phase{{Name: tc.phase}}}
			got := want{Exceeded: r.Exceeded([]Budget{tc.budget}), Unchecked: r.Unchecked([]Budget{tc.budget})}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestBudgets checks that the budgets are different figures, and that none of them counts as checked for a run without phases.
func TestBudgets(t *testing.T) {
	budgets := Budgets(false)
	empty := &Result{Clusters: 1, Modules: 1}
	if got := empty.Unchecked(budgets); len(got) != len(budgets) {
		t.Errorf("of %d budgets, only these are not checked for an empty result: %v", len(budgets), got)
	}
	var names []string
	for _, b := range budgets {
		names = append(names, b.Name)
	}
	if slices.Sort(names); len(slices.Compact(slices.Clone(names))) != len(names) {
		t.Errorf("a name occurs twice: %v", names)
	}
}

// byHand has the budgets that no run of the continuous integration checks, because their phases take too long there. The benchmark with
// releases and KymaSets that is described in docs/benchmarks.md checks them.
var byHand = []string{
	"policy_control_plane_writes_per_kyma", "policy_target_writes_per_module", "failure_exposed beyond failure_budget", "kymaset_writes_per_cluster",
	"kymaset_change_writes_per_cluster", "kymaset_rest_writes", "clusters of the KymaSet that were created without a write",
	"clusters of the KymaSet that were changed without a write",
}

// runsOfCI returns results with the clusters and the phases of the runs of make test-fleet, which the continuous integration calls.
func runsOfCI(t *testing.T) []*Result {
	t.Helper()
	makefile, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	_, recipe, _ := strings.Cut(string(makefile), "\ntest-fleet:")
	recipe, _, _ = strings.Cut(recipe, "\n\n")
	var out []*Result
	for _, m := range regexp.MustCompile(`-clusters (\d+) (?:[^\n]| \\\n)*-gate (?:[^\n]|\\\n)*-phases (\S+)`).FindAllStringSubmatch(recipe, -1) {
		clusters, err := strconv.Atoi(m[1])
		if err != nil {
			t.Fatal(err)
		}
		r := &Result{Clusters: clusters}
		for _, name := range append([]string{Empty, Connect, Create}, strings.Split(m[2], ",")...) {
			r.Phases = append(r.Phases, Phase{Name: name})
		}
		out = append(out, r)
	}
	if want := strings.Count(recipe, "go run "); len(out) != want || want == 0 {
		t.Fatalf("of %d runs with a gate in make test-fleet, %d have phases", want, len(out))
	}
	return out
}

// TestBudgetsOfCI checks that the continuous integration checks each budget, except for those that are checked by hand.
func TestBudgetsOfCI(t *testing.T) {
	runs := runsOfCI(t)
	for _, b := range Budgets(false) {
		checked := slices.ContainsFunc(runs, func(r *Result) bool { return len(r.Unchecked([]Budget{b})) == 0 })
		if manual := slices.Contains(byHand, b.Name); checked == manual {
			t.Errorf("budget %q of phase %s: make test-fleet checks it: %t, it is on the list of those that are checked by hand: %t",
				b.Name, b.Phase, checked, manual)
		}
	}
}

// TestGoroutinesLeft checks that the gate notices a goroutine that is left for each removed cluster, and not a few that end late.
func TestGoroutinesLeft(t *testing.T) {
	cases := map[string]struct {
		reason                           string
		clusters, removed, before, after int
		exceeded                         bool
	}{
		"None":  {reason: "All goroutines of removed clusters have ended.", clusters: 1000, removed: 100, before: 1400, after: 1300},
		"All":   {reason: "No goroutine of a removed cluster has ended.", clusters: 1000, removed: 100, before: 1400, after: 1400, exceeded: true},
		"Late":  {reason: "Single goroutines don't belong to clusters.", clusters: 50, removed: 5, before: 450, after: 450},
		"Small": {reason: "Each removed cluster leaves two goroutines.", clusters: 50, removed: 5, before: 450, after: 455, exceeded: true},
		"CI":    {reason: "No goroutine of a removed cluster has ended.", clusters: 500, removed: 50, before: 900, after: 900, exceeded: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := &Result{Clusters: tc.clusters, Modules: 3, Phases: []Phase{{Name: Empty, Goroutines: 400}, {
				Name: Removal, Goroutines: float64(tc.after), Values: map[string]float64{Removed: float64(tc.removed), GoroutinesBefore: float64(tc.before)},
			}}}
			r.Summarize()
			got := strings.Join(r.Exceeded(Budgets(false)), "; ")
			if strings.HasPrefix(got, "goroutines_left_per_removed_cluster") != tc.exceeded {
				t.Errorf("%s\nexceeded: %q", tc.reason, got)
			}
		})
	}
}

// TestBudgetsOfReleases checks that the gate fails for too many writes or clusters, and for a count that is too low to be true.
func TestBudgetsOfReleases(t *testing.T) {
	within := Result{
		Clusters: 10, Modules: 2, HeapRest: new(1.0), PolicyTargetWrites: new(6.0), PolicyControlWrites: new(20.0), FailureExposed: new(2.0),
		FailureBudget: new(2.0), SetWrites: new(1.0), SetChange: new(1.0), SetRestWrites: new(0.0),
		Phases: []Phase{{Name: Profiles}, {Name: RolloutPolicy}, {Name: RolloutFailure}, {Name: Set}, {Name: SetTouched}, {Name: SetChanged}},
	}
	cases := map[string]struct {
		reason string
		change func(r *Result)
		want   string
	}{
		"Within":  {reason: "The limits are allowed.", change: func(*Result) {}},
		"Exposed": {reason: "The version reached too many clusters.", change: func(r *Result) { r.FailureExposed = new(3.0) }, want: "failure_exposed"},
		"Create":  {reason: "A Kyma was written twice.", change: func(r *Result) { r.SetWrites = new(1.1) }, want: "kymaset_writes_per_cluster"},
		"Change":  {reason: "A Kyma was written twice.", change: func(r *Result) { r.SetChange = new(1.1) }, want: "kymaset_change_writes_per_cluster"},
		"Rest":    {reason: "Nothing has changed.", change: func(r *Result) { r.SetRestWrites = new(1.0) }, want: "kymaset_rest_writes"},
		"Blind":   {reason: "Each Kyma needs a write.", change: func(r *Result) { r.SetChange = new(0.0) }, want: "changed without a write"},
		"Created": {reason: "Each Kyma needs a write.", change: func(r *Result) { r.SetWrites = new(0.0) }, want: "created without a write"},
		"Target":  {reason: "There are too many writes.", change: func(r *Result) { r.PolicyTargetWrites = new(100.0) }, want: "policy_target_writes"},
		"Heap": {
			reason: "Each cluster takes too much memory.", change: func(r *Result) { r.Clusters, r.HeapRest = 500, new(100.0) }, want: "heap_mib_rest",
		},
		"Small": {reason: "Most of the memory does not belong to the clusters.", change: func(r *Result) { r.Clusters, r.HeapRest = 50, new(100.0) }},
		"Control": {
			reason: "There are too many writes.", change: func(r *Result) { r.PolicyControlWrites = new(100.0) },
			want: "policy_control_plane_writes",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := within
			tc.change(&r)
			got := strings.Join(r.Exceeded(Budgets(false)), "; ")
			if tc.want == "" && got != "" || !strings.Contains(got, tc.want) || strings.Contains(got, "; ") {
				t.Errorf("%s\nwant %q, got %q", tc.reason, tc.want, got)
			}
		})
	}
}
