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
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/client-go/rest"
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
