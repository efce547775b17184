// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/rest"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/sendcheck"
)

// TestOutcome sends requests to servers that respond in different ways.
func TestOutcome(t *testing.T) {
	answer := func(code int, contentType string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", contentType)
			w.WriteHeader(code)
		}
	}
	hangUp := func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }
	type step struct {
		handler http.HandlerFunc
		path    string
		want    State
	}
	const core, extension, protobuf = "/api/v1/namespaces", "/apis/metrics.k8s.io/v1beta1", "application/vnd.kubernetes.protobuf;stream=watch"
	ok, page := answer(http.StatusOK, "application/json"), answer(http.StatusOK, "text/html")
	cases := map[string]struct {
		reason string
		steps  []step
		// changes is the number of reported changes.
		changes int
	}{
		"Connected": {
			reason:  "What stays the same is reported once.",
			steps:   []step{{ok, core, Connected}, {answer(http.StatusOK, protobuf), extension, Connected}, {answer(http.StatusForbidden, "application/json"), core, Connected}},
			changes: 1,
		},
		"NotFound": {
			reason: "An API server that has no such object answers.", steps: []step{{answer(http.StatusNotFound, "application/json"), core, Connected}}, changes: 1,
		},
		"Unauthorized": {
			reason:  "Credentials that are refused are reported, and those that are accepted later.",
			steps:   []step{{answer(http.StatusUnauthorized, "application/json"), core, Unauthorized}, {ok, core, Connected}},
			changes: 2,
		},
		"Extension": {
			reason: "An extension API server that fails proves nothing about the cluster.",
			steps: []step{
				{answer(http.StatusUnauthorized, "application/json"), extension, Unknown}, {ok, core, Connected},
				{answer(http.StatusUnauthorized, "application/json"), extension, Connected},
				{answer(http.StatusServiceUnavailable, "application/json"), extension, Connected},
			},
			changes: 1,
		},
		"Foreign": {
			reason: "A page is not from an API server.", steps: []step{{page, core, Unreachable}, {page, core, Unreachable}, {ok, "/version", Connected}}, changes: 2,
		},
		"ErrorsAtFirst": {
			reason: "A server that has never answered isn't reachable.", steps: []step{{answer(http.StatusBadGateway, "text/html"), core, Unreachable}}, changes: 1,
		},
		"ErrorsLater": {
			reason: "A server that answered before may fail now and then.",
			steps: []step{
				{ok, core, Connected}, {hangUp, core, Connected}, {hangUp, core, Connected}, {ok, core, Connected},
				{answer(http.StatusBadGateway, "text/html"), core, Connected}, {hangUp, core, Connected}, {hangUp, core, Unreachable}, {ok, core, Connected},
			},
			changes: 3,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			// The handler can still be processing a request after the client has given up.
			var handler atomic.Pointer[http.HandlerFunc]
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { (*handler.Load())(w, r) }))
			defer server.Close()
			changes := 0
			// Behind a gateway, the API server has a path.
			tr := newTransport(t, &rest.Config{Host: server.URL + "/gateway"}, Options{Changed: func() { changes++ }})
			var got, want []State
			for _, s := range tc.steps {
				handler.Store(&s.handler)
				_, _, _ = get(t.Context(), tr, server.URL+"/gateway"+s.path)
				got, want = append(got, tr.Outcome().State), append(want, s.want)
			}
			if diff := cmp.Diff(want, got); diff != "" || changes != tc.changes {
				t.Errorf("\n%s\nOutcome(): %d changes are reported, want %d; -want, +got:\n%s", tc.reason, changes, tc.changes, diff)
			}
		})
	}
}

// TestOutcomeDown checks the message about a server that does not exist.
func TestOutcomeDown(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	changes := 0
	tr := newTransport(t, &rest.Config{Host: server.URL}, Options{Changed: func() { changes++ }})
	if diff := cmp.Diff(Outcome{}, tr.Outcome()); diff != "" {
		t.Errorf("Outcome() before any request: -want, +got:\n%s", diff)
	}
	for range 3 {
		if _, _, err := get(t.Context(), tr, server.URL+"/version"); err == nil {
			t.Error("get() after Close: want an error")
		}
	}
	want := Outcome{State: Unreachable, Message: "API server " + server.URL + ": connection refused"}
	if diff := cmp.Diff(want, tr.Outcome()); diff != "" || changes != 1 {
		t.Errorf("Outcome(): %d changes are reported, want 1; -want, +got:\n%s", changes, diff)
	}
	tr.Close()
	if _, _, err := get(t.Context(), tr, server.URL+"/version"); err == nil {
		t.Error("get() after Close: want an error")
	}
	if diff := cmp.Diff(want, tr.Outcome()); diff != "" || changes != 1 {
		t.Errorf("Outcome() after Close: %d changes are reported, want 1; -want, +got:\n%s", changes, diff)
	}
}

// TestSendCheck checks that a request that its own check refuses says nothing about the server.
func TestSendCheck(t *testing.T) {
	errCheck := errors.New("this process no longer leads")
	received, counted, changed := atomic.Int64{}, atomic.Int64{}, atomic.Int64{}
	_, rc := newTLS(t, func(w http.ResponseWriter, _ *http.Request) {
		received.Add(1)
		w.Header().Set("Content-Type", "application/json")
	})
	tr := newTransport(t, rc, Options{
		Count: func(string, int, bool) { counted.Add(1) }, Changed: func() { changed.Add(1) }, Doubted: func() { t.Error("want no doubt") },
	})
	for range 2 * tolerated {
		_, _, err := get(sendcheck.With(t.Context(), func() error { return errCheck }), tr, rc.Host)
		if refused := (*sendcheck.Error)(nil); !errors.As(err, &refused) || !errors.Is(err, errCheck) {
			t.Errorf("want %v, got %v", errCheck, err)
		}
	}
	if n := received.Load() + counted.Load() + changed.Load(); n != 0 || tr.Outcome() != (Outcome{}) {
		t.Errorf("want no request and no outcome, got %d and %+v", n, tr.Outcome())
	}
	if _, _, err := get(sendcheck.With(t.Context(), func() error { return nil }), tr, rc.Host+"/version"); err != nil {
		t.Error(err)
	}
	if got := tr.Outcome().State; got != Connected || received.Load() != 1 || counted.Load() != 1 {
		t.Errorf("want one request and the state %s, got %d and %s", Connected, received.Load(), got)
	}
}
