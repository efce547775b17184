// SPDX-License-Identifier: Apache-2.0

package chartrepo

import (
	"context"
	"net/url"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/bytelru"
	"github.com/crossplane-contrib/provider-kyma/internal/oci"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/cache"
)

const (
	// MaxIndex bounds an index.yaml, in bytes. Parsing takes many times as much memory.
	MaxIndex = 16 << 20

	// Maximum sizes of the caches in memory, in bytes.
	maxIndexes = 64 << 20
	maxCharts  = 4 << 20

	ociScheme = "oci://"
)

// A Client reads chart repositories. It is safe for concurrent use.
type Client struct {
	pool  *oci.Pool
	cache *cache.Cache
	limit int64

	indexes *bytelru.Cache[string, *cachedIndex] // by HTTPEndpoint.Key
	charts  *bytelru.Cache[string, *cachedChart] // by HTTPEndpoint.Key
}

// New returns a Client that caches archives of at most limit bytes in c.
func New(p *oci.Pool, c *cache.Cache, limit int64) *Client {
	return &Client{
		pool: p, cache: c, limit: limit,
		indexes: bytelru.New[string, *cachedIndex]("chart_indexes", bytelru.Scaled(maxIndexes)),
		charts:  bytelru.New[string, *cachedChart]("repository_charts", bytelru.Scaled(maxCharts)),
	}
}

// A Chart is one version of a chart that a repository offers.
type Chart struct {
	Version string
	URL     string // http://, https:// or oci://
	Digest  string // sha256:… of the archive, from the index, or "".

	// From is the URL of the repository. URLs on other servers are restricted, see oci.Repository.ReferredBy.
	From *url.URL
}

// AtRegistry returns the repository and the tag of a chart whose index entry refers to an OCI registry, or false.
func (c Chart) AtRegistry() (repo, tag string, ok bool) {
	if !strings.HasPrefix(c.URL, ociScheme) {
		return "", "", false
	}
	if i := strings.LastIndex(c.URL, ":"); i > strings.LastIndex(c.URL, "/") {
		return c.URL[:i], c.URL[i+1:], true
	}
	return c.URL, c.Version, true
}

// Find looks up a chart in the index of the repository at repoURL, http:// or https://. version is a version, a range
// of semantic versions (the newest match is used), or empty for the newest release.
func (c *Client) Find(ctx context.Context, regs oci.Registries, repoURL, name, version string) (Chart, error) {
	base, err := oci.ParseURL(repoURL)
	if err != nil {
		return Chart{}, err
	}
	// Without the slash, relative URLs would replace the last element.
	base.Path = strings.TrimSuffix(base.Path, "/") + "/"
	s, err := regs.HTTPEndpoint(base)
	if err != nil {
		return Chart{}, err
	}
	i, err := c.index(ctx, s.Join("index.yaml"))
	if err != nil {
		return Chart{}, oci.Explain(err, s.Host())
	}
	e, err := i.find(name, version)
	if err != nil {
		return Chart{}, err
	}
	found := Chart{Version: e.Version, URL: e.URLs[0], Digest: e.Digest, From: base}
	if strings.HasPrefix(found.URL, ociScheme) {
		return found, nil
	}
	ref, err := url.Parse(found.URL)
	if err != nil {
		return Chart{}, errors.Errorf("the repository has a malformed URL for version %q", e.Version)
	}
	found.URL = base.ResolveReference(ref).String()
	return found, nil
}

// A cachedIndex is an index and the validators that check whether it is current.
type cachedIndex struct {
	oci.Validators

	index index
}

func (c *Client) index(ctx context.Context, s *oci.HTTPEndpoint) (index, error) {
	unlock, err := c.cache.Lock(ctx, s.Key(""))
	if err != nil {
		return nil, err
	}
	defer unlock()

	known := &cachedIndex{}
	if i, ok := c.indexes.Get(s.Key("")); ok {
		known = i
	}
	page, err := c.pool.Fetch(ctx, s, known.Validators, MaxIndex, "index.yaml")
	c.cache.Refused(s.Caller(), err)
	if err != nil {
		return nil, err
	}
	if page.Unchanged {
		return known.index, nil
	}
	// Indexes are parsed one at a time, because of the memory that parsing takes.
	unlock, err = c.cache.Lock(ctx, "parse")
	if err != nil {
		return nil, err
	}
	defer unlock()
	i, err := parseIndex(page.Data)
	if err != nil {
		return nil, err
	}
	c.indexes.Add(s.Key(""), &cachedIndex{Validators: page.Validators, index: i})
	return i, nil
}
