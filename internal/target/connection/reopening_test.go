// SPDX-License-Identifier: Apache-2.0

package connection

import (
	"context"
	"net/http"
	"net/http/httptest"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/target/informer"
	"github.com/crossplane-contrib/provider-kyma/internal/target/slots"
	"github.com/crossplane-contrib/provider-kyma/internal/target/transport"
)

// TestReopening checks how many watches of a cluster send a request when their network connection has ended, and how long they take.
func TestReopening(t *testing.T) {
	const round = 10 * time.Millisecond
	refused, down, denied := errors.New("not connected"), error(&transport.UnreachableError{Reason: "connection lost"}), errors.New("forbidden")
	cases := map[string]struct {
		reason string
		// open is true if the network connection is open at first. fails is the error of requests that could not open one.
		open  bool
		fails error
		// refusal is the error of requests that are not sent.
		refusal error
		// first is how long the first request takes. Canceled is true if its caller gives up before it has a slot, and opened if another request
		// opens the network connection before that.
		first            time.Duration
		canceled, opened bool
		// sent is the number of requests, want the error of all watches but the first, and took the time until the last of them has ended.
		sent int
		want error
		took time.Duration
	}{
		"Open":     {reason: "All requests use the network connection.", open: true, first: round, sent: 6, took: round},
		"Reopened": {reason: "The others use the network connection that the first one has opened.", first: round, sent: 6, took: 2 * round},
		"Failed":   {reason: "The others don't try to open a network connection that the first one could not open.", first: round, fails: down, sent: 1, want: down, took: round},
		"Denied":   {reason: "A response to the first one says nothing about the others.", first: round, fails: denied, sent: 6, want: denied, took: 2 * round},
		"Refused":  {reason: "No request is sent to a cluster that is known to be unreachable.", refusal: refused, want: refused},
		"Hangs":    {reason: "The others don't wait long for the response to the first one.", first: time.Minute, sent: 6, took: openingTime + round},
		"Canceled": {reason: "If the caller of the first one gives up, another one is the first.", canceled: true, sent: 5, took: 2 * round},
		"Opened":   {reason: "None waits for a slot when another request has opened the network connection.", opened: true, first: round, sent: 6, took: 2 * round},
	}
	for n, tc := range cases {
		t.Run(n, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				openings := slots.New(1)
				var sent atomic.Int64
				var open atomic.Bool
				open.Store(tc.open)
				r := &reopening{line: openings.NewLine(1), allow: func() error { return tc.refusal }, isOpen: open.Load}
				watch := func(ctx context.Context, took time.Duration) error {
					return r.do(ctx, func() error {
						sent.Add(1)
						time.Sleep(took)
						if tc.fails == nil {
							open.Store(true)
						}
						return tc.fails
					})
				}
				ctx, cancel := context.WithCancel(t.Context())
				release := func() {}
				if tc.canceled || tc.opened {
					release, _ = openings.NewLine(1).Take(t.Context(), time.Hour)
				}
				var others sync.WaitGroup
				go func() { _ = watch(ctx, tc.first) }()
				synctest.Wait()
				start := time.Now()
				for range 5 {
					others.Go(func() {
						if err := watch(t.Context(), round); !errors.Is(err, tc.want) {
							t.Errorf("\n%s\ndo(...): want error %v, got %v", tc.reason, tc.want, err)
						}
					})
				}
				synctest.Wait()
				switch {
				case tc.canceled:
					cancel()
					synctest.Wait()
					release()
				case tc.opened:
					open.Store(true)
					r.opened()
				}
				others.Wait()
				if took := time.Since(start); took != tc.took || sent.Load() != int64(tc.sent) {
					t.Errorf("\n%s\nwant %d requests in %s, got %d in %s", tc.reason, tc.sent, tc.took, sent.Load(), took)
				}
				cancel()
				release()
				time.Sleep(time.Hour)
			})
		})
	}
}

// TestReopeningShares checks that few clusters open network connections at the same time, that one which hangs does not delay the others for long, and
// that a call ends with its context.
func TestReopeningShares(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const clusters, limit = 100, 4
		openings := slots.New(limit)
		var running, most, done atomic.Int64
		cluster := func(ctx context.Context, work func()) error {
			r := &reopening{line: openings.NewLine(1), allow: func() error { return nil }, isOpen: func() bool { return false }}
			return r.do(ctx, func() error {
				most.Store(max(most.Load(), running.Add(1)))
				work()
				running.Add(-1)
				done.Add(1)
				return nil
			})
		}
		for range clusters {
			go func() { _ = cluster(t.Context(), func() { time.Sleep(10 * time.Millisecond) }) }()
		}
		time.Sleep(clusters / limit * 10 * time.Millisecond)
		synctest.Wait()
		if most.Load() != limit || done.Load() != clusters {
			t.Errorf("want %d clusters, %d at a time, got %d, %d at a time", clusters, limit, done.Load(), most.Load())
		}
		hang, cancel := context.WithCancel(t.Context())
		for range limit {
			go func() { _ = cluster(hang, func() { <-hang.Done() }) }()
		}
		synctest.Wait()
		ctx, stop := context.WithTimeout(t.Context(), openingTime/2)
		defer stop()
		if err := cluster(ctx, func() {}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("want the error of a context that ends before the turn, got %v", err)
		}
		start := time.Now()
		if err := cluster(t.Context(), func() {}); err != nil || time.Since(start) > openingTime {
			t.Errorf("want a turn within %s although others hang, got %v after %s", openingTime, err, time.Since(start))
		}
		cancel()
		synctest.Wait()
	})
}

