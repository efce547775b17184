// SPDX-License-Identifier: Apache-2.0

package main

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	authorizationv1 "k8s.io/api/authorization/v1"
)

// requests counts what is sent to the control plane. The target package counts what is sent to target clusters.
type requests struct {
	*prometheus.CounterVec
}

func newRequests() *requests {
	return &requests{prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "provider_kyma_control_plane_requests_total",
		Help: "Requests sent to the control plane, by method (WATCH for watches, REVIEW for questions about rights) and status code (0 if there was no answer).",
	}, []string{"verb", "code"})}
}

// wrap a transport.
func (r *requests) wrap(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(req *http.Request) (*http.Response, error) {
		res, err := next.RoundTrip(req)
		verb, code := verbOf(req), 0
		if res != nil {
			code = res.StatusCode
		}
		r.WithLabelValues(verb, strconv.Itoa(code)).Inc()
		return res, err
	})
}

// verbOf a request is its method, but for those that are something else than their method says.
func verbOf(r *http.Request) string {
	if w := r.URL.Query().Get("watch"); w == "true" || w == "1" {
		return "WATCH"
	}
	// These are created, and never stored.
	if r.Method == http.MethodPost && strings.HasPrefix(r.URL.Path, "/apis/"+authorizationv1.GroupName+"/") {
		return "REVIEW"
	}
	return r.Method
}

type roundTripper func(*http.Request) (*http.Response, error)

// RoundTrip calls the function.
func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
