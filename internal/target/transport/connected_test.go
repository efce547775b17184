// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/rest"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// TestMonitored sends requests, some of which are probes, through a monitored transport.
func TestMonitored(t *testing.T) {
	ok := func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Type", "application/json") }
	hangUp := func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }
	refuse := func(w http.ResponseWriter, r *http.Request) { ok(w, r); w.WriteHeader(http.StatusUnauthorized) }
	busy := func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTooManyRequests) }
	type step struct {
		handler http.HandlerFunc
		probe   bool
		// sent is true if the server receives the request. want is the state after the request.
		sent bool
		want State
	}
	const probe, request = true, false
	cases := map[string]struct {
		reason  string
		steps   []step
		doubted int32
	}{
		"Probed": {
			reason: "Only a probe reaches a server that is not Connected.",
			steps: []step{
				{hangUp, probe, true, Unreachable}, {ok, request, false, Unreachable}, {ok, request, false, Unreachable},
				{ok, probe, true, Connected}, {ok, request, true, Connected},
			},
		},
		"Refused": {
			reason: "Only a probe reaches a server that refuses the credentials.",
			steps:  []step{{refuse, probe, true, Unauthorized}, {ok, request, false, Unauthorized}, {ok, probe, true, Connected}},
		},
		"Doubt": {
			reason:  "A failure that may be one of the request calls for a probe, which decides.",
			steps:   []step{{ok, probe, true, Connected}, {hangUp, request, true, Connected}, {hangUp, probe, true, Unreachable}},
			doubted: 1,
		},
		"OnlyProbes": {
			reason: "A server that answers probes and no request is not reachable.",
			steps: []step{
				{ok, probe, true, Connected}, {hangUp, request, true, Connected}, {ok, probe, true, Connected}, {hangUp, request, true, Connected},
				{ok, probe, true, Connected}, {hangUp, request, true, Unreachable}, {ok, request, false, Unreachable},
			},
			doubted: 2,
		},
		"BusyProbe": {
			reason: "A server that has too many requests is there, and is left alone.",
			steps:  []step{{busy, probe, true, Connected}, {ok, request, false, Connected}},
		},
		"Busy": {
			reason: "It is left alone after each response that asks for it.",
			steps:  []step{{ok, probe, true, Connected}, {busy, request, true, Connected}, {ok, request, false, Connected}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var handler atomic.Pointer[http.HandlerFunc]
			var sent, doubted atomic.Int32
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { sent.Add(1); (*handler.Load())(w, r) }))
			defer server.Close()
			tr := newTransport(t, &rest.Config{Host: server.URL}, Options{Monitored: true, Doubted: func() { doubted.Add(1) }})
			for i, s := range tc.steps {
				handler.Store(&s.handler)
				ctx := t.Context()
				if s.probe {
					ctx = Probe(ctx)
				}
				before := sent.Load()
				// If the connection breaks, a POST is not retried.
				req, err := http.NewRequestWithContext(ctx, http.MethodPost, server.URL+"/api/v1/x", nil)
				if err != nil {
					t.Fatal(err)
				}
				if resp, err := tr.RoundTrip(req); err == nil {
					resp.Body.Close()
				}
				if diff := cmp.Diff([]any{s.sent, s.want}, []any{sent.Load() > before, tr.Outcome().State}); diff != "" {
					t.Errorf("\n%s\nstep %d: sent and state: -want, +got:\n%s", tc.reason, i, diff)
				}
			}
			if diff := cmp.Diff(tc.doubted, doubted.Load()); diff != "" {
				t.Errorf("\n%s\ndoubts: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestSlowRequest checks that a request that takes too long, for example because of a slow webhook, does not make a connected
// server unreachable.
func TestSlowRequest(t *testing.T) {
	block := make(chan struct{})
	_, rc := newTLS(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			<-block
		}
		w.Header().Set("Content-Type", "application/json")
	})
	defer close(block)
	doubted := 0
	tr := newTransport(t, rc, Options{Monitored: true, Doubted: func() { doubted++ }})
	if _, _, err := get(Probe(t.Context()), tr, rc.Host+"/version"); err != nil {
		t.Fatal(err)
	}
	_, _, err := get(WithLimit(t.Context(), 50*time.Millisecond), tr, rc.Host+"/slow")
	want := &UnreachableError{Host: rc.Host, Reason: "timed out", Down: true, Slow: true}
	got := &UnreachableError{}
	if !errors.As(err, &got) || !cmp.Equal(want, got) {
		t.Errorf("want %v, got %v", want, err)
	}
	if tr.Outcome().State != Connected || doubted != 1 {
		t.Errorf("want a connected server that is doubted once, got %v and %d doubts", tr.Outcome(), doubted)
	}
}

// TestReady checks the errors that callers get before they send a request.
func TestReady(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/refused":
			w.WriteHeader(http.StatusUnauthorized)
		case "/busy":
			w.Header().Set("Retry-After", "50")
			w.WriteHeader(http.StatusTooManyRequests)
		default:
			w.Header().Set("Content-Type", "application/json")
		}
	}))
	defer server.Close()
	type want struct {
		notConnected *NotConnectedError
		throttled    bool
	}
	cases := map[string]struct {
		reason string
		path   string
		want   want
	}{
		"New":       {reason: "Nothing is known yet.", want: want{notConnected: &NotConnectedError{Message: "connecting to API server " + server.URL}}},
		"Connected": {reason: "Requests can be sent.", path: "/version"},
		"Busy":      {reason: "The server wants fewer requests.", path: "/busy", want: want{throttled: true}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			tr := newTransport(t, &rest.Config{Host: server.URL}, Options{Monitored: true})
			if tc.path != "" {
				_, _, _ = get(Probe(context.Background()), tr, server.URL+"/version")
				_, _, _ = get(t.Context(), tr, server.URL+tc.path)
			}
			err := tr.Ready()
			got := want{}
			if n := (*NotConnectedError)(nil); errors.As(err, &n) {
				got.notConnected = n
			}
			if th := (*ThrottledError)(nil); errors.As(err, &th) {
				got.throttled = th.After > time.Second && th.After <= 50*time.Second
			}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("\n%s\nReady(): %v: -want, +got:\n%s", tc.reason, err, diff)
			}
		})
	}
}
