// SPDX-License-Identifier: Apache-2.0

package oci

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"
)

const (
	blobs     = "blobs"
	manifests = "manifests"

	digestHeader = "Docker-Content-Digest"

	// maxUpfront bounds the memory taken on the word of a server, in bytes.
	maxUpfront = 4 << 20

	// accepted are the manifests that we can read, and indexes, in order to say
	// that we cannot read those.
	accepted = "application/vnd.oci.image.manifest.v1+json, " +
		"application/vnd.docker.distribution.manifest.v2+json, " +
		"application/vnd.oci.image.index.v1+json, " +
		"application/vnd.docker.distribution.manifest.list.v2+json"
)

// A repository is a repository of a registry, and how to reach it.
type repository struct {
	*endpoint

	name name.Repository
}

// key names something in the repository as seen with our credentials.
func (r *repository) key(what string) string {
	return r.caller + " " + r.name.RepositoryStr() + " " + what
}

// A client is logged in to one repository.
type client struct {
	http *http.Client
	repo *repository
}

// client returns the client for r, and whether it was used before.
func (p *Puller) client(ctx context.Context, r *repository) (c *client, used bool, err error) {
	if c, ok := p.clients.Get(r.key("")); ok {
		return c.(*client), true, nil //nolint:forcetypeassert // Only this method adds to clients.
	}
	w, err := p.wire(r.endpoint)
	if err != nil {
		return nil, false, err
	}
	auth, err := r.authenticator(ctx, r.name)
	if err != nil {
		return nil, false, err
	}
	t, err := transport.NewWithContext(ctx, r.name.Registry, auth, w, []string{r.name.Scope(transport.PullScope)})
	if err != nil {
		return nil, false, err
	}
	c = &client{http: &http.Client{Transport: t}, repo: r}
	p.clients.Add(r.key(""), c)
	return c, false, nil
}

// get returns the body of one blob or manifest, at most limit bytes of it.
func (p *Puller) get(ctx context.Context, r *repository, kind, reference string, limit int64) ([]byte, error) {
	var data []byte
	err := p.request(ctx, r, http.MethodGet, kind, reference, func(resp *http.Response) (err error) {
		data, err = readAll(resp, limit, kind[:len(kind)-1])
		return err
	})
	return data, err
}

// head asks whether one blob or manifest is there, and returns its digest if
// the registry says it.
func (p *Puller) head(ctx context.Context, r *repository, kind, reference string) (digest string, err error) {
	err = p.request(ctx, r, http.MethodHead, kind, reference, func(resp *http.Response) error {
		digest = resp.Header.Get(digestHeader)
		return nil
	})
	return digest, err
}

// request retries, and logs in again where a login is not good any more.
func (p *Puller) request(ctx context.Context, r *repository, method, kind, reference string, read func(*http.Response) error) error {
	return p.retry(ctx, func() error {
		c, used, err := p.client(ctx, r)
		if err != nil {
			return err
		}
		err = c.do(ctx, method, kind, reference, read)
		if !used || status(err) != http.StatusUnauthorized {
			return err
		}
		p.clients.Remove(r.key(""))
		if c, _, err = p.client(ctx, r); err != nil {
			return err
		}
		return c.do(ctx, method, kind, reference, read)
	})
}

func (c *client) do(ctx context.Context, method, kind, reference string, read func(*http.Response) error) error {
	url := https + "://" + c.repo.host + "/v2/" + c.repo.name.RepositoryStr() + "/" + kind + "/" + reference
	req, err := http.NewRequestWithContext(ctx, method, url, nil)
	if err != nil {
		return err
	}
	if kind == manifests {
		req.Header.Set("Accept", accepted)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if err := transport.CheckError(resp, http.StatusOK); err != nil {
		return err
	}
	return read(resp)
}

// readAll reads a body of at most limit bytes.
func readAll(resp *http.Response, limit int64, what string) ([]byte, error) {
	if resp.ContentLength > limit {
		return nil, &tooLargeError{what: what, limit: limit}
	}
	var b bytes.Buffer
	b.Grow(int(min(max(resp.ContentLength, 0), maxUpfront)) + bytes.MinRead)
	if _, err := b.ReadFrom(io.LimitReader(resp.Body, limit+1)); err != nil {
		return nil, err
	}
	if int64(b.Len()) > limit {
		return nil, &tooLargeError{what: what, limit: limit}
	}
	return b.Bytes(), nil
}

// digestOf returns the digest of data as registries write it.
func digestOf(data []byte) string {
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:])
}
