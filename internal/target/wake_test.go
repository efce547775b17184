// SPDX-License-Identifier: Apache-2.0

package target

import (
	"runtime"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/metrics"
	"github.com/crossplane-contrib/provider-kyma/internal/target/transport"
	"github.com/crossplane-contrib/provider-kyma/internal/version"
)

// TestPoolWakes checks that only its connection probes a cluster that is not connected, and that the consumers of the cluster
// are called when it responds.
func TestPoolWakes(t *testing.T) {
	s := newAPIServer(t)
	woken := make(chan string, 10)
	m := metrics.New(nil, version.Build{})
	p := NewPool(fakeInterpreter{}, WithMetrics(m), WithOnSettled(func(consumer string) { woken <- consumer }))
	defer p.Close()
	goroutines := runtime.NumGoroutine()
	c := must[*Cluster](t)(p.Get("ns/a", s.credentials("t", "")))
	must[*Cluster](t)(p.Get("ns/b", s.credentials("t", "")))
	if n := runtime.NumGoroutine(); n > goroutines { // Goroutines of other tests can still end.
		t.Errorf("want no goroutine before the cluster is used, got %d", n-goroutines)
	}
	for range 100 {
		if e := (*transport.NotConnectedError)(nil); !errors.As(c.Ready(), &e) && c.Ready() != nil {
			t.Fatalf("want NotConnectedError, got %v", c.Ready())
		}
	}
	got := []string{<-woken, <-woken}
	slices.Sort(got)
	if diff := cmp.Diff([]string{"ns/a", "ns/b"}, got); diff != "" {
		t.Errorf("woken: -want, +got:\n%s", diff)
	}
	if err := c.Ready(); err != nil {
		t.Errorf("want a connected cluster, got %v", err)
	}
	eventually(t, "the version is known from the probe", func() bool { return c.LastVersion() == "v1.36.3" })
	if n := s.asked(); n != 1 {
		t.Errorf("want 1 request to connect, got %d", n)
	}
	if n := testutil.ToFloat64(m.TargetStates.WithLabelValues("Connected")); n != 1 {
		t.Errorf("want 1 connection counted as Connected, got %v", n)
	}
}
