// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/tls"

	"k8s.io/client-go/rest"
	clientmetrics "k8s.io/client-go/tools/metrics"
	"sigs.k8s.io/controller-runtime/pkg/metrics/filters"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// metricsOptions returns the options of the metrics endpoint. If it is secure, it requires TLS, and a token of a user who is
// allowed to get /metrics in the control plane.
func metricsOptions(f *flags) metricsserver.Options {
	o := metricsserver.Options{BindAddress: f.metricsAddress}
	if !f.metricsSecure {
		return o
	}
	o.SecureServing, o.CertDir, o.FilterProvider = true, f.metricsCertDir, filters.WithAuthenticationAndAuthorization
	// A client that opens and cancels many streams of HTTP/2 would keep the provider busy.
	o.TLSOpts = []func(*tls.Config){func(c *tls.Config) { c.NextProtos = []string{"http/1.1"} }}
	return o
}

// limitClientMetrics makes rest_client_requests_total of controller-runtime, which has a label for the host, count only the requests to
// the control plane.
// Users choose the hosts of target clusters, and each of them would be a series that is never deleted. Call it before requests are sent.
func limitClientMetrics(controlPlane *rest.Config) error {
	u, _, err := rest.DefaultServerUrlFor(controlPlane)
	if err != nil {
		return errors.Wrap(err, "cannot parse the address of the control plane")
	}
	clientmetrics.RequestResult = resultsOf{host: u.Host, next: clientmetrics.RequestResult}
	return nil
}

// resultsOf counts requests to one host.
type resultsOf struct {
	host string
	next clientmetrics.ResultMetric
}

// Increment counts a request, unless it was sent to a different host.
func (r resultsOf) Increment(ctx context.Context, code, method, host string) {
	if host == r.host {
		r.next.Increment(ctx, code, method, host)
	}
}
