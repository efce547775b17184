// SPDX-License-Identifier: Apache-2.0

package oci

import (
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
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

// check refuses addresses that a registry could use to make us send requests to a service that only we can reach,
// such as the metadata service of a cloud: internal addresses in a redirect, or of a token service, other than the
// configured host.
func (w *wire) check(u *url.URL) error {
	to := u.Hostname()
	if own, err := url.Parse("//" + w.host); err == nil && own.Hostname() == strings.ToLower(to) {
		return nil
	}
	name := strings.TrimSuffix(strings.ToLower(to), ".")
	internal := name == "localhost" || strings.HasSuffix(name, ".localhost")
	// Nothing is known about other names.
	ip, err := netip.ParseAddr(to)
	if ip = ip.Unmap(); internal || err == nil && (ip.IsPrivate() || ip.IsLoopback() || ip.IsLinkLocalUnicast() || ip.IsUnspecified()) {
		return errors.Errorf("it refers to the internal address %q, which is refused", to)
	}
	return nil
}
