// SPDX-License-Identifier: Apache-2.0

package oci

import (
	"net"
	"net/url"
	"slices"
	"strings"
)

// ReferredBy returns the repository for a reference in the index of the chart repository at from. Unless the repository is on the
// same server as from, or the list of registries contains its host, the server must be on the Internet. The same then applies to
// all servers to which it refers. Credentials stay the same.
func (r *Repository) ReferredBy(from *url.URL) *Repository {
	return &Repository{endpoint: r.referredBy(from, r.host), name: r.name}
}

// ReferredBy returns the endpoint for a URL in the index of the chart repository at from, as for a Repository.
func (s *HTTPEndpoint) ReferredBy(from *url.URL) *HTTPEndpoint {
	return &HTTPEndpoint{endpoint: s.referredBy(from, s.url.Host), url: s.url}
}

// referredBy returns the endpoint for host[:port] of the endpoint, to which the server of from refers.
func (e *endpoint) referredBy(from *url.URL, host string) *endpoint {
	if e.isListed() || from != nil && serverOf(from.Scheme, from.Host) == serverOf(e.scheme.ofURL(), host) {
		return e
	}
	c := *e
	c.referred = true
	return c.identify(e.caller)
}

// isListed reports whether the list of registries contains the host.
func (e *endpoint) isListed() bool {
	return slices.ContainsFunc(e.listed, func(l string) bool { return normalHost(l) == e.host })
}

// ofURL returns the scheme of a URL, or "" if it is not determined yet.
func (s scheme) ofURL() string {
	switch s {
	case schemeTLS:
		return https
	case schemePlain:
		return plainHTTP
	case schemeEither:
	}
	return ""
}

// serverOf returns host:port of a URL, with the protocol http, https or "". If neither its host nor its protocol determines the port,
// the result is not equal to that of any URL whose port is known.
func serverOf(protocol, host string) string {
	u := url.URL{Host: strings.ToLower(host)}
	port := u.Port()
	if port == "" {
		port = map[string]string{plainHTTP: "80", https: "443"}[protocol]
	}
	return net.JoinHostPort(u.Hostname(), port)
}
