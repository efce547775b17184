// SPDX-License-Identifier: Apache-2.0

package main

import (
	"net/http"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
)

// requests counts what is sent to the control plane. The target package counts what is sent to target clusters.
type requests struct {
	*prometheus.CounterVec
}

func newRequests() *requests {
	return &requests{prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "provider_kyma_control_plane_requests_total",
		Help: "Requests sent to the control plane, by method (WATCH for watches) and status code (0 if there was no answer).",
	}, []string{"verb", "code"})}
}

// wrap a transport.
func (r *requests) wrap(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(req *http.Request) (*http.Response, error) {
		res, err := next.RoundTrip(req)
		verb, code := req.Method, 0
		if w := req.URL.Query().Get("watch"); w == "true" || w == "1" {
			verb = "WATCH"
		}
		if res != nil {
			code = res.StatusCode
		}
		r.WithLabelValues(verb, strconv.Itoa(code)).Inc()
		return res, err
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

// RoundTrip calls the function.
func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
