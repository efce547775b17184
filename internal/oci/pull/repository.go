// SPDX-License-Identifier: Apache-2.0

package pull

import (
	"context"
	"net/http"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/oci"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/cache"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/layers"
)

// A repository is where a caller pulls from, through the cache.
type repository struct {
	at     *oci.Repository
	client *Client
}

// blob returns a blob by its digest.
func (r *repository) blob(ctx context.Context, digest string) ([]byte, error) {
	data, err := r.content(ctx, oci.Blobs, digest, r.client.limit)
	return data, r.explain(err, digest)
}

// manifest returns a manifest by its digest.
func (r *repository) manifest(ctx context.Context, digest string) ([]byte, error) {
	data, err := r.content(ctx, oci.Manifests, digest, layers.MaxManifest)
	return data, r.explain(err, digest)
}

// either returns the blob with a digest, or the manifest if there is no such blob. It tries blobs first, because
// modules refer to blobs. Some registries also serve manifests as blobs.
func (r *repository) either(ctx context.Context, digest string) ([]byte, error) {
	data, err := r.content(ctx, oci.Blobs, digest, r.client.limit)
	if oci.Status(err) == http.StatusNotFound {
		return r.manifest(ctx, digest)
	}
	return data, r.explain(err, digest)
}

// tagged returns the manifest that the tag currently refers to. If a manifest of the tag is already known, a HEAD
// request, which registries with a quota do not count as a pull, checks whether it is still the same.
func (r *repository) tagged(ctx context.Context, tag string) ([]byte, error) {
	c := r.client
	if known, ok := c.tags.Get(r.at.Key(tag)); ok {
		digest, err := c.pool.Resolve(ctx, r.at, tag)
		if err == nil && digest == known {
			return r.manifest(ctx, digest)
		}
	}
	data, err := c.pool.Get(ctx, r.at, oci.Manifests, tag, layers.MaxManifest)
	c.cache.Refused(r.at.Caller(), err)
	if oci.Status(err) == http.StatusNotFound {
		return nil, errors.Errorf("host %q has no tag %q in repository %q (404 Not Found)", r.at.Host(), tag, r.at.Path())
	}
	if err != nil {
		return nil, oci.Explain(err, r.at.Host())
	}
	digest := oci.DigestOf(data)
	c.cache.Put(r.at.Scope(), digest, data)
	c.cache.Allow(r.grant(digest))
	c.tags.Add(r.at.Key(tag), digest)
	return data, nil
}

// grant returns the grant that allows the caller to have content of the repository.
func (r *repository) grant(digest string) cache.Grant {
	return cache.Grant{Caller: r.at.Caller(), Content: r.at.Key(digest)}
}

// content returns the blob or manifest with a digest, from the cache if r may read it, and otherwise from the
// registry.
func (r *repository) content(ctx context.Context, kind oci.Kind, digest string, limit int64) ([]byte, error) {
	pool := r.client.pool
	return r.client.cache.Content(ctx, cache.Request{
		Scope:  r.at.Scope(),
		Grant:  r.grant(digest),
		Digest: digest,
		Limit:  limit,
		May: func(ctx context.Context) (bool, error) {
			return pool.Has(ctx, r.at, kind, digest)
		},
		Get: func(ctx context.Context) ([]byte, error) {
			return pool.Get(ctx, r.at, kind, digest, limit)
		},
	})
}

// explain is oci.Explain for content that was requested by digest.
func (r *repository) explain(err error, digest string) error {
	var d *cache.DigestError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &d):
		return errors.Errorf("host %q returned different content than requested: %s", r.at.Host(), d)
	case oci.Status(err) == http.StatusNotFound:
		return errors.Errorf("host %q has no %q in repository %q (404 Not Found)", r.at.Host(), digest, r.at.Path())
	}
	return oci.Explain(err, r.at.Host())
}
