// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"cmp"
	"context"
	"crypto/tls"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/transport"
	"k8s.io/client-go/util/connrotation"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/decoding"
	"github.com/crossplane-contrib/provider-kyma/internal/netguard"
	"github.com/crossplane-contrib/provider-kyma/internal/sendcheck"
	"github.com/crossplane-contrib/provider-kyma/internal/target/h2"
)

const (
	// connectTime is the timeout of the TLS handshake.
	connectTime = 10 * time.Second
	// idleTime is how long a network connection without requests stays open.
	idleTime = 90 * time.Second
)

// Options are the options of a transport. The zero value is valid.
type Options struct {
	Limits Limits
	// Budget bounds the memory of all responses of the transports that have it. The default is a budget for this transport, with a
	// size that fits the process.
	Budget *decoding.Budget
	// Dialer opens the connections. The default refuses the addresses that are refused to tenants.
	Dialer *netguard.Dialer
	// Count is called for each request; optional.
	Count CountFunc
	// Changed is called when the outcome has changed; optional.
	Changed func()
	// Monitored means that the caller probes the server while it is not Connected, with requests in the context of Probe.
	// During that time, all other requests fail immediately with the error of Ready. If Monitored is false, a circuit breaker
	// allows one request after each pause.
	Monitored bool
	// Idle is how long a network connection without requests stays open. The default is 90 seconds.
	Idle time.Duration
	// Tenant bounds what is read from all servers of a tenant together; optional.
	Tenant *Tenant
	// Waited is called with each time that a read waits because the server or its tenant has sent too much; optional.
	Waited func(time.Duration)
	// Slowed is called when the server alone has sent so much that the provider reads its data more slowly, at most once per hour;
	// optional. It must not block.
	Slowed func()
	// Opened is called when a response has arrived through a network connection that was opened since the previous call; optional. It must not block.
	Opened func()
	// Doubted is called after a failure that either the request or the server might have caused, so that the caller can probe
	// the server; optional.
	Doubted func()
}

// A Transport sends requests to one API server, with its credentials. It is safe for concurrent use.
type Transport struct {
	next      http.RoundTripper
	guard     *guard
	close     func()
	host      string
	url       string
	monitored bool
	breaker   *breaker
	throttle  throttle
	outcome   outcomes
	closed    atomic.Bool
	// changes counts the network connections that were opened or closed, and seen is its value when opened was called last.
	changes *atomic.Uint64
	seen    atomic.Uint64
	opened  func()
	// connections are those for HTTP/2, or nil if the REST config has its own transport, or an address without TLS.
	connections *h2.Pool
	// bearer adds the token to requests. It is nil if the token can't be replaced.
	bearer *bearer
}

// New returns a transport for a REST config. It connects when it is first used. Errors describe what is wrong with the
// TLS or authentication settings of the config.
func New(rc *rest.Config, o Options) (*Transport, error) {
	u, _, err := rest.DefaultServerUrlFor(rc)
	if err != nil {
		return nil, errors.New("the address of the API server is not a URL")
	}
	tc, err := rc.TransportConfig()
	if err != nil {
		return nil, errors.Wrap(err, "authentication")
	}
	if o.Dialer == nil {
		o.Dialer = netguard.New(netguard.Options{}).Dialer(netguard.Tenant)
	}
	if o.Budget == nil {
		o.Budget = decoding.Scaled()
	}
	changes := &atomic.Uint64{}
	base, connections, closeAll, err := baseOf(rc, u, tc, counting(newPace(o).dialer(dial(tc, o.Dialer)), changes), o.Dialer, cmp.Or(o.Idle, idleTime))
	if err != nil {
		return nil, err
	}
	host := u.Scheme + "://" + u.Host
	g := &guard{next: base, host: host, limits: o.Limits.withDefaults(o.Budget.Response()), budget: o.Budget, count: o.Count}
	authenticated, token := http.RoundTripper(g), bearerOf(tc, g)
	if token != nil {
		authenticated = token
	}
	next, err := transport.HTTPWrappersForConfig(tc, authenticated)
	if err != nil {
		return nil, errors.Wrap(err, "authentication")
	}
	return &Transport{
		next: next, guard: g, close: closeAll, host: host, url: u.String(), monitored: o.Monitored, breaker: newBreaker(time.Second, 30*time.Second),
		changes: changes, connections: connections, bearer: token, opened: o.Opened,
		outcome: outcomes{host: host, path: strings.TrimSuffix(u.Path, "/"), changed: o.Changed, doubted: o.Doubted},
	}, nil
}

