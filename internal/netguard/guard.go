// SPDX-License-Identifier: Apache-2.0

package netguard

import (
	"net"
	"net/netip"
	"net/url"
	"strings"

	"golang.org/x/net/http/httpproxy"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// Trust specifies who chose the hosts that a Dialer connects to. The zero value is the strictest one.
type Trust int

const (
	// Tenant means that a user of a single namespace chose the host. In addition to the addresses that are always refused,
	// loopback addresses and the Services of the cluster in which the provider runs are refused.
	Tenant Trust = iota
	// Platform means that an administrator or the user of a command chose the host. Metadata services, and link-local,
	// multicast and unspecified addresses are refused.
	Platform
	// Own means the API server of the provider's own control plane. No addresses are refused.
	Own
)

// Options are the options of a Guard. The zero value is valid. If several ranges contain an address, the most specific one
// decides. For equal ranges, Deny takes precedence over Allow, and Allow takes precedence over the addresses that are refused
// to tenants. Addresses that are always refused cannot be allowed.
type Options struct {
	// Allow lists ranges that are not refused.
	Allow []netip.Prefix
	// Deny lists ranges that are refused to tenants and to the platform.
	Deny []netip.Prefix
	// Services lists the ranges of Services in the cluster of the provider.
	Services []netip.Prefix
	// Resolver resolves names. The default is the resolver of the process.
	Resolver *net.Resolver
	// Proxy is the proxy for all connections without their own proxy. The default is the environment of the process.
	Proxy *httpproxy.Config
}

// A Guard decides which addresses the process connects to. It is safe for concurrent use.
type Guard struct {
	options  Options
	resolver *net.Resolver
	proxyFor func(*url.URL) (*url.URL, error)
	proxies  map[string]bool // The addresses of Options.Proxy.
}

// New returns a Guard.
func New(o Options) *Guard {
	if o.Proxy == nil {
		o.Proxy = httpproxy.FromEnvironment()
	}
	g := &Guard{options: o, resolver: o.Resolver, proxyFor: o.Proxy.ProxyFunc(), proxies: map[string]bool{}}
	if g.resolver == nil {
		g.resolver = net.DefaultResolver
	}
	for _, text := range []string{o.Proxy.HTTPProxy, o.Proxy.HTTPSProxy} {
		if u, err := parseProxy(text); err == nil {
			g.proxies[addressOf(u)] = true
		}
	}
	return g
}

// Dialer returns the Dialer for hosts with the given trust.
func (g *Guard) Dialer(t Trust) *Dialer { return &Dialer{guard: g, trust: t} }

// ParseRanges parses ranges of addresses, such as 10.0.0.0/8 or 10.0.0.1.
func ParseRanges(texts []string) ([]netip.Prefix, error) {
	out := make([]netip.Prefix, 0, len(texts))
	for _, s := range texts {
		p, err := netip.ParsePrefix(s)
		if a, e := netip.ParseAddr(s); err != nil && e == nil && a.Zone() == "" {
			p, err = netip.PrefixFrom(a, a.BitLen()), nil
		}
		if err != nil || p.Addr().Is4In6() {
			return nil, errors.Errorf("invalid address range %q: must be a CIDR such as 10.0.0.0/8 or fd00::/8", s)
		}
		out = append(out, p.Masked())
	}
	return out, nil
}

// ServicesOf guesses the Service IP range of a cluster from the address of the Service kubernetes, which is the first address
// in this range. It returns nil for any other text.
func ServicesOf(kubernetes string) []netip.Prefix {
	a, err := netip.ParseAddr(kubernetes)
	if err != nil || a.IsLoopback() {
		return nil
	}
	bits := 20 // Ranges of public addresses are small, as in GKE.
	switch {
	case a.Is6():
		bits = 108 // API servers accept no larger range.
	case netip.MustParsePrefix("10.96.0.0/24").Contains(a):
		bits = 12 // The default of kubeadm.
	case a.IsPrivate(), netip.MustParsePrefix("100.64.0.0/10").Contains(a):
		bits = 16
	case netip.PrefixFrom(a, bits).Masked().Addr().Next() != a:
		return nil // This is the address of a load balancer.
	}
	return []netip.Prefix{netip.PrefixFrom(a, bits).Masked()}
}

// A RefusedError reports that an address is refused. It does not contain the address, because a tenant could use the
// provider to look up names that only the provider can resolve.
type RefusedError struct {
	// Class describes the address, for example "a link-local address".
	Class string
	// Flag is the flag of the provider that allows such addresses, or empty.
	Flag string
}

// Error returns a sentence without a subject, which is equal for equal addresses.
func (e *RefusedError) Error() string {
	s := "refusing to connect to " + e.Class
	if e.Flag != "" {
		s += "; if this is intended, start the provider with " + e.Flag
	}
	return s
}

const allowFlag = "--allow-target-cidr"

// Private returns the ranges of private networks, which Dialer.Referred refuses.
func Private() []netip.Prefix { return private() }

// Check returns a *RefusedError if the address is refused. DialContext does this check itself. Use Check for an address that is
// known earlier.
func (d *Dialer) Check(a netip.Addr) error {
	if d.trust == Own {
		return nil
	}
	for _, form := range forms(a) {
		for _, c := range never() {
			if longest(c.ranges, form) >= 0 {
				return &RefusedError{Class: c.reason}
			}
		}
		if err := d.denied(form); err != nil {
			return err
		}
	}
	return nil
}

// denied checks the ranges of the options, and the ranges that are refused unless the options allow them.
func (d *Dialer) denied(a netip.Addr) error {
	o := d.guard.options
	allow := longest(o.Allow, a)
	if n := longest(o.Deny, a); n >= 0 && n >= allow {
		return &RefusedError{Class: "an address in a range of --deny-target-cidr"}
	}
	var more []class
	if d.trust == Tenant || d.referred {
		more = []class{
			{reason: "a loopback address", ranges: loopback()},
			{reason: "an address in the Service range of the control plane", ranges: o.Services},
		}
	}
	if d.referred {
		more = append(more, class{reason: "an address in a private network", ranges: private()})
	}
	for _, c := range more {
		if n := longest(c.ranges, a); n > allow {
			return &RefusedError{Class: c.reason, Flag: allowFlag}
		}
	}
	return nil
}

// parseProxy parses a proxy in the form of the environment variables, in which the scheme is optional.
func parseProxy(text string) (*url.URL, error) {
	if text != "" && !strings.Contains(text, "://") {
		text = "http://" + text
	}
	u, err := url.Parse(text)
	if err == nil && u.Host == "" {
		err = errors.New("the host of the proxy is missing")
	}
	return u, err
}

// addressOf returns the host and port of a URL in lower case.
func addressOf(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443", "socks5": "1080", "socks5h": "1080"}[u.Scheme]
	}
	return strings.ToLower(net.JoinHostPort(u.Hostname(), port))
}
