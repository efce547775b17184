// SPDX-License-Identifier: Apache-2.0

package netguard

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

const (
	connectTime = 10 * time.Second
	lookupTime  = 10 * time.Second
	keepAlive   = 30 * time.Second
)

// A Dialer connects to hosts. Which addresses it refuses depends on who specified the hosts.
type Dialer struct {
	guard *Guard
	trust Trust
	// referred is true if a server specified the host, for example in a redirect.
	referred bool
}

// Referred returns the Dialer for hosts that a server specifies, for example in a redirect. The server can be anywhere on the
// Internet. In addition to the addresses that are refused to tenants, this Dialer refuses private networks.
func (d *Dialer) Referred() *Dialer {
	if d.trust == Own {
		return d
	}
	return &Dialer{guard: d.guard, trust: d.trust, referred: true}
}

// Trust returns who specified the hosts.
func (d *Dialer) Trust() Trust { return d.trust }

// DialContext connects to an address, host:port. If the host resolves to refused addresses only, the error is a
// *RefusedError.
func (d *Dialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	n := net.Dialer{Timeout: connectTime, KeepAlive: keepAlive, Resolver: d.guard.resolver}
	// The administrator configures the proxy, which can be in the same pod. The method Proxy checks the hosts behind it.
	if !d.guard.proxies[strings.ToLower(address)] {
		n.Control = d.control
	}
	return n.DialContext(ctx, network, address)
}

// control is called with each resolved address before a connection to it is opened.
func (d *Dialer) control(_, address string, _ syscall.RawConn) error {
	a, err := netip.ParseAddrPort(address)
	if err != nil {
		return &RefusedError{Class: "an address that is not an IP address"}
	}
	return d.Check(a.Addr())
}

// Proxy returns the function that selects the proxy of a request: own, or the function for the environment if own is nil. It
// checks the host of a request before the request is sent to a proxy from the environment. Hosts that cannot be resolved
// locally are not checked.
func (d *Dialer) Proxy(own func(*http.Request) (*url.URL, error)) func(*http.Request) (*url.URL, error) {
	if own == nil {
		own = func(r *http.Request) (*url.URL, error) { return d.guard.proxyFor(r.URL) }
	}
	return func(r *http.Request) (*url.URL, error) {
		proxy, err := own(r)
		if err != nil || proxy == nil || !d.guard.proxies[addressOf(proxy)] {
			return proxy, err
		}
		return proxy, d.lookup(r.Context(), r.URL.Hostname())
	}
}

// lookup returns an error if a host has a refused address.
func (d *Dialer) lookup(ctx context.Context, host string) error {
	if a, err := netip.ParseAddr(host); err == nil {
		return d.Check(a)
	}
	if d.trust != Own && endsInNumber(host) {
		// Some proxies interpret 0x7f.1 as an address.
		return &RefusedError{Class: "an IP address in an unusual notation"}
	}
	ctx, cancel := context.WithTimeout(ctx, lookupTime)
	defer cancel()
	addresses, err := d.guard.resolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil // The proxy might use a different resolver.
	}
	for _, a := range addresses {
		if err := d.Check(a); err != nil {
			return err
		}
	}
	return nil
}

// endsInNumber reports whether the last label of a host is a number, in a notation that old programs accept as an address.
func endsInNumber(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	last := host[strings.LastIndex(host, ".")+1:]
	digits := "0123456789"
	if hex, ok := strings.CutPrefix(last, "0x"); ok {
		last, digits = hex, "0123456789abcdef"
	}
	return strings.Trim(last, digits) == ""
}

// Client returns an HTTP client for small requests to one server, such as those for tokens. It does not follow redirects, so
// that no other server receives the request.
func (d *Dialer) Client(timeout time.Duration) *http.Client {
	return &http.Client{
		Timeout:       timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: plain{&http.Transport{
			Proxy:               d.Proxy(nil),
			DialContext:         d.DialContext,
			ForceAttemptHTTP2:   true,
			TLSHandshakeTimeout: connectTime,
			IdleConnTimeout:     keepAlive,
			MaxIdleConns:        maxIdle,
		}},
	}
}

// plain returns a *RefusedError without the resolved address, because token libraries convert all errors to text.
type plain struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (p plain) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := p.next.RoundTrip(r)
	if refused := (*RefusedError)(nil); errors.As(err, &refused) {
		return nil, refused
	}
	return resp, err
}

// maxIdle limits the idle connections of a Client.
const maxIdle = 8
