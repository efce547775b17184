// SPDX-License-Identifier: Apache-2.0

package main

import (
	"net/http"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/client-go/transport"

	"github.com/crossplane-contrib/provider-kyma/internal/metrics"
)

// countRequests returns a function that wraps a transport to count its requests. Package target counts the requests to target
// clusters.
func countRequests(r metrics.Requests) transport.WrapperFunc {
	return func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(req *http.Request) (*http.Response, error) {
			res, err := next.RoundTrip(req)
			code := 0
			if res != nil {
				code = res.StatusCode
			}
			r.Count(verbOf(req), code)
			return res, err
		})
	}
}

// verbOf returns WATCH for a watch, REVIEW for an access review, and the HTTP method for any other request.
func verbOf(r *http.Request) string {
	if w := r.URL.Query().Get("watch"); w == "true" || w == "1" {
		return "WATCH"
	}
	// Clients create access reviews, but the API server doesn't store them.
	if r.Method == http.MethodPost && strings.HasPrefix(r.URL.Path, "/apis/"+authorizationv1.GroupName+"/") {
		return "REVIEW"
	}
	return r.Method
}

type roundTripper func(*http.Request) (*http.Response, error)

// RoundTrip calls f.
func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
