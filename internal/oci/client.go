// SPDX-License-Identifier: Apache-2.0

package oci

import (
	"context"
	"net/http"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"

	"github.com/crossplane-contrib/provider-kyma/internal/decoding"
)

// A Kind is the kind of content in the API of a registry.
type Kind string

// The kinds of content.
const (
	Blobs     Kind = "blobs"
	Manifests Kind = "manifests"
)

const (
	digestHeader = "Docker-Content-Digest"

	// accepted lists the supported manifest types, and the types of indexes, so that indexes result in a clear error.
	accepted = "application/vnd.oci.image.manifest.v1+json, " +
		"application/vnd.docker.distribution.manifest.v2+json, " +
		"application/vnd.oci.image.index.v1+json, " +
		"application/vnd.docker.distribution.manifest.list.v2+json"
)

// A login is a client with the credentials of a registry.
type login struct {
	*http.Client

	keeper *keeper
}

// client returns a client that is logged in to r for an action, pull or push, and whether it was used before.
func (p *Pool) client(ctx context.Context, r *Repository, action string) (c *login, used bool, err error) {
	if c, ok := p.clients.Get(r.wire + r.Key(action)); ok {
		return c.(*login), true, nil //nolint:forcetypeassert // Only this method adds to clients.
	}
	w, err := p.wire(r.endpoint)
	if err != nil {
		return nil, false, err
	}
	auth, err := r.authenticator(ctx, r.name)
	if err != nil {
		return nil, false, err
	}
	k := &keeper{wire: w, next: &rewinder{w}}
	t, err := transport.NewWithContext(ctx, r.name.Registry, auth, k, []string{r.name.Scope(action)})
	if err != nil {
		return nil, false, k.explain(err)
	}
	c = &login{Client: &http.Client{Transport: t}, keeper: k}
	p.clients.Add(r.wire+r.Key(action), c)
	return c, false, nil
}

// with calls f with a client, and once more with a new login if the old one is no longer valid.
func (p *Pool) with(ctx context.Context, r *Repository, action string, f func(c *http.Client) error) error {
	for again := false; ; again = true {
		c, used, err := p.client(ctx, r, action)
		if err != nil {
			forget(r.endpoint, err)
			return err
		}
		err = c.keeper.explain(f(c.Client))
		forget(r.endpoint, err)
		if again || !used || Status(err) != http.StatusUnauthorized {
			return err
		}
		p.clients.Remove(r.wire + r.Key(action))
	}
}

// Get returns one blob or manifest, of at most limit bytes. Its memory counts as that of the archive of the context, if any.
func (p *Pool) Get(ctx context.Context, r *Repository, kind Kind, reference string, limit int64) ([]byte, error) {
	ctx, done := decoding.HoldArchive(ctx)
	defer done()
	var data []byte
	err := p.request(ctx, r, http.MethodGet, kind, reference, func(resp *http.Response) (err error) {
		data, err = p.readAll(ctx, resp, limit, strings.TrimSuffix(string(kind), "s"))
		return err
	})
	return data, err
}

// Has reports whether one blob or manifest exists. False means that the server does not support this check.
func (p *Pool) Has(ctx context.Context, r *Repository, kind Kind, reference string) (bool, error) {
	return answered(p.request(ctx, r, http.MethodHead, kind, reference, func(*http.Response) error { return nil }))
}

// answered distinguishes a server that does not support HEAD from one that denies the request.
func answered(err error) (bool, error) {
	if code := Status(err); code == 0 || code == http.StatusNotFound {
		return err == nil, err
	}
	return false, nil
}

// Resolve returns the digest of the manifest that a tag refers to, or "" if the registry does not return it.
func (p *Pool) Resolve(ctx context.Context, r *Repository, tag string) (digest string, err error) {
	err = p.request(ctx, r, http.MethodHead, Manifests, tag, func(resp *http.Response) error {
		digest = resp.Header.Get(digestHeader)
		return nil
	})
	return digest, err
}

// request sends a request and retries it if it fails.
func (p *Pool) request(
	ctx context.Context, r *Repository, method string, kind Kind, reference string, read func(*http.Response) error,
) error {
	url := https + "://" + r.host + "/v2/" + r.Path() + "/" + string(kind) + "/" + reference
	return p.retry(ctx, func() error {
		return p.with(ctx, r, transport.PullScope, func(c *http.Client) error {
			req, err := http.NewRequestWithContext(ctx, method, url, nil)
			if err != nil {
				return err
			}
			if kind == Manifests {
				req.Header.Set("Accept", accepted)
			}
			resp, err := c.Do(req)
			if err != nil {
				return err
			}
			defer resp.Body.Close()
			if err := transport.CheckError(resp, http.StatusOK); err != nil {
				return err
			}
			return read(resp)
		})
	})
}

// readAll reads a body of at most limit bytes.
func (p *Pool) readAll(ctx context.Context, resp *http.Response, limit int64, what string) ([]byte, error) {
	data, err := p.Archives.Read(ctx, resp.Body, resp.ContentLength, limit)
	if errors.Is(err, decoding.ErrTooLarge) {
		return nil, &tooLargeError{what: what, limit: limit}
	}
	return data, err
}
