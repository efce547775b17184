// SPDX-License-Identifier: Apache-2.0

package report

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/crossplane-contrib/provider-kyma/test/bench/usage"
	"github.com/crossplane-contrib/provider-kyma/test/fleet/apiserver"
)

// keysOf returns the keys of a result in its file.
func keysOf(t *testing.T, r *Result) []string {
	t.Helper()
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	file := map[string]any{}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	return slices.Sorted(maps.Keys(file))
}

// TestKeys checks the keys that readers of the file depend on: that of a figure is only there if its phase was played.
func TestKeys(t *testing.T) {
	cases := map[string]struct {
		reason string
		phase  Phase
		want   []string
	}{
		"None":  {reason: "Nothing was measured."},
		"Other": {reason: "No figure comes from this phase.", phase: Phase{Name: "restart-edit", TargetWrites: 5}},
		"Empty": {reason: "The provider has no clusters yet.", phase: Phase{Name: Empty}, want: []string{"rss_mib_empty"}},
		"Create": {reason: "Without phase empty, the growth of the database is not known.", phase: Phase{Name: Create}, want: []string{
			"control_plane_requests_per_kyma", "cpu_seconds_per_module", "reconciles_per_kyma", "target_requests_per_cluster", "target_requests_per_module",
		}},
		"Idle": {reason: "A measured 0 is in the file.", phase: Phase{Name: Idle}, want: []string{
			"goroutines_rest", "idle_requests", "idle_writes", "rss_mib_rest",
		}},
		"Edits": {
			reason: "The edits are at rest.", phase: Phase{Name: EditsAtRest, Edits: &Edits{}},
			want: []string{"edit_p50_s_rest", "edit_p99_s_rest"},
		},
		"NoEdits": {reason: "No edit was measured.", phase: Phase{Name: EditsAtRest}},
		"RolloutEdits": {
			reason: "The edits are those of a rollout.", phase: Phase{Name: RolloutEdits, Edits: &Edits{}},
			want: []string{"edit_p50_s_rollout", "edit_p99_s_rollout"},
		},
		"Rotation": {
			reason: "A measured 0 is in the file.", phase: Phase{Name: Rotation},
			want: []string{"rotation_lists", "rotation_manifest_reconciles"},
		},
		"Restart": {
			reason: "A measured 0 is in the file.", phase: Phase{Name: Restart},
			want: []string{"restart_requests_per_cluster", "restart_writes"},
		},
		"Policy": {reason: "It has no edits.", phase: Phase{Name: RolloutPolicy}, want: []string{
			"policy_control_plane_requests_per_kyma", "policy_control_plane_writes_per_kyma", "policy_s", "policy_target_requests_per_module",
			"policy_target_writes_per_module",
		}},
		"PolicyEdits": {
			reason: "It only has edits.", phase: Phase{Name: RolloutPolicyEdits, Edits: &Edits{}},
			want: []string{"edit_p50_s_policy", "edit_p99_s_policy"},
		},
		"Failure":    {reason: "A measured 0 is in the file.", phase: Phase{Name: RolloutFailure}, want: []string{"failure_budget", "failure_exposed"}},
		"Set":        {reason: "A measured 0 is in the file.", phase: Phase{Name: Set}, want: []string{"kymaset_writes_per_cluster"}},
		"SetTouched": {reason: "A measured 0 is in the file.", phase: Phase{Name: SetTouched}, want: []string{"kymaset_rest_writes"}},
		"SetChanged": {reason: "A measured 0 is in the file.", phase: Phase{Name: SetChanged}, want: []string{"kymaset_change_writes_per_cluster"}},
		"Removal": {
			reason: "Without phase empty, the goroutines of clusters are not known.",
			phase:  Phase{Name: Removal, Values: map[string]float64{Removed: 1}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := &Result{Clusters: 10, Modules: 2, Phases: []Phase{tc.phase}}
			r.Summarize()
			want := append([]string{"clusters", "modules", "phases", "rss_mib_peak"}, tc.want...)
			if diff := cmp.Diff(slices.Sorted(slices.Values(want)), keysOf(t, r)); diff != "" {
				t.Errorf("%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestPrintUnplayed checks that a run without most phases can be printed, and that it claims nothing about them.
func TestPrintUnplayed(t *testing.T) {
	out := &strings.Builder{}
	r := &Result{Clusters: 10, Modules: 2, Phases: []Phase{{Name: Empty}}}
	r.Summarize()
	r.Print(out)
	for _, title := range []string{"in phase create", "at rest"} {
		if strings.Contains(out.String(), title) {
			t.Errorf("the text has a part %q:\n%s", title, out)
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
		Clusters: 10, Modules: 2, RSSEmpty: new(90.0), RSSRest: new(150.0), RSSPeak: 200, GoroutinesRest: new(350.0),
		TargetRequestsPerModule: new(6.0), TargetRequestsPerCluster: new(8.0), ControlRequestsPerKyma: new(30.0),
		ReconcilesPerKyma: new(7.0), EtcdBytesPerKyma: new(500.0),
		CPUPerModule: new(0.2), IdleRequests: new(6.0), IdleWrites: new(4.0), RestartWrites: new(7.0), RestartRequests: new(8.0),
		RotationLists: new(4.0), RotationReconciles: new(8.0),
		GoroutinesLeft: new(5.0), EditP50Rest: new(0.1), EditP99Rest: new(0.2), EditP50Rollout: new(1.0), EditP99Rollout: new(2.0),
		PolicyTargetRequests: new(7.0), PolicyTargetWrites: new(5.0), PolicyControlRequests: new(6.0), PolicyControlWrites: new(5.0), PolicySeconds: new(9.0),
		EditP50Policy: new(3.0),
		EditP99Policy: new(4.0), FailureExposed: new(2.0), FailureBudget: new(3.0), SetWrites: new(1.0), SetChange: new(1.5), SetRestWrites: new(3.0),
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

// TestPublished checks that the published results have the figures that follow from their phases, and no others.
func TestPublished(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "..", "..", "..", "docs", "benchmarks", "fleet-*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no results: %v", err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		published := &Result{}
		if err := json.Unmarshal(data, published); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		want := &Result{
			Clusters: published.Clusters, Modules: published.Modules, Heap: published.Heap, Goroutines: published.Goroutines, Phases: published.Phases,
		}
		if want.phase(Profiles) != nil {
			want.HeapRest = published.HeapRest
		}
		want.Summarize()
		if diff := cmp.Diff(want, published); diff != "" {
			t.Errorf("%s: -want, +got:\n%s", filepath.Base(file), diff)
		}
	}
}
