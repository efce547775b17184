// SPDX-License-Identifier: Apache-2.0

package main

import (
	"net/http"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/client-go/transport"

	"github.com/crossplane-contrib/provider-kyma/internal/metrics"
)

// countRequests returns a wrapper of transports that counts requests. Package target counts those to target clusters.
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

// verbOf returns the HTTP method of a request, but WATCH for watches and REVIEW for access reviews.
func verbOf(r *http.Request) string {
	if w := r.URL.Query().Get("watch"); w == "true" || w == "1" {
		return "WATCH"
	}
	// The API server doesn't store access reviews, although clients create them.
	if r.Method == http.MethodPost && strings.HasPrefix(r.URL.Path, "/apis/"+authorizationv1.GroupName+"/") {
		return "REVIEW"
	}
	return r.Method
}

type roundTripper func(*http.Request) (*http.Response, error)

// RoundTrip calls the function.
func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
