// SPDX-License-Identifier: Apache-2.0

package oci

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"

	"github.com/crossplane-contrib/provider-kyma/internal/decoding"
)

const maxRedirects = 10

// An HTTPEndpoint is a URL with the settings and credentials to fetch it.
type HTTPEndpoint struct {
	*endpoint

	url *url.URL
}

// HTTPEndpoint returns the endpoint of u, with its settings in rs. Unlike with repositories, the scheme is part of the URL; plain
// HTTP still requires the same permission.
func (rs Registries) HTTPEndpoint(u *url.URL) (*HTTPEndpoint, error) {
	// Keys of a docker configuration have no slash before the path.
	e, err := rs.endpoint(u.Host, strings.TrimPrefix(u.Path, "/"))
	if err != nil {
		return nil, err
	}
	if u.Scheme == https {
		return &HTTPEndpoint{endpoint: e.as(schemeTLS), url: u}, nil
	}
	if e.scheme == schemeTLS {
		return nil, errors.Errorf("plain HTTP to host %q is not allowed: use https://, or set plainHTTP for the host in "+
			"spec.registries of the ProviderConfig", u.Host)
	}
	return &HTTPEndpoint{endpoint: e.as(schemePlain), url: u}, nil
}

// as returns a copy of e with another scheme.
func (e *endpoint) as(s scheme) *endpoint {
	c := *e
	c.scheme = s
	return c.identify(e.caller)
}

// Join returns the endpoint of a path below the URL.
func (s *HTTPEndpoint) Join(path string) *HTTPEndpoint {
	return &HTTPEndpoint{endpoint: s.endpoint, url: s.url.JoinPath(path)}
}

// Scope identifies who delivers the content of the URL: exactly this URL, because a file host may belong to many
// owners.
func (s *HTTPEndpoint) Scope() string { return fingerprint(s.server, s.url.String()) }

// Caller identifies the server and our credentials.
func (s *HTTPEndpoint) Caller() string { return s.caller }

// Key identifies something at the URL as seen with our credentials.
func (s *HTTPEndpoint) Key(what string) string {
	return s.caller + " " + s.url.String() + " " + what
}

// ParseURL parses a URL that may be fetched.
func ParseURL(raw string) (*url.URL, error) {
	u, err := url.Parse(raw)
	switch {
	case err != nil:
		return nil, errors.New("malformed URL")
	case u.Scheme != plainHTTP && u.Scheme != https:
		return nil, errors.Errorf("unsupported scheme %q: must be http:// or https://", u.Scheme)
	case u.Host == "":
		return nil, errors.New("malformed URL: the host is missing")
	case u.User != nil:
		return nil, errors.New("the URL contains credentials: store them in a Secret, and set pullSecretRef in spec.registries of the ProviderConfig")
	}
	u.Fragment = ""
	return u, nil
}

// Validators identify the version of known content, RFC 9110, section 13.
type Validators struct {
	etag     string
	modified string
}

// A Page is the content of a URL.
type Page struct {
	Validators

	Data      []byte
	Unchanged bool // The content is still the known version; Data is empty.
}

// Fetch returns the content of s, of at most limit bytes, or an unchanged Page if the content still matches known.
// what names the content in errors. Its memory counts as that of the archive of the context, if any.
func (p *Pool) Fetch(ctx context.Context, s *HTTPEndpoint, known Validators, limit int64, what string) (Page, error) {
	ctx, done := decoding.HoldArchive(ctx)
	defer done()
	var result Page
	err := p.roundTrip(ctx, s, http.MethodGet, known, func(resp *http.Response) error {
		if resp.StatusCode == http.StatusNotModified && known != (Validators{}) {
			result = Page{Unchanged: true}
			return nil
		}
		if resp.StatusCode != http.StatusOK {
			return &statusError{code: resp.StatusCode, host: resp.Request.URL.Host}
		}
		data, err := p.readAll(ctx, resp, limit, what)
		result = Page{
			Data:       data,
			Validators: Validators{etag: resp.Header.Get("ETag"), modified: resp.Header.Get("Last-Modified")},
		}
		return err
	})
	return result, err
}

// MayFetch reports whether the caller may read s. False means that the server does not support this check.
func (p *Pool) MayFetch(ctx context.Context, s *HTTPEndpoint) (bool, error) {
	return answered(p.roundTrip(ctx, s, http.MethodHead, Validators{}, func(resp *http.Response) error {
		if resp.StatusCode != http.StatusOK {
			return &statusError{code: resp.StatusCode, host: resp.Request.URL.Host}
		}
		return nil
	}))
}

func (p *Pool) roundTrip(ctx context.Context, s *HTTPEndpoint, method string, known Validators, read func(*http.Response) error) error {
	w, err := p.wire(s.endpoint)
	if err != nil {
		return err
	}
	c := &http.Client{Transport: w, CheckRedirect: dropCredentials}
	return p.retry(ctx, func() error {
		req, err := http.NewRequestWithContext(ctx, method, s.url.String(), nil)
		if err != nil {
			return err
		}
		if known.etag != "" {
			req.Header.Set("If-None-Match", known.etag)
		}
		if known.modified != "" {
			req.Header.Set("If-Modified-Since", known.modified)
		}
		if err := s.authorize(ctx, req); err != nil {
			return err
		}
		resp, err := c.Do(req)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		err = read(resp)
		forget(s.endpoint, err)
		return err
	})
}

// dropCredentials follows redirects without our credentials: net/http alone would send them to other ports and
// subdomains as well.
func dropCredentials(req *http.Request, via []*http.Request) error {
	req.Header.Del("Authorization")
	if len(via) >= maxRedirects {
		return errors.Errorf("more than %d redirects", maxRedirects)
	}
	return nil
}

func (s *HTTPEndpoint) authorize(ctx context.Context, req *http.Request) error {
	reg, err := name.NewRegistry(s.host, name.StrictValidation)
	if err != nil {
		return err
	}
	auth, err := s.authenticator(ctx, reg)
	if err != nil {
		return err
	}
	c, err := authn.Authorization(ctx, auth)
	if err != nil {
		return err
	}
	switch {
	case c.RegistryToken != "":
		req.Header.Set("Authorization", "Bearer "+c.RegistryToken)
	case c.Username != "":
		req.SetBasicAuth(c.Username, c.Password)
	}
	return nil
}

// ReferredBy returns the endpoint for a URL in the index of the chart repository at from, as for a Repository.
func (s *HTTPEndpoint) ReferredBy(from *url.URL) *HTTPEndpoint {
	return &HTTPEndpoint{endpoint: s.referredBy(from, s.url.Host), url: s.url}
}
