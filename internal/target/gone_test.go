// SPDX-License-Identifier: Apache-2.0

package target

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/crossplane-contrib/provider-kyma/internal/metrics"
	"github.com/crossplane-contrib/provider-kyma/internal/version"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
)

// TestGone checks that a pool keeps nothing of clusters without consumers.
func TestGone(t *testing.T) {
	s, m := newAPIServer(t), metrics.New(nil, version.Build{})
	p := NewPool(fakeInterpreter{}, WithMetrics(m))
	defer p.Close()
	before := runtime.NumGoroutine()
	names := []string{"a", "b", "c"}
	for _, name := range names {
		c := must[*Cluster](t)(p.Get(name, s.credentials(name, "")))
		trackSecrets(t, c)
		c.Cache().Put(cluster.ObjectRef{Kind: "Secret", Name: name}, cluster.ObjectState{ResourceVersion: "1"})
	}
	if s.open() < len(names) {
		t.Fatalf("want a connection for each cluster, got %d", s.open())
	}
	for _, name := range names {
		p.Forget(name)
	}
	eventually(t, "no connection is left", func() bool { return s.open() == 0 })
	eventually(t, "no goroutine is left", func() bool { return runtime.NumGoroutine() <= before })
	p.mu.Lock()
	defer p.mu.Unlock()
	got := fmt.Sprint(len(p.clusters), len(p.consumers), testutil.ToFloat64(m.TargetConnections), testutil.ToFloat64(m.TargetCacheBytes))
	if diff := cmp.Diff("0 0 0 0", got); diff != "" {
		t.Errorf("clusters, consumers, connections and bytes: -want, +got:\n%s", diff)
	}
}
