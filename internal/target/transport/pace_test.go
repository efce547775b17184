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

// TestReadPace checks how long a client takes to read what a server sends at once, on the clock of a bubble.
func TestReadPace(t *testing.T) {
	type want struct {
		Took   time.Duration
		Slowed int32
	}
	cases := map[string]struct {
		reason string
		conns  int
		// bytes is what each connection sends, first immediately and then after a pause.
		bytes []int
		pause time.Duration
		want  want
	}{
		"Burst":       {reason: "The first lists are read immediately.", conns: 1, bytes: []int{paceBurst}, want: want{}},
		"Flood":       {reason: "What exceeds the burst is read slowly.", conns: 1, bytes: []int{paceBurst + 2*paceRate}, want: want{Took: 2 * time.Second, Slowed: 1}},
		"Connections": {reason: "All connections to a server share the rate.", conns: 4, bytes: []int{paceBurst/4 + 2*paceRate}, want: want{Took: 8 * time.Second, Slowed: 1}},
		"Later":       {reason: "A server that was quiet can send again.", conns: 1, bytes: []int{paceBurst, 19 * paceRate}, pause: 20 * time.Second, want: want{Took: 20 * time.Second}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var slowed atomic.Int32
				p := newPace(Options{Slowed: func() { slowed.Add(1) }})
				began, done := time.Now(), make(chan error)
				for range tc.conns {
					c := pacedPipe(t, p, func(far net.Conn) {
						for i, n := range tc.bytes {
							if i > 0 {
								time.Sleep(tc.pause)
							}
							_, _ = io.CopyN(far, zeros{}, int64(n))
						}
						_ = far.Close()
					})
					go func() { _, err := io.Copy(io.Discard, c); done <- err }()
				}
				for range tc.conns {
					if err := <-done; err != nil {
						t.Error(err)
					}
				}
				got := want{Took: time.Since(began).Round(100 * time.Millisecond), Slowed: slowed.Load()}
				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Errorf("\n%s\nRead(...): -want, +got:\n%s", tc.reason, diff)
				}
			})
		})
	}
}

// TestPaceClosed checks that closing a connection ends a read that waits.
func TestPaceClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPace(Options{})
		p.took(paceBurst)
		p.took(paceBurst)
		c := pacedPipe(t, p, func(far net.Conn) { _, _ = io.CopyN(far, zeros{}, 1) })
		began, done := time.Now(), make(chan error)
		go func() { _, err := c.Read(make([]byte, 1)); done <- err }()
		time.Sleep(time.Second)
		select {
		case <-done:
			t.Fatal("Read(...) did not wait")
		default:
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		if err := <-done; err != nil || time.Since(began) != time.Second {
			t.Errorf("Read(...) of a closed connection: %v after %s", err, time.Since(began))
		}
		if err := c.Close(); err != nil {
			t.Errorf("Close() again: %v", err)
		}
	})
}

// TestSlowed checks that a server that never stops is reported once per hour.
func TestSlowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got []time.Duration
		began := time.Now()
		p := newPace(Options{Slowed: func() { got = append(got, time.Since(began)) }})
		p.took(paceBurst)
		for range 9 {
			time.Sleep(15 * time.Minute)
			p.took(paceBurst)
			p.took(paceRate)
		}
		if diff := cmp.Diff([]time.Duration{15 * time.Minute, 75 * time.Minute, 135 * time.Minute}, got); diff != "" {
			t.Errorf("reports: -want, +got:\n%s", diff)
		}
	})
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) { return len(b), nil }

// pacedPipe returns a connection to a server.
func pacedPipe(t *testing.T, p *pace, serve func(far net.Conn)) net.Conn {
	t.Helper()
	c, err := p.dialer(func(context.Context, string, string) (net.Conn, error) {
		near, far := net.Pipe()
		go serve(far)
		return near, nil
	})(t.Context(), "tcp", "cluster.example.org:443")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestFlood checks that a transport slows down for a server that sends more than the burst, in several responses, but not before.
func TestFlood(t *testing.T) {
	const large, small = 16 << 20, 1 << 20 // After the burst, a large response takes half a minute.
	content := make([]byte, large)
	var size, slowed atomic.Int32
	size.Store(large)
	_, rc := newTLS(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(content[:size.Load()]) })
	tr := newTransport(t, rc, Options{Slowed: func() { slowed.Add(1) }})
	sent := 0
	for ; slowed.Load() == 0 && sent < 2*paceBurst; sent += int(size.Load()) {
		if sent+large > paceBurst {
			size.Store(small)
		}
		if body, _, err := get(t.Context(), tr, rc.Host); err != nil || len(body) != int(size.Load()) {
			t.Fatalf("after %d bytes: got %d, %v", sent, len(body), err)
		}
	}
	// TLS and HTTP/2 add less than a hundredth. While the server sends, it earns some more.
	if got := slowed.Load(); got != 1 || sent < paceBurst/100*99 {
		t.Errorf("want one report after %d bytes, got %d after %d", paceBurst, got, sent)
	}
}
