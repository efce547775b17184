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
	// tokens lists the other hosts that credentials are for.
	tokens []string
	// listed lists the hosts that a redirect may name wherever they are.
	listed []string
	next   *http.Transport
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

// check refuses an address that a registry could use to make us send requests to a service that only we can reach, such as
// the metadata service of a cloud: an internal address in a redirect, or of a token service. A name is checked when it is
// dialed; here it would be judged before a proxy and the resolver see it.
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
	if err == nil && w.dialer.Referred().Check(ip) != nil {
		return errors.Errorf("it refers to the internal address %q, which is refused", to)
	}
	return nil
}

// owns reports whether host[:port] is the configured host. Another port of the same machine is another server.
func (w *wire) owns(host string) bool { return w.normal(host) == w.normal(w.host) }

// normal returns the normal form of host[:port], without the port of the scheme.
func (w *wire) normal(host string) string {
	host = normalHost(host)
	if w.scheme != schemeTLS {
		host = strings.TrimSuffix(host, ":80")
	}
	return host
}

// dialerFor returns what connects to host[:port], which a redirect may have named.
func (w *wire) dialerFor(host string) *netguard.Dialer {
	if w.named(host) {
		return w.dialer
	}
	return w.dialer.Referred()
}

// named reports whether the list of registries names host[:port], so that it isn't only the registry that refers to it.
func (w *wire) named(host string) bool {
	return w.trusts(host) || slices.ContainsFunc(w.listed, func(l string) bool { return w.normal(l) == w.normal(host) })
}

func (w *wire) dial(ctx context.Context, network, address string) (net.Conn, error) {
	return w.dialerFor(address).DialContext(ctx, network, address)
}

func (w *wire) proxy(r *http.Request) (*url.URL, error) {
	return w.dialerFor(r.URL.Host).Proxy(nil)(r)
}
