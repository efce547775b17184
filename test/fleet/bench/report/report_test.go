// SPDX-License-Identifier: Apache-2.0

package report

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/crossplane-contrib/provider-kyma/test/bench/usage"
	"github.com/crossplane-contrib/provider-kyma/test/fleet/apiserver"
)

// TestKeys checks the keys that readers of the file depend on.
func TestKeys(t *testing.T) {
	data, err := json.Marshal(&Result{})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]any{}
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{
		"clusters", "modules", "rss_mib_empty", "rss_mib_rest", "rss_mib_peak", "goroutines_rest", "target_requests_per_module",
		"control_plane_requests_per_kyma", "idle_requests", "idle_writes", "restart_writes", "edit_p50_s_rest", "edit_p99_s_rest",
		"edit_p50_s_rollout", "edit_p99_s_rollout", "phases", "policy_target_writes_per_module", "policy_control_plane_writes_per_kyma", "policy_s",
		"edit_p99_s_policy", "failure_exposed", "failure_budget", "kymaset_writes_per_cluster", "kymaset_change_writes_per_cluster",
		"kymaset_rest_writes",
	} {
		if _, ok := got[key]; !ok {
			t.Errorf("the file has no key %q", key)
		}
	}
}

func TestSummarize(t *testing.T) {
	r := Result{Clusters: 10, Modules: 2, Phases: []Phase{
		{Name: Empty, RSS: 90, PeakRSS: 91, Goroutines: 100, EtcdBytes: 1000},
		{
			Name: Create, PeakRSS: 200, CPUSeconds: 3, ChildCPUSeconds: 1, EtcdBytes: 6000,
			Target: map[string]int{"get": 40, "apply": 100, "list": 30, "watch": 30},
			Calls: map[string]int{
				"get /version": 10, "get namespaces": 10, "get secrets": 20, "apply configmaps": 100, "list configmaps": 30, "watch configmaps": 30,
			},
			ControlPlane: usage.Requests{"PATCH": 300, usage.Watch: 5},
			Reconciles:   map[string]float64{"managed/kyma.x": 30, "managed/manifest.x": 40, "providerconfig/y": 9},
		},
		{
			Name: Idle, RSS: 150, PeakRSS: 160, Goroutines: 350, Target: map[string]int{"watch": 7, "get": 2}, TargetWrites: 1,
			ControlPlane: usage.Requests{"PATCH": 3, "GET": 1, usage.Watch: 5}, ControlPlaneWrites: 3,
		},
		{Name: EditsAtRest, Edits: &Edits{P50: 0.1, P99: 0.2}},
		{Name: RolloutEdits, Edits: &Edits{P50: 1, P99: 2}},
		{Name: Rotation, Target: map[string]int{"list": 4}, Reconciles: map[string]float64{"managed/manifest.x": 8, "managed/kyma.x": 1}},
		{Name: Restart, Target: map[string]int{"list": 40, "watch": 40}, TargetWrites: 2, ControlPlaneWrites: 5},
		{
			Name: RolloutPolicy, Seconds: 9, Target: map[string]int{"get": 40, "apply": 100, "watch": 7}, TargetWrites: 100,
			ControlPlane: usage.Requests{"PATCH": 50, "GET": 10, usage.Watch: 5}, ControlPlaneWrites: 50,
		},
		{Name: RolloutPolicyEdits, Edits: &Edits{P50: 3, P99: 4}},
		{Name: RolloutFailure, Values: map[string]float64{Exposed: 2, Budgeted: 3}},
		{Name: Set, ControlPlaneCalls: map[string]float64{"APPLY kymas ": 10, "PUT kymas ": 20}},
		{Name: SetTouched, TargetWrites: 1, ControlPlaneWrites: 2},
		{Name: SetChanged, ControlPlaneCalls: map[string]float64{"APPLY kymas ": 15}},
		{Name: Removal, Goroutines: 330, Values: map[string]float64{"removed": 1, "goroutines_before": 350}},
	}}
	want := Result{
		Clusters: 10, Modules: 2, RSSEmpty: 90, RSSRest: 150, RSSPeak: 200, GoroutinesRest: 350,
		TargetRequestsPerModule: 6, TargetRequestsPerCluster: 8, ControlRequestsPerKyma: 30, ReconcilesPerKyma: 7, EtcdBytesPerKyma: 500,
		CPUPerModule: 0.2, IdleRequests: 6, IdleWrites: 4, RestartWrites: 7, RestartRequests: 8, RotationLists: 4, RotationReconciles: 8,
		GoroutinesLeft: 5, EditP50Rest: 0.1, EditP99Rest: 0.2, EditP50Rollout: 1, EditP99Rollout: 2,
		PolicyTargetRequests: 7, PolicyTargetWrites: 5, PolicyControlRequests: 6, PolicyControlWrites: 5, PolicySeconds: 9, EditP50Policy: 3,
		EditP99Policy: 4, FailureExposed: 2, FailureBudget: 3, SetWrites: 1, SetChange: 1.5, SetRestWrites: 3,
	}
	r.Summarize()
	if diff := cmp.Diff(want, r, cmpopts.IgnoreFields(Result{}, "Phases")); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
	out := &strings.Builder{}
	r.Print(out)
	if !strings.Contains(out.String(), "1.00/2.00") || !strings.Contains(out.String(), "apply configmaps 10.00") {
		t.Errorf("the table lacks edits or calls:\n%s", out)
	}
}

