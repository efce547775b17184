// SPDX-License-Identifier: Apache-2.0

package oci

import (
	"context"
	"net/http"
	"regexp"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/google/go-containerregistry/pkg/name"
)

var (
	// The forms are those of the OCI distribution specification, section "Pulling manifests".
	isPath   = regexp.MustCompile(`^[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*(/[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*)*$`)
	isTag    = regexp.MustCompile(`^[a-zA-Z0-9_][a-zA-Z0-9._-]{0,127}$`)
	isDigest = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)
)

// Blob returns the blob repo@digest. Repo is host[:port]/path; a scheme before
// it is tolerated and means nothing. Digest is sha256:… and what is returned
// has this digest. The caller must not change the bytes.
func (p *Puller) Blob(ctx context.Context, regs Registries, repo, digest string) ([]byte, error) {
	r, err := p.byDigest(regs, repo, digest)
	if err != nil {
		return nil, errors.Wrapf(err, "cannot pull blob %q of %q", oneLine(digest), redacted(repo))
	}
	data, err := p.content(ctx, r, blobs, digest, p.limits.Compressed)
	return data, errors.Wrapf(explainContent(err, r, digest), "cannot pull blob %q of %q", digest, redacted(repo))
}

// byDigest resolves a reference by digest.
func (p *Puller) byDigest(regs Registries, repo, digest string) (*repository, error) {
	if !isDigest.MatchString(digest) {
		if strings.Contains(digest, ":") {
			return nil, errors.Errorf("malformed digest %q: want sha256: and 64 hexadecimal digits", oneLine(digest))
		}
		return nil, errors.Errorf("%q is a tag or version, which can move: want a digest (sha256:…)", oneLine(digest))
	}
	return p.repository(regs, repo)
}

// repository resolves a repository given as host[:port]/path.
func (p *Puller) repository(regs Registries, repo string) (*repository, error) {
	bare := repo
	for _, s := range []string{"oci://", "https://", "http://"} {
		bare = strings.TrimPrefix(bare, s)
	}
	host, path, _ := strings.Cut(bare, "/")
	path = strings.Trim(path, "/")
	if strings.Contains(host, "@") {
		return nil, errors.Errorf("repository %q contains credentials: put them into the pull secret of an entry in registries", redacted(repo))
	}
	if !isPath.MatchString(path) {
		return nil, errors.Errorf("malformed repository %q: want host[:port]/path with a path of lower case letters, digits and ._-/", redacted(repo))
	}
	e, err := regs.endpoint(host, path)
	if err != nil {
		return nil, err
	}
	reg, err := name.NewRegistry(e.host, name.StrictValidation)
	if err != nil {
		return nil, errors.Errorf("malformed host in repository %q", redacted(repo))
	}
	return &repository{endpoint: e, name: reg.Repo(path)}, nil
}

// content returns what repo@digest is, as blob or as manifest, from the cache
// where r may read it, and else from the registry.
func (p *Puller) content(ctx context.Context, r *repository, kind, digest string, limit int64) ([]byte, error) {
	return p.cached(ctx, request{
		scope:  r.server,
		proof:  r.key(digest),
		digest: digest,
		limit:  limit,
		head: func(ctx context.Context) error {
			_, err := p.head(ctx, r, kind, digest)
			return err
		},
		get: func(ctx context.Context) ([]byte, error) {
			return p.get(ctx, r, kind, digest, limit)
		},
	})
}

// A request asks for content of a known digest.
type request struct {
	scope  string // Who must have delivered what is taken from the cache.
	proof  string // Who asks, where and for what.
	digest string
	limit  int64
	head   func(context.Context) error
	get    func(context.Context) ([]byte, error)
}

// cached answers q from the cache if it may, and else fills the cache. Equal
// requests wait for each other, so that content is pulled once.
func (p *Puller) cached(ctx context.Context, q request) ([]byte, error) {
	unlock, err := p.pulls.lock(ctx, q.proof)
	if err != nil {
		return nil, err
	}
	defer unlock()

	if data, ok := p.store.get(q.scope, q.digest); ok && int64(len(data)) <= q.limit {
		if _, ok := p.proofs.Get(q.proof); ok {
			return data, nil
		}
		err := q.head(ctx)
		if err == nil {
			p.proofs.Add(q.proof, struct{}{})
			return data, nil
		}
		// Some servers do not answer HEAD. To fetch it once more proves as much.
		if code := status(err); code == 0 || code == http.StatusNotFound {
			return nil, err
		}
	}
	data, err := q.get(ctx)
	if err != nil {
		return nil, err
	}
	if got := digestOf(data); got != q.digest {
		return nil, &digestError{want: q.digest, got: got}
	}
	p.store.put(q.scope, q.digest, data)
	p.proofs.Add(q.proof, struct{}{})
	return data, nil
}

// A digestError says that a registry delivered something else than it was asked for.
type digestError struct{ want, got string }

func (e *digestError) Error() string {
	return "digest does not match: asked for " + e.want + ", got " + e.got
}

// explainContent is explain for something that was asked for by digest.
func explainContent(err error, r *repository, digest string) error {
	var d *digestError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &d):
		return errors.Errorf("host %q delivered other content: %s", r.host, d)
	case status(err) == http.StatusNotFound:
		return errors.Errorf("host %q has no %q in repository %q (404 Not Found)", r.host, digest, r.name.RepositoryStr())
	}
	return explain(err, r.host)
}
