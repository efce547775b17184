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
)

const maxRedirects = 10

// A site is an URL and how to reach it.
type site struct {
	*endpoint

	url *url.URL
}

// newSite resolves u. Unlike with registries, the scheme is part of the URL;
// plain HTTP needs the same permission all the same.
func newSite(regs Registries, u *url.URL) (*site, error) {
	e, err := regs.endpoint(u.Host, u.Path)
	if err != nil {
		return nil, err
	}
	if u.Scheme == https {
		return &site{endpoint: e.as(schemeTLS), url: u}, nil
	}
	if e.scheme == schemeTLS {
		return nil, errors.Errorf("plain HTTP to host %q is not allowed: use https://, or set plainHTTP of its entry in registries", u.Host)
	}
	return &site{endpoint: e.as(schemePlain), url: u}, nil
}

// as returns e for another scheme.
func (e *endpoint) as(s scheme) *endpoint {
	c := *e
	c.scheme = s
	return c.identify(e.caller)
}

// at returns the site for another URL of the same host.
func (s *site) at(u *url.URL) *site {
	return &site{endpoint: s.endpoint, url: u}
}

// key names something at the URL as seen with our credentials.
func (s *site) key(what string) string {
	return s.caller + " " + s.url.String() + " " + what
}

// parseURL accepts what may be fetched.
func parseURL(raw string) (*url.URL, error) {
	u, err := url.Parse(raw)
	switch {
	case err != nil:
		return nil, errors.New("malformed URL")
	case u.Scheme != plainHTTP && u.Scheme != https:
		return nil, errors.Errorf("scheme %q is not supported: want http:// or https://", u.Scheme)
	case u.Host == "":
		return nil, errors.New("malformed URL: it names no host")
	case u.User != nil:
		return nil, errors.New("the URL contains credentials: put them into the pull secret of an entry in registries")
	}
	u.Fragment = ""
	return u, nil
}

// redacted is a reference or URL without what may be secret in it, for errors.
func redacted(raw string) string {
	raw, _, _ = strings.Cut(raw, "?")
	i := strings.LastIndex(raw, "@")
	if i < 0 {
		return oneLine(raw)
	}
	scheme := ""
	if j := strings.Index(raw, "://"); j >= 0 && isScheme.MatchString(raw[:j]) {
		scheme = raw[:j+3]
	}
	return oneLine(scheme + "…" + raw[i:])
}

// validators say which version of something we have, RFC 9110, section 13.
type validators struct {
	etag     string
	modified string
}

type page struct {
	validators

	data      []byte
	unchanged bool
}

// fetch returns what is at s, or that it is still what known says.
func (p *Puller) fetch(ctx context.Context, s *site, known validators, limit int64, what string) (page, error) {
	var result page
	err := p.roundTrip(ctx, s, http.MethodGet, known, func(resp *http.Response) error {
		if resp.StatusCode == http.StatusNotModified && known != (validators{}) {
			result = page{unchanged: true}
			return nil
		}
		if resp.StatusCode != http.StatusOK {
			return &statusError{code: resp.StatusCode, host: resp.Request.URL.Host}
		}
		data, err := readAll(resp, limit, what)
		result = page{
			data:       data,
			validators: validators{etag: resp.Header.Get("ETag"), modified: resp.Header.Get("Last-Modified")},
		}
		return err
	})
	return result, err
}

// touch asks whether s may be read.
func (p *Puller) touch(ctx context.Context, s *site) error {
	return p.roundTrip(ctx, s, http.MethodHead, validators{}, func(resp *http.Response) error {
		if resp.StatusCode != http.StatusOK {
			return &statusError{code: resp.StatusCode, host: resp.Request.URL.Host}
		}
		return nil
	})
}

func (p *Puller) roundTrip(ctx context.Context, s *site, method string, known validators, read func(*http.Response) error) error {
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
		return read(resp)
	})
}

// dropCredentials lets redirects be followed, but not with our credentials:
// net/http alone would send them to other ports and subdomains as well.
func dropCredentials(req *http.Request, via []*http.Request) error {
	req.Header.Del("Authorization")
	if len(via) >= maxRedirects {
		return errors.Errorf("more than %d redirects", maxRedirects)
	}
	return nil
}

func (s *site) authorize(ctx context.Context, req *http.Request) error {
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
