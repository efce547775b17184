// SPDX-License-Identifier: Apache-2.0

package oci

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/netguard"
)

const (
	plainHTTP = "http"
	https     = "https"
)

// A wire enforces HTTP or HTTPS, whatever the layers above request, and bounds every body, including bodies that
// other packages read.
type wire struct {
	host   string
	scheme scheme
	agent  string
	limit  int64
	dialer *netguard.Dialer
	// tokens lists the other hosts to which credentials can be sent.
	tokens []string
	// listed lists the hosts to which redirects are allowed regardless of their addresses.
	listed []string
	// referred is true if a server specified the host.
	referred bool
	next     *http.Transport
}

func (w *wire) RoundTrip(in *http.Request) (*http.Response, error) {
	if err := w.check(in.URL); err != nil {
		return nil, err
	}
	r := in.Clone(in.Context())
	r.Header.Set("User-Agent", w.agent)
	own := w.owns(r.URL.Host)
	switch {
	case own && w.scheme == schemeTLS:
		r.URL.Scheme = https
	case own && w.scheme == schemePlain:
		r.URL.Scheme = plainHTTP
	case w.scheme == schemeTLS && r.URL.Scheme != https:
		return nil, errDowngrade
	}
	resp, err := w.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	resp.Body = struct {
		io.Reader
		io.Closer
	}{io.LimitReader(resp.Body, w.limit), resp.Body}
	return resp, nil
}

// check refuses internal addresses in redirects, of token services and of hosts in the index of a chart repository. A registry could
// otherwise use them to make the provider send requests to a service that only the provider can reach, such as a cloud metadata
// service. Names are only checked when they are dialed, because the resolver, or a proxy, determines their addresses.
func (w *wire) check(u *url.URL) error {
	if w.named(u.Host) {
		return nil
	}
	to := u.Hostname()
	name := strings.TrimSuffix(strings.ToLower(to), ".")
	ip, err := netip.ParseAddr(to)
	if name == "localhost" || strings.HasSuffix(name, ".localhost") {
		ip, err = netip.AddrFrom4([4]byte{127, 0, 0, 1}), nil
	}
	var refused error
	if err == nil {
		refused = w.dialer.Referred().Check(ip)
	}
	if refused != nil && !w.owns(u.Host) {
		return errors.Errorf("refusing a redirect to the internal address %q", to)
	}
	return refused
}

// owns reports whether host[:port] is the configured host. A different port on the same machine is a different server.
func (w *wire) owns(host string) bool { return w.normal(host) == w.normal(w.host) }

// normal returns the normal form of host[:port], without the port of the scheme.
func (w *wire) normal(host string) string {
	host = normalHost(host)
	if w.scheme != schemeTLS {
		host = strings.TrimSuffix(host, ":80")
	}
	return host
}

// dialerFor returns the Dialer for host[:port], which can come from a redirect.
func (w *wire) dialerFor(host string) *netguard.Dialer {
	if w.named(host) {
		return w.dialer
	}
	return w.dialer.Referred()
}

// named reports whether the author of the list of registries specified host[:port], and not only a server.
func (w *wire) named(host string) bool {
	return !w.referred && w.trusts(host) || slices.ContainsFunc(w.listed, func(l string) bool { return w.normal(l) == w.normal(host) })
}

func (w *wire) dial(ctx context.Context, network, address string) (net.Conn, error) {
	return w.dialerFor(address).DialContext(ctx, network, address)
}

func (w *wire) proxy(r *http.Request) (*url.URL, error) {
	return w.dialerFor(r.URL.Host).Proxy(nil)(r)
}
