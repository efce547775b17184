// SPDX-License-Identifier: Apache-2.0

package target

import (
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/target/transport"
)

// A relay is a proxy for connections that can stop to forward anything, without closing them.
type relay struct {
	net.Listener

	mu      sync.Mutex
	changed sync.Cond
	stopped bool
}

// newRelay makes a server available behind a relay.
func newRelay(t *testing.T, s *apiServer) *relay {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &relay{Listener: l}
	r.changed.L = &r.mu
	target := s.Listener.Addr().String()
	go func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			far, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", target)
			if err != nil {
				_ = near.Close()
				return
			}
			go r.copy(far, near)
			go r.copy(near, far)
		}
	}()
	t.Cleanup(func() { r.stop(false); _ = l.Close() })
	s.URL = "https://" + l.Addr().String()
	return r
}

// stop stops to forward data, or continues.
func (r *relay) stop(yes bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stopped = yes
	r.changed.Broadcast()
}

// copy forwards the data of one direction.
func (r *relay) copy(to, from net.Conn) {
	_, _ = io.Copy(relayed{Conn: to, relay: r}, from) // The other end notices it.
	_, _ = to.Close(), from.Close()
}

// A relayed connection does not send anything while its relay is stopped.
type relayed struct {
	net.Conn

	relay *relay
}

func (c relayed) Write(b []byte) (int, error) {
	c.relay.mu.Lock()
	for c.relay.stopped {
		c.relay.changed.Wait()
	}
	c.relay.mu.Unlock()
	return c.Conn.Write(b)
}

// TestPoolSilent checks that consumers don't wait for requests to a cluster that has disappeared without closing its connection, and that
// they are called when it is known whether it responds.
func TestPoolSilent(t *testing.T) {
	cases := map[string]struct {
		reason string
		back   bool
		want   transport.State
	}{
		"Back": {reason: "The cluster was only silent for a short time.", back: true},
		"Gone": {reason: "The cluster does not respond to the probe.", want: transport.Unreachable},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newAPIServer(t)
			r := newRelay(t, s)
			woken := make(chan string, 10)
			p := NewPool(fakeInterpreter{}, WithOnRetry(func(consumer string) { woken <- consumer }))
			defer p.Close()
			c := must[*Cluster](t)(p.Get("ns/a", s.credentials("t", "")))
			_ = c.Ready() // It begins to connect.
			<-woken
			// If the response to the first probe stopped halfway, this probe would last until its time limit, and no other one would begin.
			eventually(t, "the first probe is complete", func() bool { return c.LastVersion() != "" })
			r.stop(true)
			var err error
			eventually(t, "the cluster is found to be silent", func() bool {
				begin := time.Now()
				err = c.Ready()
				if waited := time.Since(begin); waited > 5*time.Second {
					t.Fatalf("%s\nwant no caller to wait for a request, but it waited %s", tc.reason, waited)
				}
				return err != nil
			})
			e := (*transport.NotConnectedError)(nil)
			if !errors.As(err, &e) || e.State != transport.Unknown {
				t.Fatalf("%s\nwant a caller to wait until the state is known, got %v", tc.reason, err)
			}
			if len(woken) > 0 {
				t.Errorf("%s\nwoken before the state is known", tc.reason)
			}
			r.stop(!tc.back)
			<-woken
			switch err := c.Ready(); {
			case tc.want == "" && err != nil:
				t.Errorf("%s\nwant a cluster that is ready, got %v", tc.reason, err)
			case tc.want != "" && (!errors.As(err, &e) || e.State != tc.want):
				t.Errorf("%s\nwant state %s, got %v", tc.reason, tc.want, err)
			}
		})
	}
}
