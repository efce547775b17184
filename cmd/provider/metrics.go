// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/tls"

	"sigs.k8s.io/controller-runtime/pkg/metrics/filters"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
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
