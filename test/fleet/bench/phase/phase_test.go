// SPDX-License-Identifier: Apache-2.0

package phase

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/test/fleet/bench/report"
	"github.com/crossplane-contrib/provider-kyma/test/fleet/bench/world"
)

// TestAll checks that the names of phases are unique, and that the phases that others need come first.
func TestAll(t *testing.T) {
	var names []string
	seen := map[string]bool{}
	for _, s := range All() {
		if seen[s.Name] || s.Do == nil {
			t.Errorf("phase %q occurs twice, or does nothing", s.Name)
		}
		seen[s.Name] = true
		names = append(names, s.Name)
	}
	if diff := cmp.Diff([]string{report.Empty, report.Connect, report.Create}, names[:3]); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
	for _, name := range []string{
		report.Idle, report.EditsAtRest, report.Rollout, report.RolloutEdits, report.Rotation, report.Restart, report.RolloutPolicy,
		report.RolloutPolicyEdits, report.RolloutFailure, report.Set, report.SetTouched, report.SetChanged, "fault-replaced-1%", "fault-replaced-10%",
	} {
		if !seen[name] {
			t.Errorf("there is no phase %q, from which a figure is derived, or which is documented", name)
		}
	}
	// After the removal, there are fewer clusters, and after the takeover, the provider is not quiet.
	if diff := cmp.Diff([]string{report.Removal, report.Takeover}, names[len(names)-2:]); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}

func TestShare(t *testing.T) {
	cases := map[string]struct {
		reason            string
		clusters, percent int
		want              int
	}{
		"Tenth":   {reason: "It is a share of the clusters.", clusters: 50, percent: 10, want: 5},
		"Few":     {reason: "At least one cluster fails.", clusters: 50, percent: 1, want: 1},
		"Two":     {reason: "At least one cluster works.", clusters: 2, percent: 100, want: 1},
		"Removed": {reason: "Removed clusters do not count.", clusters: 20, percent: 50, want: 5},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := &Run{World: &world.World{Options: world.Options{Clusters: tc.clusters}}}
			if name == "Removed" {
				r.removed = 10
			}
			if got := r.share(tc.percent); got != tc.want {
				t.Errorf("%s\nwant %d, got %d", tc.reason, tc.want, got)
			}
		})
	}
}

// TestExposure checks that the phase with a version that fails can fail.
func TestExposure(t *testing.T) {
	cases := map[string]struct {
		reason   string
		received map[string][]string
		want     string
	}{
		"Budget":  {reason: "Each module has its own budget.", received: map[string][]string{"m0": {"a", "b"}, "m1": {"b", "c"}}},
		"Over":    {reason: "One module exceeds it.", received: map[string][]string{"m0": {"a"}, "m1": {"a", "b", "c"}}, want: "3 clusters received"},
		"Other":   {reason: "A cluster of a later wave has it.", received: map[string][]string{"m0": {"a", "x"}}, want: "cluster x is not"},
		"Nothing": {reason: "Nothing was tested.", received: map[string][]string{}, want: "no cluster received"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			err := exposure{budget: 2, wave: []string{"a", "b", "c"}}.check(tc.received)
			if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("%s\nwant %q, got %v", tc.reason, tc.want, err)
			}
		})
	}
}

// TestUntouched checks that a phase can fail because of objects in a cluster that responds instead of another one.
func TestUntouched(t *testing.T) {
	cases := map[string]struct {
		reason  string
		created map[string][]string
		want    string
	}{
		"None": {reason: "The provider did not write."},
		"Some": {
			reason:  "The error has the number of clusters, and the objects in the first one.",
			created: map[string][]string{"c2": {"secrets a/b"}, "c1": {"configmaps c/d"}},
			want:    "objects were created in 2 clusters that responded instead of others, first in that of c1: [configmaps c/d]",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := ""
			if err := untouched(tc.created); err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestFailing checks that the clusters of the last phase do not fail again at once, and that there are clusters that never fail.
func TestFailing(t *testing.T) {
	for clusters, want := range map[int][][2]int{
		2:   {{0, 1}, {0, 1}},
		50:  {{0, 5}, {5, 10}, {10, 15}, {15, 20}, {20, 25}, {0, 5}},
		105: {{0, 10}, {10, 20}, {20, 30}, {30, 40}, {40, 50}, {0, 10}},
	} {
		r := &Run{World: &world.World{Options: world.Options{Clusters: clusters}}}
		var got [][2]int
		for range want {
			first, last := r.failing(10)
			got = append(got, [2]int{first, last})
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%d clusters: -want, +got:\n%s", clusters, diff)
		}
	}
}

// TestCanaries checks that the first wave consists of clusters that were not removed.
func TestCanaries(t *testing.T) {
	r := &Run{World: &world.World{Options: world.Options{Clusters: 16}}, removed: 1}
	if diff := cmp.Diff([]string{world.Cluster(0), world.Cluster(5), world.Cluster(10)}, r.canaries()); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
	if got := world.Budget(40); got != 2 {
		t.Errorf("want a budget of 2 of 40, got %d", got)
	}
	if got := world.Budget(3); got != 1 {
		t.Errorf("want a budget of at least 1, got %d", got)
	}
}

// TestPaceOfEdits checks that there are about as many edits as requested, unless that would be a load of its own.
func TestPaceOfEdits(t *testing.T) {
	phases := []report.Phase{{Name: report.Create, Seconds: 20}, {Name: "slow", Seconds: 50}, {Name: "fast", Seconds: 1}}
	r := &Run{Options: Options{Edits: 10}, Result: &report.Result{Phases: phases}}
	for phase, want := range map[string]time.Duration{"slow": 5 * time.Second, "fast": time.Second, "none": 2 * time.Second} {
		if got := r.pace(phase, time.Second); got != want {
			t.Errorf("phase %s: want %s, got %s", phase, want, got)
		}
	}
}

// TestChoose checks that a Kyma has one edit at a time.
func TestChoose(t *testing.T) {
	u := &users{first: 2, last: 4, busy: map[int]bool{}}
	seen := map[int]bool{}
	for range 100 {
		if c, ok := u.choose(); ok {
			if seen[c] || c < 2 || c > 3 {
				t.Fatalf("cluster %d is chosen", c)
			}
			seen[c] = true
		}
	}
	if len(seen) != 2 {
		t.Errorf("clusters %v are chosen", seen)
	}
}
