// SPDX-License-Identifier: Apache-2.0

package connections

import (
	"runtime"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-kyma/internal/target/connection"
	"github.com/crossplane-contrib/provider-kyma/internal/target/mapper"
	"github.com/crossplane-contrib/provider-kyma/internal/target/transport"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest"
)

// builtin contains the kinds that need no discovery, as in the provider.
var builtin = mapper.Builtin()

// mostParkedBytes is the maximum number of bytes of the heap that a parked connection needs. It has no goroutine.
const mostParkedBytes = 10 << 10

// TestParked measures parked connections, and checks that they have no network connection, and that they can be used again.
func TestParked(t *testing.T) {
	targets := serveElsewhere(t, *clusters+1)
	dialer := &countingDialer{}
	// The first connection pays for what all of them share.
	first := openParked(t, targets[0], dialer)
	defer first.Close()
	n := int64(*clusters)
	eventually(t, "the first connection is closed", func() bool { return first.IsParked() && dialer.open.Load() == 0 })
	before, heap := goroutines(), heapBytes()
	all := make([]*connection.Cluster, 0, n)
	for _, c := range targets[1:] {
		all = append(all, openParked(t, c, dialer))
	}
	eventually(t, "all connections are parked", func() bool {
		for _, c := range all {
			if !c.IsParked() {
				return false
			}
		}
		return dialer.open.Load() == 0 && sum(goroutines()) <= sum(before)
	})
	heap = heapBytes() - heap
	t.Logf("%d bytes a parked connection in the heap", heap/n)
	if heap/n > mostParkedBytes {
		t.Errorf("want at most %d bytes a parked connection", mostParkedBytes)
	}
	writeProfile(t)
	use(t, all[0])
	if all[0].IsParked() || dialer.open.Load() < 1 {
		t.Errorf("want an open connection after its use, got %d", dialer.open.Load())
	}
	for _, c := range all {
		c.Close()
	}
	runtime.KeepAlive(all)
}

// openParked connects to a cluster that is parked soon after its use.
func openParked(t *testing.T, to target, d *countingDialer) *connection.Cluster {
	t.Helper()
	rc := to.config()
	rc.Dial = d.dial
	c, err := connection.New(rc, manifest.Interpreter(), connection.Options{
		Monitored: true, Builtin: builtin, ParkAfter: 3 * time.Second, Transport: transport.Options{Idle: time.Second},
	})
	if err != nil {
		t.Fatal(err)
	}
	use(t, c)
	return c
}

// use does what a pass over a Manifest does first.
func use(t *testing.T, c *connection.Cluster) {
	t.Helper()
	eventually(t, "the cluster is connected", func() bool { return c.Ready() == nil })
	if _, err := c.UID(t.Context()); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the kinds are listed", func() bool { return len(c.Cache().Track(t.Context(), watched)) == 0 })
}
