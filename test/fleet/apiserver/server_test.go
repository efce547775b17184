// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"context"
	"io"
	"net"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/rest"
)

const configMaps = "/api/v1/namespaces/default/configmaps"

func startServer(t *testing.T, clusters ...string) *Server {
	t.Helper()
	s, err := Start(t.Context(), Options{BookmarkEvery: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	for _, c := range clusters {
		if err := s.AddCluster(c); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func setFault(t *testing.T, s *Server, cluster string, f Fault) {
	t.Helper()
	if err := s.SetFault(cluster, f); err != nil {
		t.Fatal(err)
	}
}

// A user sends requests to a cluster.
type user struct {
	*http.Client

	host string
}

func userOf(t *testing.T, config *rest.Config) user {
	t.Helper()
	tls, err := rest.TLSConfigFor(config)
	if err != nil {
		t.Fatal(err)
	}
	// Users do not share connections, as those of rest.HTTPClientFor would.
	transport := &http.Transport{TLSClientConfig: tls, ForceAttemptHTTP2: true, DialContext: (&net.Dialer{}).DialContext}
	t.Cleanup(transport.CloseIdleConnections)
	authenticated, err := rest.HTTPWrappersForConfig(config, transport)
	if err != nil {
		t.Fatal(err)
	}
	return user{Client: &http.Client{Transport: authenticated}, host: config.Host}
}

// send returns the status code and the body of the response, or the error.
func (u user) send(ctx context.Context, method, path, body string) (int, string, error) {
	r, err := http.NewRequestWithContext(ctx, method, u.host+path, strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	r.Header.Set("Content-Type", "application/json")
	resp, err := u.Do(r)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(b), err
}

// TestClusters checks that clusters with one address are different, and that HTTP/2 is used.
func TestClusters(t *testing.T) {
	s := startServer(t, "a", "b")
	a, b := userOf(t, s.Config("a")), userOf(t, s.Config("b"))
	if code, body, err := a.send(t.Context(), http.MethodPost, configMaps, `{"metadata": {"name": "x"}}`); code != http.StatusCreated {
		t.Fatalf("%d %s %v", code, body, err)
	}
	if code, body, _ := b.send(t.Context(), http.MethodGet, configMaps+"/x", ""); code != http.StatusNotFound {
		t.Errorf("the other cluster must not have the object: %d %s", code, body)
	}
	crossed := s.Config("a")
	crossed.BearerToken = s.Config("b").BearerToken
	if code, body, _ := userOf(t, crossed).send(t.Context(), http.MethodGet, configMaps, ""); code != http.StatusUnauthorized {
		t.Errorf("the token of another cluster must be refused: %d %s", code, body)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, a.host+"/version", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := a.Do(r)
	if err != nil || resp.ProtoMajor != 2 {
		t.Fatalf("want HTTP/2, got %v, %v", resp, err)
	}
	_ = resp.Body.Close()
	want := map[Call]int{{"create", "configmaps"}: 1, {"list", "configmaps"}: 1, {"get", "/version"}: 1}
	if diff := cmp.Diff(want, s.Count("a").Requests); diff != "" {
		t.Errorf("requests: -want, +got:\n%s", diff)
	}
	if got := s.Count("a"); got.Writes != 1 || got.OpenConnections != 2 || s.Count("").OpenConnections != 3 {
		t.Errorf("wrong counters: %+v", got)
	}
	s.RemoveCluster("b")
	if _, _, err := b.send(t.Context(), http.MethodGet, "/version", ""); err == nil {
		t.Error("a cluster that is removed must not answer")
	}
}

// TestUnknown checks that calls that are not implemented are recorded.
func TestUnknown(t *testing.T) {
	s := startServer(t, "a")
	u := userOf(t, s.Config("a"))
	for _, path := range []string{"/openapi/v3", configMaps + "/x/log"} {
		if code, body, err := u.send(t.Context(), http.MethodGet, path, ""); code != http.StatusNotImplemented {
			t.Errorf("%s: %d %s %v", path, code, body, err)
		}
	}
	if diff := cmp.Diff([]string{"GET /openapi/v3", "get configmaps/log"}, s.Unknown()); diff != "" {
		t.Errorf("Unknown(): -want, +got:\n%s", diff)
	}
}

// TestFaults checks what a client sees of each fault, on an open connection and on a new one, and that the cluster works afterwards.
func TestFaults(t *testing.T) {
	cases := map[string]struct {
		reason string
		fault  Fault
		// want is the status code, or 0 for an error.
		want int
	}{
		"Refused":         {reason: "Connections are reset.", fault: Fault{Mode: Refused}},
		"BlackHole":       {reason: "The server does not respond.", fault: Fault{Mode: BlackHole}},
		"Hang":            {reason: "The body never comes.", fault: Fault{Mode: Hang}},
		"Unauthorized":    {reason: "The server responds with status 401.", fault: Fault{Mode: Unauthorized}, want: http.StatusUnauthorized},
		"Forbidden":       {reason: "The server responds with status 403.", fault: Fault{Mode: Forbidden}, want: http.StatusForbidden},
		"TooManyRequests": {reason: "The server responds with status 429.", fault: Fault{Mode: TooManyRequests, RetryAfter: 7}, want: http.StatusTooManyRequests},
		"ServerError":     {reason: "The server responds with status 503.", fault: Fault{Mode: ServerError, Code: 503}, want: http.StatusServiceUnavailable},
		"Certificate":     {reason: "The certificate is not trusted.", fault: Fault{Mode: SwappedCertificate}},
		"Slow":            {reason: "The response takes longer than the client waits.", fault: Fault{BytesPerSecond: 100}},
		"Late":            {reason: "The response comes later than the client waits.", fault: Fault{Latency: time.Minute}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := startServer(t, "a", "b")
			open := userOf(t, s.Config("a"))
			if code, body, err := open.send(t.Context(), http.MethodGet, configMaps, ""); code != http.StatusOK {
				t.Fatalf("%d %s %v", code, body, err)
			}
			setFault(t, s, "a", tc.fault)
			for which, u := range map[string]user{"open": open, "new": userOf(t, s.Config("a"))} {
				ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
				code, body, err := u.send(ctx, http.MethodGet, configMaps, "")
				cancel()
				if got := code; tc.want == 0 && err == nil || tc.want != 0 && got != tc.want {
					t.Errorf("%s\n%s connection: want %d, got %d %s %v", tc.reason, which, tc.want, got, body, err)
				}
			}
			if code, _, err := userOf(t, s.Config("b")).send(t.Context(), http.MethodGet, configMaps, ""); code != http.StatusOK {
				t.Errorf("another cluster must work: %d %v", code, err)
			}
			setFault(t, s, "a", Fault{})
			if code, body, err := userOf(t, s.Config("a")).send(t.Context(), http.MethodGet, configMaps, ""); code != http.StatusOK {
				t.Errorf("the cluster must work again: %d %s %v", code, body, err)
			}
		})
	}
}

// TestStalledWatch checks that a stalled watch sends nothing until the fault ends.
func TestStalledWatch(t *testing.T) {
	s := startServer(t, "a")
	u := userOf(t, s.Config("a"))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, u.host+configMaps+"?watch=true&allowWatchBookmarks=true", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := u.Do(r) //nolint:bodyclose // It is closed below.
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	received := make(chan string)
	go func() {
		b := make([]byte, 4096)
		for {
			n, err := resp.Body.Read(b)
			if err != nil {
				close(received)
				return
			}
			received <- string(b[:n])
		}
	}()
	if got := <-received; !strings.Contains(got, "BOOKMARK") {
		t.Errorf("want a bookmark, got %s", got)
	}
	setFault(t, s, "a", Fault{Mode: StalledWatches})
	if code, body, err := u.send(ctx, http.MethodPost, configMaps, `{"metadata": {"name": "x"}}`); code != http.StatusCreated {
		t.Fatalf("%d %s %v", code, body, err)
	}
	if got := s.Count("a").OpenWatches; got != 1 {
		t.Errorf("want 1 open watch, got %d", got)
	}
	for stalled := false; !stalled; {
		select {
		case got := <-received:
			if strings.Contains(got, "ADDED") {
				t.Fatalf("a stalled watch must send no events, got %s", got)
			}
		case <-time.After(200 * time.Millisecond):
			stalled = true
		}
	}
	setFault(t, s, "a", Fault{})
	for got := range received {
		if strings.Contains(got, "ADDED") {
			return
		}
	}
	t.Error("the watch must continue")
}

// TestReplace checks that a replaced cluster is empty, has another UID, and the same token.
func TestReplace(t *testing.T) {
	s := startServer(t, "a")
	u := userOf(t, s.Config("a"))
	if code, body, err := u.send(t.Context(), http.MethodPost, configMaps, `{"metadata": {"name": "x"}}`); code != http.StatusCreated {
		t.Fatalf("%d %s %v", code, body, err)
	}
	_, before, _ := u.send(t.Context(), http.MethodGet, "/api/v1/namespaces/kube-system", "")
	if err := s.Replace("a"); err != nil {
		t.Fatal(err)
	}
	u = userOf(t, s.Config("a"))
	code, after, err := u.send(t.Context(), http.MethodGet, "/api/v1/namespaces/kube-system", "")
	if code != http.StatusOK || before == after {
		t.Errorf("want another namespace: %d %s %v", code, after, err)
	}
	if code, _, _ := u.send(t.Context(), http.MethodGet, configMaps+"/x", ""); code != http.StatusNotFound {
		t.Errorf("want 404, got %d", code)
	}
	if err := s.RotateToken("a"); err != nil {
		t.Fatal(err)
	}
	if code, _, _ := u.send(t.Context(), http.MethodGet, configMaps+"/x", ""); code != http.StatusUnauthorized {
		t.Errorf("the old token must be refused, got %d", code)
	}
}

// TestExpiredWatch checks that a watch from a version that is forgotten ends with an error.
func TestExpiredWatch(t *testing.T) {
	s := startServer(t, "a")
	code, body, err := userOf(t, s.Config("a")).send(t.Context(), http.MethodGet, configMaps+"?watch=true&resourceVersion=1", "")
	if code != http.StatusOK || err != nil || !strings.Contains(body, `"reason":"Expired","code":410`) {
		t.Errorf("want an event with an error: %d %s %v", code, body, err)
	}
}

// TestWatches checks what an open connection with watches costs, on both sides together, and that nothing is left of it.
func TestWatches(t *testing.T) {
	const clusters, watches, most = 20, 6, 12
	s := startServer(t)
	before, memory := runtime.NumGoroutine(), heap()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for i := range clusters {
		name := "c" + strconv.Itoa(i)
		if err := s.AddCluster(name); err != nil {
			t.Fatal(err)
		}
		u := userOf(t, s.Config(name))
		for range watches {
			r, err := http.NewRequestWithContext(ctx, http.MethodGet, u.host+configMaps+"?watch=true", nil)
			if err != nil {
				t.Fatal(err)
			}
			resp, err := u.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = resp.Body.Close() })
		}
	}
	each := (runtime.NumGoroutine() - before) / clusters
	t.Logf("a connection with %d watches needs %d goroutines and %d bytes on both sides", watches, each, (heap()-memory)/clusters)
	if each > watches+most {
		t.Errorf("a connection with %d watches needs %d goroutines", watches, each)
	}
	if got := s.Count("").OpenWatches; got != clusters*watches {
		t.Errorf("want %d open watches, got %d", clusters*watches, got)
	}
	cancel()
	for _, name := range s.Names() {
		s.RemoveCluster(name)
	}
	deadline := time.Now().Add(time.Minute)
	for s.Count("").OpenWatches > 0 || s.Count("").OpenConnections > 0 || runtime.NumGoroutine() > before+1 {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines are left, and %+v", runtime.NumGoroutine()-before, s.Count(""))
		}
		time.Sleep(5 * time.Millisecond)
	}
}
