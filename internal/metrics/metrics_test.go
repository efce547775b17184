// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/crossplane-contrib/provider-kyma/internal/version"
)

func TestMetrics(t *testing.T) {
	r := prometheus.NewRegistry()
	m := New(r, version.Build{Version: "v1", Commit: "c", Go: "go1"})
	m.TargetConnections.Inc()
	m.TargetStates.Add("", 1)
	m.TargetCacheBytes.Set(5)
	m.TargetRequests.Count("GET", 200)
	m.ControlPlaneRequests.Count("WATCH", 0)
	want := `
# HELP provider_kyma_build_info Build information as labels. Always 1.
# TYPE provider_kyma_build_info gauge
provider_kyma_build_info{commit="c",goversion="go1",version="v1"} 1
# HELP provider_kyma_control_plane_requests_total Total number of requests to the control plane, by method (WATCH for watches, REVIEW for access reviews) and status code (0 if there was no response).
# TYPE provider_kyma_control_plane_requests_total counter
provider_kyma_control_plane_requests_total{code="0",verb="WATCH"} 1
# HELP provider_kyma_target_cache_bytes Approximate size of the states of the watched objects of all target clusters, in bytes.
# TYPE provider_kyma_target_cache_bytes gauge
provider_kyma_target_cache_bytes 5
# HELP provider_kyma_target_connection_states Number of open connections to target clusters, by state (Connecting, Connected, Unreachable, Unauthorized or WrongCluster).
# TYPE provider_kyma_target_connection_states gauge
provider_kyma_target_connection_states{state="Connecting"} 1
# HELP provider_kyma_target_connections Number of open connections to target clusters.
# TYPE provider_kyma_target_connections gauge
provider_kyma_target_connections 1
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

// MustRegister collects the names of collectors that have one metric each.
func (n *names) MustRegister(collectors ...prometheus.Collector) {
	for _, c := range collectors {
		d := make(chan *prometheus.Desc, 1)
		c.Describe(d)
		n.found = append(n.found, fullName.FindStringSubmatch((<-d).String())[1])
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
	for _, row := range regexp.MustCompile("(?m)^\\| `(provider_kyma_\\w+)` \\|").FindAllStringSubmatch(string(page), -1) {
		rows = append(rows, row[1])
	}
	slices.Sort(n.found)
	slices.Sort(rows)
	if diff := cmp.Diff(n.found, rows); diff != "" || len(rows) == 0 {
		t.Errorf("-metrics, +rows of docs/operations.md:\n%s", diff)
	}
}
