// SPDX-License-Identifier: Apache-2.0

package connections

import (
	"context"
	"fmt"
	"maps"
	"net"
	"os"
	"runtime"
	"runtime/pprof"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane-contrib/provider-kyma/internal/netguard"
	"github.com/crossplane-contrib/provider-kyma/internal/target/connection"
	"github.com/crossplane-contrib/provider-kyma/internal/target/informer"
	"github.com/crossplane-contrib/provider-kyma/internal/target/transport"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest"
)

// watched are the kinds of a usual module.
var watched = []schema.GroupVersionKind{
	{Group: "apps", Version: "v1", Kind: "Deployment"},
	{Version: "v1", Kind: "ServiceAccount"},
	{Version: "v1", Kind: "ConfigMap"},
	{Version: "v1", Kind: "Service"},
	{Version: "v1", Kind: "Secret"},
	{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "Role"},
}

// mostGoroutines and mostBytes are the maximum numbers of goroutines and bytes that a connection with six watches needs at rest. The
// bytes are those of the heap and of stacks.
const (
	mostGoroutines = 2
	mostBytes      = 65 << 10
)

// connect connects to a cluster through a dialer, and watches.
func connect(t *testing.T, c target, d *countingDialer, o connection.Options) *connection.Cluster {
	t.Helper()
	rc := c.config()
	rc.Dial = d.dial
	out, err := connection.New(rc, manifest.Interpreter(), o)
	if err != nil {
		t.Fatal(err)
	}
	if failed := out.Cache().Track(t.Context(), watched); len(failed) > 0 {
		t.Fatal(failed)
	}
	return out
}

// TestRest measures a connection at rest.
func TestRest(t *testing.T) {
	targets := serveElsewhere(t, *clusters+1)
	// The first connection pays for what all of them share.
	dialer := &countingDialer{}
	first := connect(t, targets[0], dialer, connection.Options{})
	defer first.Close()
	n := int64(*clusters)
	before, heap, stacks := goroutines(), heapBytes(), stackBytes()
	all := make([]*connection.Cluster, 0, n)
	for _, c := range targets[1:] {
		all = append(all, connect(t, c, dialer, connection.Options{}))
	}
	eventually(t, "all connections are at rest", func() bool { return sum(goroutines())-sum(before) <= mostGoroutines*n })
	heap, stacks = heapBytes()-heap, stackBytes()-stacks
	after := goroutines()
	for _, f := range slices.Sorted(maps.Keys(after)) {
		if more := after[f] - before[f]; more != 0 {
			t.Logf("%6.2f goroutines a connection: %s", float64(more)/float64(n), f)
		}
	}
	if open := dialer.open.Load(); open != n+1 {
		t.Errorf("want one network connection for each cluster, got %d for %d clusters", open, n+1)
	}
	t.Logf("%d bytes a connection in the heap, and %d bytes of stacks", heap/n, stacks/n)
	if (heap+stacks)/n > mostBytes {
		t.Errorf("want at most %d bytes a connection", mostBytes)
	}
	writeProfile(t)
	for _, c := range all {
		c.Close()
	}
	runtime.KeepAlive(all)
}

// TestEventsAtRest checks that events arrive in connections at rest, in both formats, and that the connections are at rest again afterwards.
func TestEventsAtRest(t *testing.T) {
	targets := serveElsewhere(t, 2)
	dialer := &countingDialer{}
	before := sum(goroutines())
	for _, target := range targets {
		c := connect(t, target, dialer, connection.Options{})
		defer c.Close()
		name, value, _ := strings.Cut(manifest.Interpreter().Selector(), "=")
		for i := range 20 {
			for _, o := range []struct {
				ref        cluster.ObjectRef
				path, body string
			}{
				{cluster.ObjectRef{Kind: "ConfigMap"}, "/api/v1/namespaces/default/configmaps", `"data": {}`},
				{cluster.ObjectRef{Kind: "Deployment", Group: "apps"}, "/apis/apps/v1/namespaces/default/deployments", `"spec": {"selector": {"matchLabels": {"a": "b"}},
					"template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "a", "image": "b"}]}}}`},
			} {
				o.ref.Namespace, o.ref.Name = "default", fmt.Sprintf("o%d", i)
				body := fmt.Sprintf(`{"metadata": {"name": %q, "labels": {%q: %q}}, %s}`, o.ref.Name, name, value, o.body)
				if err := c.REST().Post().AbsPath(o.path).Body([]byte(body)).Do(t.Context()).Error(); err != nil {
					t.Fatal(err)
				}
				eventually(t, "the event arrives", func() bool { _, ok := c.Cache().Get(o.ref); return ok })
				if i%2 > 0 {
					continue
				}
				if err := c.REST().Delete().AbsPath(o.path, o.ref.Name).Do(t.Context()).Error(); err != nil {
					t.Fatal(err)
				}
				eventually(t, "the deletion arrives", func() bool { _, ok := c.Cache().Get(o.ref); return !ok })
			}
		}
	}
	eventually(t, "the connections are at rest", func() bool { return sum(goroutines())-before <= mostGoroutines*int64(len(targets)) })
}

