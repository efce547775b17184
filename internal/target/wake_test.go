// SPDX-License-Identifier: Apache-2.0

package target

import (
	"fmt"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

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
	p := NewPool(fakeInterpreter{}, WithMetrics(m), WithOnRetry(func(consumer string) { woken <- consumer }))
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

// TestPoolCountsParked checks that a connection is counted as Parked while its watches are closed, and as Connected when it is used again.
func TestPoolCountsParked(t *testing.T) {
	s, m := newAPIServer(t), metrics.New(nil, version.Build{})
	p := NewPool(fakeInterpreter{}, WithMetrics(m), WithParkAfter(100*time.Millisecond))
	defer p.Close()
	c := must[*Cluster](t)(p.Get("ns/a", s.credentials("t", "")))
	counted := func(state transport.State) bool {
		return testutil.ToFloat64(m.TargetStates.WithLabelValues(string(state))) == 1
	}
	eventually(t, "the cluster is connected", func() bool { return c.Ready() == nil })
	eventually(t, "the connection is counted as Parked", func() bool { return counted(transport.Parked) && !counted(transport.Connected) })
	eventually(t, "the connection is counted as Connected after its use", func() bool {
		return c.Ready() == nil && counted(transport.Connected) && !counted(transport.Parked)
	})
}

// TestPoolWakesAfterFirstProbe checks that the consumers of a cluster that does not respond are called once, so that they report it, and not
// after each probe.
func TestPoolWakesAfterFirstProbe(t *testing.T) {
	cases := map[string]struct {
		reason string
		token  string
		close  bool
		want   transport.State
	}{
		"Unreachable":  {reason: "The server refuses connections.", token: "t", close: true, want: transport.Unreachable},
		"Unauthorized": {reason: "The server refuses the credentials.", token: "expired", want: transport.Unauthorized},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := newAPIServer(t)
			if tc.close {
				s.Close()
			}
			woken := make(chan string, 10)
			probes := atomic.Int64{}
			p := NewPool(fakeInterpreter{}, WithMetrics(metrics.New(nil, version.Build{})), WithOnRetry(func(consumer string) { woken <- consumer }),
				WithOnRequest(func(string, int, bool) { probes.Add(1) }))
			defer p.Close()
			c := must[*Cluster](t)(p.Get("ns/a", s.credentials(tc.token, "")))
			e := (*transport.NotConnectedError)(nil)
			if err := c.Ready(); !errors.As(err, &e) || e.State != transport.Unknown && e.State != tc.want {
				t.Errorf("\n%s\nwant the first probe to begin, got %v", tc.reason, err)
			}
			<-woken
			if err := c.Ready(); !errors.As(err, &e) || e.State != tc.want {
				t.Errorf("\n%s\nwant state %s, got %v", tc.reason, tc.want, err)
			}
			// The third probe begins when the second one has been reported.
			eventually(t, "more probes", func() bool { return probes.Load() >= 3 })
			if len(woken) > 0 {
				t.Errorf("\n%s\nwoken again", tc.reason)
			}
		})
	}
}

// TestPoolMisplaced checks that a connection that leads to another cluster than one of its consumers belongs to is counted as such, and
// is reported once.
func TestPoolMisplaced(t *testing.T) {
	s := newAPIServer(t)
	m := metrics.New(nil, version.Build{})
	reports := 0
	p := NewPool(fakeInterpreter{}, WithMetrics(m), WithOnOutcome(func(*Cluster) { reports++ }))
	defer p.Close()
	c := must[*Cluster](t)(p.Get("ns/a", s.credentials("t", "")))
	must[*Cluster](t)(p.Get("ns/b", s.credentials("t", "")))
	counted := func() string {
		var out []string
		for _, state := range []string{"Connecting", "Connected", "WrongCluster"} {
			if n := testutil.ToFloat64(m.TargetStates.WithLabelValues(state)); n != 0 {
				out = append(out, fmt.Sprint(state, " ", n))
			}
		}
		return strings.Join(out, ", ")
	}
	for _, step := range []struct {
		reason  string
		do      func()
		want    string
		reports int
	}{
		{reason: "Nothing is known before the first response.", do: func() { p.Misplaced("ns/a", true) }, want: "Connecting 1", reports: 1},
		{reason: "The cluster answers.", do: func() { must[string](t)(c.Version(t.Context())) }, want: "WrongCluster 1", reports: 2},
		{reason: "The cluster of the first consumer is still a different one.", do: func() { p.Misplaced("ns/a", true) }, want: "WrongCluster 1"},
		{reason: "The other consumer belongs to this cluster.", do: func() { p.Misplaced("ns/b", false) }, want: "WrongCluster 1"},
		{reason: "The cluster of the first consumer is the right one again.", do: func() { p.Misplaced("ns/a", false) }, want: "Connected 1", reports: 1},
		{reason: "The cluster is a different one for both consumers.", do: func() { p.Misplaced("ns/a", true); p.Misplaced("ns/b", true) }, want: "WrongCluster 1", reports: 2},
		{reason: "One of the consumers leaves.", do: func() { p.Forget("ns/a") }, want: "WrongCluster 1"},
		{reason: "A consumer without a connection is in no cluster.", do: func() { p.Misplaced("ns/a", true) }, want: "WrongCluster 1"},
		{reason: "The other consumer leaves, too.", do: func() { p.Forget("ns/b") }},
	} {
		reports = 0
		step.do()
		if got := counted(); got != step.want {
			t.Errorf("%s want %q, got %q", step.reason, step.want, got)
		}
		if reports != step.reports {
			t.Errorf("%s want %d reports, got %d", step.reason, step.reports, reports)
		}
	}
}

