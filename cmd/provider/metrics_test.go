// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	clientmetrics "k8s.io/client-go/tools/metrics"
	registry "sigs.k8s.io/controller-runtime/pkg/metrics"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

// reviewer is a control plane that knows two tokens, of which one may get the metrics.
func reviewer(t *testing.T) *rest.Config {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var out any
		body, _ := io.ReadAll(r.Body)
		switch {
		case strings.HasSuffix(r.URL.Path, "/tokenreviews"):
			review := &authenticationv1.TokenReview{}
			_ = json.Unmarshal(body, review)
			review.Status.Authenticated = review.Spec.Token == "prometheus" || review.Spec.Token == "other"
			review.Status.User.Username = review.Spec.Token
			out = review
		case strings.HasSuffix(r.URL.Path, "/subjectaccessreviews"):
			review := &authorizationv1.SubjectAccessReview{}
			_ = json.Unmarshal(body, review)
			a := review.Spec.NonResourceAttributes
			review.Status.Allowed = review.Spec.User == "prometheus" && a != nil && a.Path == "/metrics" && a.Verb == "get"
			out = review
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusCreated)
		_ = json.NewEncoder(w).Encode(out)
	}))
	t.Cleanup(s.Close)
	return &rest.Config{Host: s.URL, ContentConfig: rest.ContentConfig{ContentType: "application/json", AcceptContentTypes: "application/json"}}
}

// serveMetrics starts the metrics endpoint of some flags, and returns its address.
func serveMetrics(t *testing.T, args ...string) string {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := parse(append(args, "--metrics-bind-address="+address))
	if err != nil {
		t.Fatal(err)
	}
	cfg := reviewer(t)
	client, err := rest.HTTPClientFor(cfg)
	if err != nil {
		t.Fatal(err)
	}
	s, err := metricsserver.NewServer(metricsOptions(f), cfg, client)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return address
}

// scrape returns the status code of the metrics endpoint for a token.
func scrape(t *testing.T, url, token string) int {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	defer client.CloseIdleConnections()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	for {
		resp, err := client.Do(req)
		if err != nil && t.Context().Err() == nil && strings.Contains(err.Error(), "connection refused") {
			continue // It starts by itself.
		}
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		return resp.StatusCode
	}
}

// TestMetrics checks who gets the metrics, with and without --metrics-secure.
func TestMetrics(t *testing.T) {
	plain, secure := "http://"+serveMetrics(t), "https://"+serveMetrics(t, "--metrics-secure")
	cases := map[string]struct {
		reason, url, token string
		want               int
	}{
		"Plain":        {reason: "By default, all clients that reach the endpoint get the metrics.", url: plain, want: http.StatusOK},
		"NoToken":      {reason: "With the flag, a token is required.", url: secure, want: http.StatusUnauthorized},
		"UnknownToken": {reason: "With the flag, the control plane must know the token; controller-runtime reports an unknown one like other failures.", url: secure, token: "unknown", want: http.StatusInternalServerError},
		"OtherUser":    {reason: "With the flag, the user of the token needs the permission.", url: secure, token: "other", want: http.StatusForbidden},
		"Allowed":      {reason: "With the flag, a user with the permission gets the metrics.", url: secure, token: "prometheus", want: http.StatusOK},
		"NoTLS":        {reason: "The token is never sent in the clear.", url: strings.Replace(secure, "https", "http", 1), token: "prometheus", want: http.StatusBadRequest},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := scrape(t, tc.url, tc.token); got != tc.want {
				t.Errorf("%s\nGET /metrics: got %d, want %d", tc.reason, got, tc.want)
			}
		})
	}
}

// TestLimitClientMetrics checks that only the host of the control plane is a label of a metric, however many target clusters there are.
func TestLimitClientMetrics(t *testing.T) {
	before, others := clientmetrics.RequestResult, countedHosts(t) // Other tests send requests too.
	t.Cleanup(func() { clientmetrics.RequestResult = before })
	server := func() *rest.Config {
		s := httptest.NewServer(http.NotFoundHandler())
		t.Cleanup(s.Close)
		return &rest.Config{Host: s.URL}
	}
	control := server()
	if err := limitClientMetrics(control); err != nil {
		t.Fatal(err)
	}
	for _, c := range []*rest.Config{control, server(), server()} {
		client, err := kubernetes.NewForConfig(c)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := client.Discovery().ServerVersion(); err == nil {
			t.Error("want an error from a server without an API")
		}
	}
	got := slices.DeleteFunc(countedHosts(t), func(h string) bool { return slices.Contains(others, h) })
	if diff := cmp.Diff([]string{control.Host}, got); diff != "" {
		t.Errorf("hosts of rest_client_requests_total: -want, +got:\n%s", diff)
	}
}

// countedHosts returns the hosts that are labels of rest_client_requests_total.
func countedHosts(t *testing.T) []string {
	t.Helper()
	families, err := registry.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, f := range families {
		if f.GetName() != "rest_client_requests_total" {
			continue
		}
		for _, m := range f.GetMetric() {
			for _, l := range m.GetLabel() {
				if l.GetName() == "host" {
					out = append(out, "http://"+l.GetValue())
				}
			}
		}
	}
	return out
}