func TestExceededBudgets(t *testing.T) {
	budgets := []Budget{{Name: "x", Most: 2, Of: func(r *Result) float64 { return r.IdleWrites }}}
	cases := map[string]struct {
		reason string
		writes float64
		want   []string
	}{
		"Within": {reason: "The limit itself is allowed.", writes: 2},
		"Over":   {reason: "The message has the figure and the limit.", writes: 3, want: []string{"x is 3, and may be 2"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, (&Result{IdleWrites: tc.writes}).Exceeded(budgets)); diff != "" {
				t.Errorf("%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestBudgets checks that the budgets are different figures, which an empty result does not exceed.
func TestBudgets(t *testing.T) {
	if got := (&Result{Clusters: 1, Modules: 1}).Exceeded(Budgets(false)); len(got) > 0 {
		t.Errorf("an empty result exceeds budgets: %v", got)
	}
	var names []string
	for _, b := range Budgets(false) {
		names = append(names, b.Name)
	}
	if slices.Sort(names); len(slices.Compact(slices.Clone(names))) != len(names) {
		t.Errorf("a name occurs twice: %v", names)
	}
}

// TestBudgetsOfReleases checks that the gate fails for too many writes or clusters, and for a count that is too low to be true.
func TestBudgetsOfReleases(t *testing.T) {
	within := Result{
		Clusters: 10, Modules: 2, FailureExposed: 2, FailureBudget: 2, SetWrites: 1, SetChange: 1, Phases: []Phase{{Name: Set}, {Name: SetChanged}},
	}
	cases := map[string]struct {
		reason string
		change func(r *Result)
		want   string
	}{
		"Within":  {reason: "The limits are allowed.", change: func(*Result) {}},
		"Exposed": {reason: "The version reached too many clusters.", change: func(r *Result) { r.FailureExposed = 3 }, want: "failure_exposed"},
		"Create":  {reason: "A Kyma was written twice.", change: func(r *Result) { r.SetWrites = 1.1 }, want: "kymaset_writes_per_cluster"},
		"Change":  {reason: "A Kyma was written twice.", change: func(r *Result) { r.SetChange = 1.1 }, want: "kymaset_change_writes_per_cluster"},
		"Rest":    {reason: "Nothing has changed.", change: func(r *Result) { r.SetRestWrites = 1 }, want: "kymaset_rest_writes"},
		"Blind":   {reason: "Each Kyma needs a write.", change: func(r *Result) { r.SetChange = 0 }, want: "without a write"},
		"Target":  {reason: "There are too many writes.", change: func(r *Result) { r.PolicyTargetWrites = 100 }, want: "policy_target_writes"},
		"Heap":    {reason: "Each cluster takes too much memory.", change: func(r *Result) { r.Clusters, r.HeapRest = 500, 100 }, want: "heap_mib_rest"},
		"Small":   {reason: "Most of the memory does not belong to the clusters.", change: func(r *Result) { r.Clusters, r.HeapRest = 50, 100 }},
		"Control": {reason: "There are too many writes.", change: func(r *Result) { r.PolicyControlWrites = 100 }, want: "policy_control_plane_writes"},
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

// waits returns the metrics of a priority with which n objects waited for at most 2 s.
func waits(priority string, n int) usage.Metrics {
	const series = "provider_kyma_queue_seconds_bucket{priority=%q,le=%q} %d\n"
	return usage.Metrics(fmt.Sprintf(series, priority, "2", n) + fmt.Sprintf(series, priority, "+Inf", n))
}

func TestMeasure(t *testing.T) {
	call := func(verb, resource string) apiserver.Call { return apiserver.Call{Verb: verb, Resource: resource} }
	before := Snapshot{
		Provider: usage.Sample{CPU: 1, Control: usage.Requests{"PATCH": 1}, Metrics: "go_goroutines 5\n" + waits("User", 1) + waits("Rollout", 3)},
		Target:   apiserver.Count{Requests: map[apiserver.Call]int{call("get", "a"): 1}, Writes: 1, Connections: 2},
		ControlPlane: `apiserver_request_total{code="200",resource="kymas",subresource="",verb="PUT"} 1` + "\n" +
			`apiserver_request_total{code="200",resource="kymas",subresource="",verb="LIST"} 1` + "\n",
	}
	after := Snapshot{
		Provider: usage.Sample{CPU: 3, ChildCPU: 1, RSS: 10, Peak: 20, Control: usage.Requests{"PATCH": 4, "GET": 1}, Metrics: "go_goroutines 9\n" + waits("User", 5) + waits("Rollout", 3)},
		Target: apiserver.Count{
			Requests: map[apiserver.Call]int{call("get", "a"): 2, call("get", "b"): 1, call("apply", "b"): 3}, Codes: map[int]int{200: 5}, Writes: 4,
			Connections: 5, OpenConnections: 3, OpenWatches: 2,
		},
		ControlPlane: `apiserver_request_total{code="200",resource="kymas",subresource="",verb="PUT"} 3` + "\n" +
			`apiserver_request_total{code="200",resource="kymas",subresource="status",verb="PUT"} 4` + "\n" +
			`apiserver_request_total{code="200",resource="kymas",subresource="",verb="LIST"} 9` + "\n" +
			`apiserver_storage_size_bytes{storage_cluster_id="x"} 4096` + "\n",
	}
	p := Phase{Name: "x"}
	p.Measure(before, after)
	want := Phase{
		Name: "x", CPUSeconds: 2, ChildCPUSeconds: 1, RSS: 10, PeakRSS: 20, Goroutines: 9, Connections: 3, Watches: 2, NewConnections: 3,
		Target: map[string]int{"get": 2, "apply": 3}, Calls: map[string]int{"get a": 1, "get b": 1, "apply b": 3},
		Codes: map[int]int{200: 5}, TargetWrites: 3, ControlPlane: usage.Requests{"PATCH": 3, "GET": 1}, ControlPlaneWrites: 3,
		ControlPlaneCalls: map[string]float64{"PUT kymas ": 2, "PUT kymas status": 4}, EtcdBytes: 4096,
		Reconciles: map[string]float64{}, Waits: map[string]Quantiles{"User": {P50: 1, P99: 1.98}},
	}
	if diff := cmp.Diff(want, p); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}

func TestNewEdits(t *testing.T) {
	if got := NewEdits(nil, 0); got != nil {
		t.Errorf("without edits, there are no quantiles: %v", got)
	}
	want := &Edits{Count: 3, P50: 2, P99: 9, Max: 9, TimedOut: 1}
	if diff := cmp.Diff(want, NewEdits([]time.Duration{9 * time.Second, time.Second, 2 * time.Second}, 1)); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}

func TestShares(t *testing.T) {
	heap := strings.Join([]string{
		"heap profile: 3: 40 [9: 99] @ heap/1048576",
		"10: 10485760 [20: 9999999] @ 0x1 0x2",
		"#\t0x1\tcrypto/tls.(*Conn).Read+0x1\tx.go:1",
		"#\t0x2\tgithub.com/crossplane-contrib/provider-kyma/internal/target.f+0x2\t\ty.go:2",
		"",
		"2: 2097152 [2: 2097152] @ 0x3 0x4",
		"#\t0x3\tbytes.Clone+0x1\t\tx.go:1",
		"#\t0x4\tgithub.com/crossplane-contrib/provider-kyma/internal/target.f+0x2\ty.go:2",
		"",
		"0: 0 [2: 2097152] @ 0x5",
		"#\t0x5\tmain.gone+0x1\tx.go:1",
		"# runtime.MemStats",
	}, "\n")
	mib := func(n float64) float64 { return math.Round(n * (1 << 20) / (1 - math.Exp(-2))) }
	got, bytes, err := HeapShares(heap)
	if err != nil {
		t.Fatal(err)
	}
	want := []Share{{Function: "crypto/tls", Value: mib(10)}, {Function: "internal/target.f", Value: mib(2)}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("heap: -want, +got:\n%s", diff)
	}
	if sum := mib(10) + mib(2); math.Abs(bytes-sum) > 2 {
		t.Errorf("want a sum of %v, got %v", sum, bytes)
	}
	goroutines := "goroutine profile: total 3\n2 @ 0x1 0x2\n# labels: {\"a\":\"b\"}\n#\t0x1\tx.wait+0x1\tx.go:1\n#\t0x2\tx.run+0x1\tx.go:1\n\n" +
		"1 @ 0x1\n#\t0x1\tmain.main+0x1\tx.go:1\n"
	got, n, err := GoroutineShares(goroutines)
	if err != nil || n != 3 {
		t.Fatal(n, err)
	}
	if diff := cmp.Diff([]Share{{Function: "x.run", Value: 2}, {Function: "main.main", Value: 1}}, got); diff != "" {
		t.Errorf("goroutines: -want, +got:\n%s", diff)
	}
}