// TestReopeningPriority checks in which order network connections are opened.
func TestReopeningPriority(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		openings := slots.New(1)
		busy, _ := openings.NewLine(1).Take(t.Context(), time.Hour)
		var mu sync.Mutex
		var got []string
		record := func(name string) {
			mu.Lock()
			defer mu.Unlock()
			got = append(got, name)
		}
		cluster := func() *reopening {
			return &reopening{line: openings.NewLine(1), allow: func() error { return nil }, isOpen: func() bool { return false }}
		}
		watch := func(name string, r *reopening) {
			go func() { _ = r.do(t.Context(), func() error { record(name); return nil }) }()
			synctest.Wait()
		}
		healthy, needed, open := cluster(), cluster(), cluster()
		open.prioritize(0)
		open.isOpen = func() bool { return true }
		open.opened()
		open.prioritize(0)
		open.isOpen = func() bool { return false }
		watch("healthy", healthy)
		watch("open", open)
		watch("needed", needed)
		needed.prioritize(0)
		added := openings.NewLine(1)
		added.SetPriority(-20)
		go func() {
			release, _ := added.Take(t.Context(), time.Hour)
			record("added")
			release()
		}()
		synctest.Wait()
		busy()
		synctest.Wait()
		busy, _ = openings.NewLine(1).Take(t.Context(), time.Hour)
		watch("healthy again", healthy)
		watch("needed again", needed)
		busy()
		synctest.Wait()
		mu.Lock()
		defer mu.Unlock()
		want := []string{"needed", "added", "healthy", "open", "healthy again", "needed again"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("a Manifest that needs a cluster sets its priority until it is open or has its turn; -want, +got:\n%s", diff)
		}
	})
}

// TestAdmit checks which probes wait for a slot.
func TestAdmit(t *testing.T) {
	cases := map[string]struct {
		reason         string
		probed, closed bool
		want           bool
	}{
		"New":    {reason: "The first probe opens a network connection.", closed: true},
		"Closed": {reason: "A later probe opens another one after it has ended.", probed: true, closed: true},
		"Open":   {reason: "A probe that uses the open network connection is sent at once.", probed: true, want: true},
	}
	for n, tc := range cases {
		t.Run(n, func(t *testing.T) {
			server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				_, _ = w.Write([]byte(`{"gitVersion":"v1.35.0"}`))
			}))
			server.EnableHTTP2 = true
			server.StartTLS()
			defer server.Close()
			o := onLoopback()
			o.Monitored, o.Openings = true, slots.New(1)
			busy, _ := o.Openings.NewLine(1).Take(t.Context(), time.Hour)
			c, err := New(&rest.Config{Host: server.URL, TLSClientConfig: rest.TLSClientConfig{Insecure: true}}, nil, o)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			if tc.probed {
				c.probe(transport.Probe(t.Context()))
			}
			if tc.closed {
				server.CloseClientConnections()
				for c.transport.IsOpen() {
					runtime.Gosched()
				}
			}
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
			defer cancel()
			if _, got := c.admit(ctx); got != tc.want {
				t.Errorf("\n%s\nadmit() without a free slot: want %t, got %t", tc.reason, tc.want, got)
			}
			busy()
			if _, got := c.admit(t.Context()); !got {
				t.Errorf("\n%s\nadmit() with a free slot: want true", tc.reason)
			}
		})
	}
}

// TestReopeningAllocates checks that the watches of a cluster that is known to be unreachable allocate no requests.
func TestReopeningAllocates(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) }))
	server.Close()
	o := onLoopback()
	o.Monitored = true
	c, err := New(&rest.Config{Host: server.URL}, nil, o)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	client := &watchClient{watches: watches{rest: c.rest, reopening: &reopening{allow: c.transport.Refusal, isOpen: c.transport.IsOpen}}, config: c.Config, get: c.get}
	r := informer.Resource{GroupVersionResource: schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}, MetadataOnly: true}
	c.probe(transport.Probe(t.Context()))
	c.monitor.stop() // Its probes would be counted.
	if s := c.Outcome().State; s != transport.Unreachable {
		t.Fatalf("want an unreachable cluster, got %q", s)
	}
	notConnected := (*transport.NotConnectedError)(nil)
	if _, err := client.Watch(t.Context(), r, metav1.ListOptions{}); !errors.As(err, &notConnected) {
		t.Errorf("Watch(...): want a *NotConnectedError, got %v", err)
	}
	if _, err := client.List(t.Context(), r, metav1.ListOptions{}); !errors.As(err, &notConnected) {
		t.Errorf("List(...): want a *NotConnectedError, got %v", err)
	}
	const most = 8
	if n := testing.AllocsPerRun(100, func() { _, _ = client.Watch(t.Context(), r, metav1.ListOptions{}) }); n > most {
		t.Errorf("want at most %d allocations for a watch that is not sent, got %v", most, n)
	}
}