// baseOf returns what sends requests, its connections for HTTP/2, or nil if there are none, and a function that closes all connections. client-go's own
// transport is shared between all configs with the same TLS settings, and is never closed.
func baseOf(
	rc *rest.Config, u *url.URL, tc *transport.Config, open connrotation.DialFunc, d *netguard.Dialer, idle time.Duration,
) (http.RoundTripper, *h2.Pool, func(), error) {
	if rc.Transport != nil {
		return rc.Transport, nil, func() {}, nil
	}
	connections := connrotation.NewDialer(open)
	settings, proxy, uncompressed := tlsOf(tc), d.Proxy(rc.Proxy), rc.DisableCompression
	build := func() (*http.Transport, error) {
		tlsConfig, err := settings()
		if err != nil {
			return nil, err
		}
		return &http.Transport{
			Proxy:               proxy,
			DialContext:         connections.DialContext,
			TLSClientConfig:     tlsConfig,
			TLSHandshakeTimeout: connectTime,
			MaxIdleConnsPerHost: 25,
			IdleConnTimeout:     idle,
			DisableCompression:  uncompressed,
			// A connection is closed when it receives no data, not even a response to a ping. Otherwise a watch would wait on
			// it forever.
			HTTP2: &http.HTTP2Config{SendPingTimeout: 30 * time.Second, PingTimeout: 15 * time.Second},
		}, nil
	}
	if u.Scheme != "https" {
		t, err := build()
		if err != nil {
			return nil, nil, nil, err
		}
		return t, nil, func() { t.CloseIdleConnections(); connections.CloseAll() }, nil
	}
	pool, err := h2.New(u, build)
	return pool, pool, func() { connections.CloseAll(); pool.Close() }, err
}

// tlsOf returns a function that returns a new TLS config at each call. It must not be called concurrently. All TLS configs have the content that the files of a
// transport.Config, if any, have at the first call, except for a client certificate in files, which is read again when it is needed.
func tlsOf(tc *transport.Config) func() (*tls.Config, error) {
	settings := tc.TLS
	return func() (*tls.Config, error) {
		c := &transport.Config{TLS: settings}
		out, err := transport.TLSConfigFor(c)
		if err != nil {
			return nil, errors.Wrap(err, "TLS")
		}
		settings = c.TLS // It contains what was read.
		if out == nil {
			out = &tls.Config{MinVersion: tls.VersionTLS12}
		}
		return out, nil
	}
}

func dial(tc *transport.Config, d *netguard.Dialer) connrotation.DialFunc {
	if tc.DialHolder != nil {
		return tc.DialHolder.Dial
	}
	return d.DialContext
}

// RoundTrip sends a request, unless the server is known to be down. Errors are *UnreachableError, except for ErrClosed, a
// canceled context, *sendcheck.Error, and the errors of Ready if the transport is monitored.
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	decoding.ReleaseErrors(req.Context())
	probe := isProbe(req.Context())
	if err := t.allow(probe); err != nil {
		if req.Body != nil {
			_ = req.Body.Close()
		}
		return nil, err
	}
	resp, err := t.next.RoundTrip(req)
	if err != nil {
		return nil, t.failed(err, probe)
	}
	t.breaker.succeeded()
	if n := t.changes.Load(); t.opened != nil && t.seen.Swap(n) != n {
		t.opened()
	}
	t.outcome.answered(req.URL, resp, probe)
	if !t.monitored {
		boundRetryAfter(resp)
		return resp, nil
	}
	if err := t.throttle.answered(t.host, resp); err != nil {
		return nil, err
	}
	return resp, nil
}

// failed records the error of a request, and returns it for the caller.
func (t *Transport) failed(err error, probe bool) error {
	if refused := (*sendcheck.Error)(nil); errors.Is(err, context.Canceled) || errors.As(err, &refused) {
		t.breaker.done()
		return err
	}
	u := (*UnreachableError)(nil)
	if !errors.As(err, &u) {
		u = &UnreachableError{Host: t.host, Reason: tokenReason(err), Down: true}
	}
	if u.Down {
		t.breaker.failed(u)
	} else {
		t.breaker.done()
	}
	if !t.closed.Load() && !u.Stopped {
		// A request that takes too long, for example because of a slow webhook, does not mean that the server is down.
		t.outcome.failed(u, probe, u.Down && (!t.monitored || !u.Slow))
	}
	return u
}

// Outcome returns the outcome of the latest requests. It sends no requests.
func (t *Transport) Outcome() Outcome { return t.outcome.get() }

// Heard tests an HTTP/2 connection that has been quiet for at least the given time. It sends a ping, and returns a channel that is closed when the
// server sends anything or the connection ends. It returns nil if the server sent something more recently, or if no HTTP/2 connection is open. It does
// not block.
func (t *Transport) Heard(within time.Duration) <-chan struct{} {
	if t.connections == nil {
		return nil
	}
	return t.connections.Heard(within)
}

// IsOpen reports whether a request needs no new network connection, because one for HTTP/2 is open. It returns true if this is unknown: if the server
// responds without HTTP/2, if its address has no TLS, or if the REST config has its own transport.
func (t *Transport) IsOpen() bool {
	return t.connections == nil || t.connections.IsOpen()
}

// Host returns the scheme, host and port of the server.
func (t *Transport) Host() string { return t.host }

// URL returns the URL of the server, including its path, if any.
func (t *Transport) URL() string { return t.url }

// SetToken replaces the token that is added to requests. Requests and watches that are running keep the previous one. It returns false,
// and changes nothing, if the config of the transport didn't authenticate with a token alone.
func (t *Transport) SetToken(token string) bool {
	if t.bearer == nil {
		return false
	}
	t.bearer.set(token)
	return true
}

// Close closes the connections. Running requests fail, and new ones return ErrClosed.
func (t *Transport) Close() {
	t.closed.Store(true)
	t.close()
}
