// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/crossplane-contrib/provider-kyma/internal/bytelru"
	"github.com/crossplane-contrib/provider-kyma/internal/version"
)

func TestMetrics(t *testing.T) {
	r := prometheus.NewRegistry()
	m := New(r, version.Build{Version: "v1", Commit: "c", Go: "go1"})
	m.TargetConnections.Inc()
	m.TargetStates.Add("", 1)
	m.TargetCacheBytes.Set(5)
	m.TargetWaitSeconds.Add(0.5)
	m.TargetRequests.Count("GET", 200)
	m.ControlPlaneRequests.Count("WATCH", 0)
	m.Events.Count("Manifest", "Warning", "DriftDetected")
	m.ChangeSeconds.Observe("Installed", 20*time.Second)
	m.StepSeconds.Observe("apply", 20*time.Millisecond)
	m.QueueSeconds.Observe("managed/kyma", "Rollout", 20*time.Millisecond)
	c := bytelru.New[string, string]("tests", 1<<20)
	c.AddSized("a", "x", 44)
	for _, key := range []string{"a", "a", "b"} {
		c.Get(key)
	}
	want := `
# HELP provider_kyma_build_info Build information as labels. Always 1.
# TYPE provider_kyma_build_info gauge
provider_kyma_build_info{commit="c",goversion="go1",version="v1"} 1
# HELP provider_kyma_cache_bytes Approximate size of the entries of a cache in memory, in bytes, by cache.
# TYPE provider_kyma_cache_bytes gauge
provider_kyma_cache_bytes{cache="tests"} 300
# HELP provider_kyma_cache_hits_total Total number of lookups in a cache in memory that found a value, by cache.
# TYPE provider_kyma_cache_hits_total counter
provider_kyma_cache_hits_total{cache="tests"} 2
# HELP provider_kyma_cache_misses_total Total number of lookups in a cache in memory that found no value, by cache.
# TYPE provider_kyma_cache_misses_total counter
provider_kyma_cache_misses_total{cache="tests"} 1
# HELP provider_kyma_control_plane_requests_total Total number of requests to the control plane, by method (WATCH for watches, REVIEW for access reviews) and status code (0 if there was no response).
# TYPE provider_kyma_control_plane_requests_total counter
provider_kyma_control_plane_requests_total{code="0",verb="WATCH"} 1
# HELP provider_kyma_events_total Total number of events that the provider recorded, by kind of the object, type (Normal or Warning) and reason.
# TYPE provider_kyma_events_total counter
provider_kyma_events_total{kind="Manifest",reason="DriftDetected",type="Warning"} 1
# HELP provider_kyma_module_change_seconds Duration of module changes, by type (Installed, Upgraded, Updated, RolledBack or Removed).
# TYPE provider_kyma_module_change_seconds histogram
provider_kyma_module_change_seconds_bucket{change="Installed",le="1"} 0
provider_kyma_module_change_seconds_bucket{change="Installed",le="5"} 0
provider_kyma_module_change_seconds_bucket{change="Installed",le="10"} 0
provider_kyma_module_change_seconds_bucket{change="Installed",le="15"} 0
provider_kyma_module_change_seconds_bucket{change="Installed",le="30"} 1
provider_kyma_module_change_seconds_bucket{change="Installed",le="60"} 1
provider_kyma_module_change_seconds_bucket{change="Installed",le="120"} 1
provider_kyma_module_change_seconds_bucket{change="Installed",le="300"} 1
provider_kyma_module_change_seconds_bucket{change="Installed",le="600"} 1
provider_kyma_module_change_seconds_bucket{change="Installed",le="1800"} 1
provider_kyma_module_change_seconds_bucket{change="Installed",le="3600"} 1
provider_kyma_module_change_seconds_bucket{change="Installed",le="+Inf"} 1
provider_kyma_module_change_seconds_sum{change="Installed"} 20
provider_kyma_module_change_seconds_count{change="Installed"} 1
# HELP provider_kyma_queue_seconds Duration for which objects wait for a reconcile after they are due, by controller and priority (User, Install, State, Rollout or Resync).
# TYPE provider_kyma_queue_seconds histogram
provider_kyma_queue_seconds_bucket{controller="managed/kyma",priority="Rollout",le="0.001"} 0
provider_kyma_queue_seconds_bucket{controller="managed/kyma",priority="Rollout",le="0.004"} 0
provider_kyma_queue_seconds_bucket{controller="managed/kyma",priority="Rollout",le="0.016"} 0
provider_kyma_queue_seconds_bucket{controller="managed/kyma",priority="Rollout",le="0.064"} 1
provider_kyma_queue_seconds_bucket{controller="managed/kyma",priority="Rollout",le="0.256"} 1
provider_kyma_queue_seconds_bucket{controller="managed/kyma",priority="Rollout",le="1.024"} 1
provider_kyma_queue_seconds_bucket{controller="managed/kyma",priority="Rollout",le="4.096"} 1
provider_kyma_queue_seconds_bucket{controller="managed/kyma",priority="Rollout",le="16.384"} 1
provider_kyma_queue_seconds_bucket{controller="managed/kyma",priority="Rollout",le="65.536"} 1
provider_kyma_queue_seconds_bucket{controller="managed/kyma",priority="Rollout",le="262.144"} 1
provider_kyma_queue_seconds_bucket{controller="managed/kyma",priority="Rollout",le="1048.576"} 1
provider_kyma_queue_seconds_bucket{controller="managed/kyma",priority="Rollout",le="4194.304"} 1
provider_kyma_queue_seconds_bucket{controller="managed/kyma",priority="Rollout",le="+Inf"} 1
provider_kyma_queue_seconds_sum{controller="managed/kyma",priority="Rollout"} 0.02
provider_kyma_queue_seconds_count{controller="managed/kyma",priority="Rollout"} 1
# HELP provider_kyma_shards Number of shards that this replica holds. Always 0 if there is only one shard.
# TYPE provider_kyma_shards gauge
provider_kyma_shards 0
# HELP provider_kyma_step_seconds Duration of the steps of Manifest reconciles, by step (apply, pull or render), including steps that only read a cache.
# TYPE provider_kyma_step_seconds histogram
provider_kyma_step_seconds_bucket{step="apply",le="0.001"} 0
provider_kyma_step_seconds_bucket{step="apply",le="0.004"} 0
provider_kyma_step_seconds_bucket{step="apply",le="0.016"} 0
provider_kyma_step_seconds_bucket{step="apply",le="0.064"} 1
provider_kyma_step_seconds_bucket{step="apply",le="0.256"} 1
provider_kyma_step_seconds_bucket{step="apply",le="1.024"} 1
provider_kyma_step_seconds_bucket{step="apply",le="4.096"} 1
provider_kyma_step_seconds_bucket{step="apply",le="16.384"} 1
provider_kyma_step_seconds_bucket{step="apply",le="65.536"} 1
provider_kyma_step_seconds_bucket{step="apply",le="+Inf"} 1
provider_kyma_step_seconds_sum{step="apply"} 0.02
provider_kyma_step_seconds_count{step="apply"} 1
# HELP provider_kyma_target_cache_bytes Approximate size of the cached states of watched objects in all target clusters, in bytes.
# TYPE provider_kyma_target_cache_bytes gauge
provider_kyma_target_cache_bytes 5
# HELP provider_kyma_target_connection_states Number of connections to target clusters, by state (Connecting, Connected, Unreachable, Unauthorized, WrongCluster or Parked).
# TYPE provider_kyma_target_connection_states gauge
provider_kyma_target_connection_states{state="Connecting"} 1
# HELP provider_kyma_target_connections Number of open connections to target clusters.
# TYPE provider_kyma_target_connections gauge
provider_kyma_target_connections 1
# HELP provider_kyma_target_read_wait_seconds_total Total time for which the provider delayed reading from connections to target clusters that sent too much data, in seconds.
# TYPE provider_kyma_target_read_wait_seconds_total counter
provider_kyma_target_read_wait_seconds_total 0.5
# HELP provider_kyma_target_requests_total Total number of requests to target clusters, by method (WATCH for watches) and status code (0 if there was no response).
# TYPE provider_kyma_target_requests_total counter
provider_kyma_target_requests_total{code="200",verb="GET"} 1
`
	if err := testutil.GatherAndCompare(r, strings.NewReader(want)); err != nil {
		t.Error(err)
	}
}

// names is a registerer that collects the names of metrics.
type names struct {
	prometheus.Registerer

	found []string
}

var fullName = regexp.MustCompile(`fqName: "(\w+)"`)

// MustRegister collects the names of collectors.
func (n *names) MustRegister(collectors ...prometheus.Collector) {
	for _, c := range collectors {
		all := make(chan *prometheus.Desc, 10)
		c.Describe(all)
		close(all)
		for d := range all {
			n.found = append(n.found, fullName.FindStringSubmatch(d.String())[1])
		}
	}
}

// TestDocumented checks that the table in docs/operations.md lists each metric.
func TestDocumented(t *testing.T) {
	n := &names{}
	New(n, version.Build{})
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "operations.md"))
	if err != nil {
		t.Fatal(err)
	}
	var rows []string
	for _, row := range regexp.MustCompile("(?m)^\\| `((?:provider_kyma|crossplane)_\\w+)` \\|").FindAllStringSubmatch(string(page), -1) {
		rows = append(rows, row[1])
	}
	slices.Sort(n.found)
	slices.Sort(rows)
	if diff := cmp.Diff(n.found, rows); diff != "" || len(rows) == 0 {
		t.Errorf("-metrics, +rows of docs/operations.md:\n%s", diff)
	}
}