// TestLargeObject checks that the watch after a list with a large object begins at the version of the list. The transport ends the watch
// that begins with such a list, and would end each further one.
func TestLargeObject(t *testing.T) {
	watched := []schema.GroupVersionKind{{Group: "apps", Version: "v1", Kind: "Deployment"}}
	rc := serveElsewhere(t, 1)[0].config()
	var watches atomic.Int64
	c, err := connection.New(rc, manifest.Interpreter(), connection.Options{Transport: transport.Options{
		Dialer: netguard.New(netguard.Options{}).Dialer(netguard.Platform),
		Count: func(_ string, _ int, watch bool) {
			if watch {
				watches.Add(1)
			}
		},
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	name, value, _ := strings.Cut(manifest.Interpreter().Selector(), "=")
	create := func(object, arg string) {
		t.Helper()
		body := fmt.Sprintf(`{"metadata": {"name": %q, "labels": {%q: %q}}, "spec": {"selector": {"matchLabels": {"a": "b"}},
			"template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "a", "image": "b", "args": [%q]}]}}}}`, object, name, value, arg)
		if err := c.REST().Post().AbsPath("/apis/apps/v1/namespaces/default/deployments").Body([]byte(body)).Do(t.Context()).Error(); err != nil {
			t.Fatal(err)
		}
	}
	create("large", strings.Repeat("x", 1<<20))
	if failed := c.Cache().Track(t.Context(), watched); len(failed) > 0 {
		t.Fatal(failed)
	}
	for i := range 5 {
		object := fmt.Sprintf("o%d", i)
		create(object, "b")
		eventually(t, "the event arrives", func() bool {
			_, ok := c.Cache().Get(cluster.ObjectRef{Group: "apps", Kind: "Deployment", Namespace: "default", Name: object})
			return ok
		})
	}
	if n := watches.Load(); n != 2 {
		t.Errorf("want a list and a watch, got %d watches", n)
	}
}

// TestNothingIsLeft checks that closed connections leave no goroutines, network connections and entries.
func TestNothingIsLeft(t *testing.T) {
	targets := serveElsewhere(t, *clusters+1)
	budget := informer.NewBudget(1<<30, func(int64) {})
	dialer := &countingDialer{}
	one := func(c target) { connect(t, c, dialer, connection.Options{Budget: budget}).Close() }
	one(targets[0])
	eventually(t, "the first connection is closed", func() bool { return dialer.open.Load() == 0 })
	before, heap := sum(goroutines()), heapBytes()
	for _, c := range targets[1:] {
		one(c)
	}
	eventually(t, "no goroutine is left", func() bool { return sum(goroutines()) <= before })
	eventually(t, "no network connection is left", func() bool { return dialer.open.Load() == 0 })
	if dialer.all.Load() <= int64(*clusters) {
		t.Errorf("want a network connection for each cluster, got %d", dialer.all.Load())
	}
	// Timers and entries of a cluster would keep its connection.
	const most = 2 << 10
	var left int64
	eventually(t, "no memory is left", func() bool {
		left = (heapBytes() - heap) / int64(*clusters)
		return left <= most
	})
	t.Logf("%d bytes are left of each cluster", left)
	runtime.KeepAlive(budget)
}

// A countingDialer counts its network connections.
type countingDialer struct{ open, all atomic.Int64 }

func (d *countingDialer) dial(ctx context.Context, network, address string) (net.Conn, error) {
	c, err := (&net.Dialer{}).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	d.open.Add(1)
	d.all.Add(1)
	return &countedConn{Conn: c, dialer: d}, nil
}

type countedConn struct {
	net.Conn

	dialer *countingDialer
	closed atomic.Bool
}

func (c *countedConn) Close() error {
	if c.closed.CompareAndSwap(false, true) {
		c.dialer.open.Add(-1)
	}
	return c.Conn.Close()
}

// goroutines returns the number of goroutines by the function that they began with, and the function that they are in.
func goroutines() map[string]int64 {
	records := make([]runtime.StackRecord, 100_000)
	n, _ := runtime.GoroutineProfile(records)
	out := map[string]int64{}
	for _, r := range records[:n] {
		frames := runtime.CallersFrames(r.Stack())
		var names []string
		for {
			f, more := frames.Next()
			if f.Function != "runtime.goexit" && f.Function != "" {
				names = append(names, f.Function[strings.LastIndex(f.Function, "/")+1:])
			}
			if !more {
				break
			}
		}
		if len(names) > 0 {
			out[fmt.Sprintf("%s in %s", names[len(names)-1], names[0])]++
		}
	}
	return out
}

func sum(m map[string]int64) int64 {
	out := int64(0)
	for _, n := range m {
		out += n
	}
	return out
}

// heapBytes returns the size of the heap after a garbage collection.
func heapBytes() int64 {
	var m runtime.MemStats
	// The second collection frees what the first one finalized.
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// writeProfile writes a profile of the heap, if the flags name a file for it.
func writeProfile(t *testing.T) {
	t.Helper()
	if *profile == "" {
		return
	}
	f, err := os.Create(*profile)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := pprof.WriteHeapProfile(f); err != nil {
		t.Fatal(err)
	}
}

// stackBytes returns the size of all stacks.
func stackBytes() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.StackInuse)
}

func eventually(t *testing.T, what string, f func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !f(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not in time: %s\n%v", what, goroutines())
		}
	}
}
