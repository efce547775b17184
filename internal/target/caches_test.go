// SPDX-License-Identifier: Apache-2.0

package target

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/crossplane-contrib/provider-kyma/internal/metrics"
	"github.com/crossplane-contrib/provider-kyma/internal/version"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
)

// TestCacheBytes checks that the caches of all connections share one budget, whose size is a metric.
func TestCacheBytes(t *testing.T) {
	s, m := newAPIServer(t), metrics.New(nil, version.Build{})
	p := NewPool(fakeInterpreter{}, WithMetrics(m))
	defer p.Close()
	sizes := []float64{testutil.ToFloat64(m.TargetCacheBytes)}
	for _, name := range []string{"a", "b"} {
		c := must[*Cluster](t)(p.Get(name, s.credentials(name, "")))
		c.Cache().Put(cluster.ObjectRef{Kind: "Secret", Name: name}, cluster.ObjectState{ResourceVersion: "1"})
		sizes = append(sizes, testutil.ToFloat64(m.TargetCacheBytes))
	}
	if sizes[0] != 0 || sizes[1] == 0 || sizes[2] != 2*sizes[1] {
		t.Errorf("want the size of two equal objects, got %v", sizes)
	}
	p.Close()
	if got := testutil.ToFloat64(m.TargetCacheBytes); got != 0 {
		t.Errorf("want nothing after all connections were closed, got %v", got)
	}
}
