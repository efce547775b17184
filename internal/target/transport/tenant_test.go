// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"context"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestTenantPace checks how long it takes to read what several clusters send at once, on the clock of a bubble. None of them sends more than a
// single cluster may.
func TestTenantPace(t *testing.T) {
	const some = tenantRate + 4*clusterRate // what four clusters can send per second
	cases := map[string]struct {
		reason string
		// tenants contains the tenant of each cluster, or no name for a cluster of an administrator.
		tenants []string
		bytes   int
		want    time.Duration
		// slowed is how often slow tenants are reported. No cluster is.
		slowed int64
	}{
		"Burst":     {reason: "The first lists are read immediately.", tenants: []string{"a", "a", "a", "a"}, bytes: tenantBurst / 4},
		"Flood":     {reason: "The clusters of a tenant share a rate, which grows with their number.", tenants: []string{"a", "a", "a", "a"}, bytes: tenantBurst/4 + 3*some, want: 12 * time.Second, slowed: 1},
		"Tenants":   {reason: "Tenants share nothing.", tenants: []string{"a", "a", "b", "b"}, bytes: tenantBurst / 2},
		"Platform":  {reason: "An administrator chose the clusters.", tenants: []string{"", "", "", ""}, bytes: tenantBurst / 2},
		"Different": {reason: "A tenant does not slow down an administrator.", tenants: []string{"a", "a", "", ""}, bytes: tenantBurst / 2},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				waited, slowed, blamed := atomic.Int64{}, atomic.Int64{}, atomic.Int64{}
				tenants := &Tenants{Slowed: func(string) { slowed.Add(1) }}
				began, done := time.Now(), make(chan error)
				for _, name := range tc.tenants {
					o := Options{Waited: func(d time.Duration) { waited.Add(int64(d)) }, Slowed: func() { blamed.Add(1) }}
					if name != "" {
						o.Tenant, _ = tenants.Join(name)
					}
					c := pacedPipe(t, newPace(o), func(far net.Conn) {
						_, _ = io.CopyN(far, zeros{}, int64(tc.bytes))
						_ = far.Close()
					})
					go func() { _, err := io.Copy(io.Discard, c); done <- err }()
				}
				for range tc.tenants {
					if err := <-done; err != nil {
						t.Error(err)
					}
				}
				if slowed.Load() != tc.slowed || blamed.Load() != 0 {
					t.Errorf("\n%s\nwant %d reports, got %d, and %d about single clusters", tc.reason, tc.slowed, slowed.Load(), blamed.Load())
				}
				if got := time.Since(began).Round(100 * time.Millisecond); got != tc.want || (waited.Load() > 0) != (tc.want > 0) {
					t.Errorf("\n%s\nthe data was read within %s, and reads waited %s; want %s", tc.reason, got, time.Duration(waited.Load()), tc.want)
				}
			})
		})
	}
}

// TestTenantReturns checks that a tenant does not get a new burst by replacing its clusters, and that it is forgotten later.
func TestTenantReturns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tenants := &Tenants{}
		join := func() (*Tenant, func()) { return tenants.Join("a") }
		known := func() int {
			tenants.mu.Lock()
			defer tenants.mu.Unlock()
			return len(tenants.of)
		}
		first, leave := join()
		first.took(time.Now(), tenantBurst)
		leave()
		leave() // Only the first call counts.
		again, leave := join()
		rate := float64(tenantRate + clusterRate)
		if got := again.took(time.Now(), int(rate)); got.Round(time.Millisecond) != time.Second {
			t.Errorf("after its only cluster was replaced, the tenant waits %s, not 1s", got)
		}
		other, leaveOther := tenants.Join("b")
		if got := other.took(time.Now(), tenantBurst); got != 0 {
			t.Errorf("another tenant waits %s", got)
		}
		leave()
		leaveOther()
		time.Sleep(30 * time.Second)
		synctest.Wait()
		if diff := cmp.Diff(2, known()); diff != "" {
			t.Errorf("tenants that have no burst: -want, +got:\n%s", diff)
		}
		time.Sleep(2 * tenantBurst / tenantRate * time.Second)
		synctest.Wait()
		if n := known(); n > 0 {
			t.Errorf("%d tenants are not forgotten", n)
		}
	})
}

// TestTenantOfTransport checks that a transport waits if other clusters of its tenant have sent too much.
func TestTenantOfTransport(t *testing.T) {
	content := make([]byte, 1<<20)
	_, rc := newTLS(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(content) })
	cases := map[string]struct {
		reason string
		others int
		want   bool
	}{
		"Much":   {reason: "The others have sent more than the burst.", others: tenantBurst + 600*tenantRate, want: true},
		"Little": {reason: "The others have sent little.", others: tenantRate},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			tenant, leave := (&Tenants{}).Join("a")
			defer leave()
			for left := tc.others; left > 0; left -= tenantRate {
				tenant.took(time.Now(), min(left, tenantRate))
			}
			waited := atomic.Bool{}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			// It would wait for ten minutes.
			tr := newTransport(t, rc, Options{Tenant: tenant, Waited: func(time.Duration) { waited.Store(true); cancel() }})
			if body, _, err := get(ctx, tr, rc.Host); (err == nil && len(body) == len(content)) == tc.want {
				t.Errorf("\n%s\ngot %d bytes, %v", tc.reason, len(body), err)
			}
			if waited.Load() != tc.want {
				t.Errorf("\n%s\nwaited: %t", tc.reason, waited.Load())
			}
		})
	}
}
