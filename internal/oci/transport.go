// SPDX-License-Identifier: Apache-2.0

package oci

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

const (
	plainHTTP = "http"
	https     = "https"

	// maxServers bounds the pooled transports; the one unused longest is closed.
	maxServers = 64

	dialTimeout      = 10 * time.Second
	handshakeTimeout = 10 * time.Second
	headerTimeout    = 30 * time.Second
	idleTimeout      = 60 * time.Second
	maxIdle          = 4
	maxConns         = 16
)

// wire returns the transport to the server of e, the same one for every
// caller: connections carry no credentials of their own.
func (p *Puller) wire(e *endpoint) (http.RoundTripper, error) {
	// Two that miss at once would open two pools, and one would never be closed.
	p.mu.Lock()
	defer p.mu.Unlock()
	if t, ok := p.wires.Get(e.server); ok {
		return t.(*wire), nil //nolint:forcetypeassert // Only this method adds to wires.
	}
	//nolint:gosec // Certificates are not checked where a person at a command line asks for that.
	c := &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: e.insecure}
	if len(e.ca) > 0 {
		pool, err := x509.SystemCertPool()
		if err != nil {
			pool = x509.NewCertPool()
		}
		if !pool.AppendCertsFromPEM(e.ca) {
			return nil, errors.Errorf("the CA bundle of registry host %q holds no PEM certificate", e.host)
		}
		c.RootCAs = pool
	}
	w := &wire{
		host:   e.host,
		scheme: e.scheme,
		agent:  p.agent,
		limit:  max(p.limits.Compressed, maxIndex) + 1,
		next: &http.Transport{
			Proxy:                 http.ProxyFromEnvironment,
			DialContext:           (&net.Dialer{Timeout: dialTimeout}).DialContext,
			TLSClientConfig:       c,
			ForceAttemptHTTP2:     true,
			TLSHandshakeTimeout:   handshakeTimeout,
			ResponseHeaderTimeout: p.patience,
			IdleConnTimeout:       idleTimeout,
			MaxIdleConns:          maxIdle,
			MaxConnsPerHost:       maxConns,
			// A digest is of the bytes as they are stored.
			DisableCompression: true,
		},
	}
	p.wires.Add(e.server, w)
	return w, nil
}

// A wire decides between HTTP and HTTPS, whatever the layers above would like
// to try, and bounds every body, also those that are read by other packages.
type wire struct {
	host   string
	scheme scheme
	agent  string
	limit  int64
	next   *http.Transport
}

func (w *wire) RoundTrip(in *http.Request) (*http.Response, error) {
	if err := w.check(in.URL); err != nil {
		return nil, err
	}
	r := in.Clone(in.Context())
	r.Header.Set("User-Agent", w.agent)
	own := normalHost(r.URL.Host) == w.host
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

// check refuses what a registry could use to make us ask something that only we
// can reach, such as the metadata service of a cloud: addresses in a redirect,
// or of a token service, that are internal and not the host we were told to use.
func (w *wire) check(u *url.URL) error {
	to := u.Hostname()
	if own, err := url.Parse("//" + w.host); err == nil && own.Hostname() == strings.ToLower(to) {
		return nil
	}
	name := strings.TrimSuffix(strings.ToLower(to), ".")
	internal := name == "localhost" || strings.HasSuffix(name, ".localhost")
	// Of other names nothing is known.
	ip, err := netip.ParseAddr(to)
	if ip = ip.Unmap(); internal || err == nil && (ip.IsPrivate() || ip.IsLoopback() || ip.IsLinkLocalUnicast() || ip.IsUnspecified()) {
		return errors.Errorf("it refers to the internal address %q, which is refused", to)
	}
	return nil
}

// retry calls f again when it failed for a reason that may have passed.
func (p *Puller) retry(ctx context.Context, f func() error) error {
	for i := 0; ; i++ {
		err := f()
		if err == nil || i >= len(p.pauses) || !transient(err) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(p.pauses[i]):
		}
	}
}
