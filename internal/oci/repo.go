// SPDX-License-Identifier: Apache-2.0

package oci

import (
	"context"
	"net/url"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// maxIndex bounds an index.yaml. Parsing takes many times as much memory.
const maxIndex = 16 << 20

// RepoChart pulls chartName from the chart repository at repoURL, http:// or
// https://, whose index.yaml is looked at each time (and only transferred when
// it changed, if the server supports that). Version is a version, a range of
// semantic versions (the newest that fits is taken), or empty for the newest
// release. A digest in the index is verified. An archive at another host needs
// an entry of its own in regs. Credentials never follow a redirect.
func (p *Puller) RepoChart(ctx context.Context, regs Registries, repoURL, chartName, version string) (Artifact, error) {
	a, err := p.repoChart(ctx, regs, repoURL, chartName, version)
	return a, errors.Wrapf(err, "cannot pull chart %q version %q from repository %q", oneLine(chartName), oneLine(version), redacted(repoURL))
}

func (p *Puller) repoChart(ctx context.Context, regs Registries, repoURL, chartName, version string) (Artifact, error) {
	base, err := parseURL(repoURL)
	if err != nil {
		return Artifact{}, err
	}
	// Without the slash, relative URLs would replace the last element.
	base.Path = strings.TrimSuffix(base.Path, "/") + "/"
	s, err := newSite(regs, base)
	if err != nil {
		return Artifact{}, err
	}
	i, err := p.index(ctx, s)
	if err != nil {
		return Artifact{}, explain(err, s.host)
	}
	entry, err := i.find(chartName, version)
	if err != nil {
		return Artifact{}, err
	}
	a, err := p.chartAt(ctx, regs, base, entry)
	a.Version = entry.Version
	return a, err
}

// A cachedIndex is an index and what to ask whether it is still good.
type cachedIndex struct {
	validators

	index index
}

func (p *Puller) index(ctx context.Context, s *site) (index, error) {
	s = s.at(s.url.JoinPath("index.yaml"))
	unlock, err := p.pulls.lock(ctx, s.key(""))
	if err != nil {
		return nil, err
	}
	defer unlock()

	known := &cachedIndex{}
	if c, ok := p.indexes.Get(s.key("")); ok {
		known = c.(*cachedIndex) //nolint:forcetypeassert // Only this method adds to indexes.
	}
	page, err := p.fetch(ctx, s, known.validators, maxIndex, "index.yaml")
	if err != nil {
		return nil, err
	}
	if page.unchanged {
		return known.index, nil
	}
	// One at a time, because of the memory.
	unlock, err = p.pulls.lock(ctx, "parse")
	if err != nil {
		return nil, err
	}
	defer unlock()
	i, err := parseIndex(page.data)
	if err != nil {
		return nil, err
	}
	p.indexes.Add(s.key(""), &cachedIndex{validators: page.validators, index: i})
	return i, nil
}

// chartAt pulls the archive of an entry of the index at base.
func (p *Puller) chartAt(ctx context.Context, regs Registries, base *url.URL, entry *indexEntry) (Artifact, error) {
	if strings.HasPrefix(entry.URLs[0], "oci://") {
		return p.chartAtRegistry(ctx, regs, entry)
	}
	ref, err := url.Parse(entry.URLs[0])
	if err != nil {
		return Artifact{}, errors.Errorf("the repository has a malformed URL for version %q", entry.Version)
	}
	u, err := parseURL(base.ResolveReference(ref).String())
	if err != nil {
		return Artifact{}, err
	}
	s, err := newSite(regs, u)
	if err != nil {
		return Artifact{}, err
	}
	data, err := p.download(ctx, s, entry.Digest)
	var d *digestError
	if errors.As(err, &d) {
		return Artifact{}, errors.Errorf("host %q delivered another archive than the index says: %s", s.host, d)
	}
	if err != nil {
		return Artifact{}, explain(err, s.host)
	}
	return Artifact{Data: data, Digest: digestOf(data)}, nil
}

// chartAtRegistry pulls the archive of an entry that refers to an OCI registry.
func (p *Puller) chartAtRegistry(ctx context.Context, regs Registries, entry *indexEntry) (Artifact, error) {
	ref := entry.URLs[0]
	repo, tag := ref, entry.Version
	if i := strings.LastIndex(ref, ":"); i > strings.LastIndex(ref, "/") {
		repo, tag = ref[:i], ref[i+1:]
	}
	a, err := p.chart(ctx, regs, repo, "", tag)
	if err == nil && entry.Digest != "" && a.Digest != entry.Digest {
		d := &digestError{want: entry.Digest, got: a.Digest}
		return Artifact{}, errors.Errorf("registry %q has another archive than the index says: %s", redacted(repo), d)
	}
	return a, err
}

// A cachedChart is an archive without a digest in an index.
type cachedChart struct {
	validators

	digest string
}

// download returns the archive at s. Of it, only this very URL may vouch for
// what is cached, since a host of files may well belong to many.
func (p *Puller) download(ctx context.Context, s *site, digest string) ([]byte, error) {
	scope := fingerprint(s.server, s.url.String())
	if digest == "" {
		return p.downloadUnnamed(ctx, s, scope)
	}
	return p.cached(ctx, request{
		scope:  scope,
		proof:  s.key(digest),
		digest: digest,
		limit:  p.limits.Compressed,
		head:   func(ctx context.Context) error { return p.touch(ctx, s) },
		get: func(ctx context.Context) ([]byte, error) {
			page, err := p.fetch(ctx, s, validators{}, p.limits.Compressed, "chart")
			return page.data, err
		},
	})
}

func (p *Puller) downloadUnnamed(ctx context.Context, s *site, scope string) ([]byte, error) {
	unlock, err := p.pulls.lock(ctx, s.key(""))
	if err != nil {
		return nil, err
	}
	defer unlock()

	var known validators
	var old []byte
	if c, ok := p.charts.Get(s.key("")); ok {
		c := c.(*cachedChart) //nolint:forcetypeassert // Only this method adds to charts.
		if data, ok := p.store.get(scope, c.digest); ok {
			known, old = c.validators, data
		}
	}
	page, err := p.fetch(ctx, s, known, p.limits.Compressed, "chart")
	if err != nil {
		return nil, err
	}
	if page.unchanged {
		return old, nil
	}
	digest := digestOf(page.data)
	p.store.put(scope, digest, page.data)
	p.charts.Add(s.key(""), &cachedChart{validators: page.validators, digest: digest})
	return page.data, nil
}
