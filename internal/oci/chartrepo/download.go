// SPDX-License-Identifier: Apache-2.0

package chartrepo

import (
	"context"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/oci"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/cache"
)

// Download returns the archive of a chart that is not in a registry. It verifies a digest in the index. An archive on
// another host needs its own entry in regs, unless regs allows any host and the other host is on the Internet. Credentials never
// follow a redirect.
func (c *Client) Download(ctx context.Context, regs oci.Registries, chart Chart) ([]byte, error) {
	u, err := oci.ParseURL(chart.URL)
	if err != nil {
		return nil, err
	}
	s, err := regs.HTTPEndpoint(u)
	if err != nil {
		return nil, err
	}
	data, err := c.archive(ctx, s.ReferredBy(chart.From), chart.Digest)
	var d *cache.DigestError
	if errors.As(err, &d) {
		return nil, errors.Errorf("the archive from host %q does not match the digest in the index: %s", s.Host(), d)
	}
	return data, oci.Explain(err, s.Host())
}

// archive returns the archive at s, which has the digest unless that is empty.
func (c *Client) archive(ctx context.Context, s *oci.HTTPEndpoint, digest string) ([]byte, error) {
	if digest == "" {
		return c.unnamed(ctx, s)
	}
	return c.cache.Content(ctx, cache.Request{
		Scope:  s.Scope(),
		Grant:  cache.Grant{Caller: s.Caller(), Content: s.Key(digest)},
		Digest: digest,
		Limit:  c.limit,
		May:    func(ctx context.Context) (bool, error) { return c.pool.MayFetch(ctx, s) },
		Get: func(ctx context.Context) ([]byte, error) {
			page, err := c.pool.Fetch(ctx, s, oci.Validators{}, c.limit, "chart")
			return page.Data, err
		},
	})
}

// A cachedChart is an archive for which the index has no digest.
type cachedChart struct {
	oci.Validators

	digest string
}

// unnamed returns the archive at s, which has no known digest, with a request each time.
func (c *Client) unnamed(ctx context.Context, s *oci.HTTPEndpoint) ([]byte, error) {
	unlock, err := c.cache.Lock(ctx, s.Key(""))
	if err != nil {
		return nil, err
	}
	defer unlock()

	var known oci.Validators
	var old []byte
	if chart, ok := c.charts.Get(s.Key("")); ok {
		data, ok, err := c.cache.Get(ctx, s.Scope(), chart.digest, c.limit)
		if err != nil {
			return nil, err
		}
		if ok {
			known, old = chart.Validators, data
		}
	}
	page, err := c.pool.Fetch(ctx, s, known, c.limit, "chart")
	if err != nil {
		return nil, err
	}
	if page.Unchanged {
		return old, nil
	}
	digest := oci.DigestOf(page.Data)
	c.cache.Put(s.Scope(), digest, page.Data)
	c.charts.Add(s.Key(""), &cachedChart{Validators: page.Validators, digest: digest})
	return page.Data, nil
}