// TestPoolReplaces checks that the consumers of an address that belongs to a different cluster get a new connection, and when they are
// woken for it.
func TestPoolReplaces(t *testing.T) {
	cases := map[string]struct {
		reason string
		age    time.Duration
		want   bool
	}{
		"Old":    {reason: "The consumers continue immediately.", age: steady, want: true},
		"New":    {reason: "An address that belongs to several clusters does not keep the workers busy.", age: steady / 2},
		"Almost": {reason: "The consumers continue when the connection would have been old enough.", age: steady - 50*time.Millisecond, want: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := newAPIServer(t)
			woken := make(chan string, 10)
			m := metrics.New(nil, version.Build{})
			p := NewPool(fakeInterpreter{}, WithMetrics(m), WithOnRetry(func(consumer string) { woken <- consumer }))
			defer p.Close()
			credentials := s.credentials("t", "")
			c := must[*Cluster](t)(p.Get("ns/a", credentials))
			must[*Cluster](t)(p.Get("ns/b", credentials))
			p.clusters[credentials.Digest].opened = time.Now().Add(-tc.age)
			p.replaced(c)
			p.replaced(c) // Another caller found the same.
			if tc.want {
				got := []string{<-woken, <-woken}
				slices.Sort(got)
				if diff := cmp.Diff([]string{"ns/a", "ns/b"}, got); diff != "" {
					t.Errorf("\n%s\nwoken: -want, +got:\n%s", tc.reason, diff)
				}
			}
			if len(woken) > 0 {
				t.Errorf("\n%s\nwoken again, or too early: %s", tc.reason, <-woken)
			}
			eventually(t, "the connection is closed", func() bool { return errors.Is(c.Ready(), transport.ErrClosed) })
			if now := must[*Cluster](t)(p.Get("ns/a", credentials)); now == c {
				t.Errorf("\n%s\nwant a new connection", tc.reason)
			}
			if n := testutil.ToFloat64(m.TargetConnections); n != 1 {
				t.Errorf("\n%s\nwant 1 connection, got %v", tc.reason, n)
			}
		})
	}
}

// TestPoolOpensInOrder checks that the connection that a user waits for is opened before those that were requested earlier, as after a
// restart, and that servers that don't respond hardly delay the others.
func TestPoolOpensInOrder(t *testing.T) {
	const fleet = 8 * mostOpenings
	cases := map[string]struct {
		reason string
		hang   bool
	}{
		"Respond": {reason: "It waits for none of the others."},
		"Hang":    {reason: "It waits until one of the others counts as opened.", hang: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s, answer := newAPIServer(t), make(chan struct{})
			s.instead = func(w http.ResponseWriter, r *http.Request) {
				if tc.hang && r.Header.Get("Authorization") != "Bearer user" {
					select {
					case <-answer:
					case <-r.Context().Done():
					}
				}
				fmt.Fprint(w, `{"gitVersion":"v1.36.3"}`)
			}
			opened := make(chan string, fleet+1)
			p := NewPool(fakeInterpreter{}, WithOnRetry(func(consumer string) { opened <- consumer }))
			defer p.Close()
			defer close(answer)
			// All slots are in use until everything is requested.
			var releases []func()
			for busy := p.openings.NewLine(mostOpenings); len(releases) < mostOpenings; {
				release, _ := busy.Take(t.Context(), time.Hour)
				releases = append(releases, release)
			}
			connect := func(name string, priority int) {
				c := must[*Cluster](t)(p.Get("ns/"+name, s.credentials(name, "")))
				c.SetPriority(priority)
				_ = c.Ready()
			}
			for i := range fleet {
				connect(fmt.Sprintf("c%d", i), -200)
			}
			connect("user", 0)
			for _, release := range releases {
				release()
			}
			before := 0
			for <-opened != "ns/user" {
				before++
			}
			if before > fleet/2 {
				t.Errorf("\n%s\nopened before it: %d of %d", tc.reason, before, fleet)
			}
		})
	}
}
