// SPDX-License-Identifier: Apache-2.0

package oci

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	v1 "github.com/google/go-containerregistry/pkg/v1"
)

const (
	// The media types of Helm, https://helm.sh/docs/topics/registries/; the
	// second one of the content is from before Helm 3.7.
	helmConfig    = "application/vnd.cncf.helm.config.v1+json"
	helmContent   = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"
	legacyContent = "application/tar+gzip"

	versionAnnotation = "org.opencontainers.image.version"

	// maxManifest is what registries must accept at least, so clients send no more.
	maxManifest = 4 << 20
)

// An Artifact is the archive of a chart.
type Artifact struct {
	Data    []byte // The archive as it was pulled; must not be changed.
	Digest  string // sha256:… of Data.
	Version string // Of the chart, as far as the source says it, or "".
}

// ChartByDigest returns the archive repo@digest. The digest may be that of the
// archive, as a blob, or that of a manifest of Helm's OCI chart type, whose
// archive is then returned. The rest is as with Blob.
func (p *Puller) ChartByDigest(ctx context.Context, regs Registries, repo, digest string) ([]byte, error) {
	r, err := p.byDigest(regs, repo, digest)
	if err != nil {
		return nil, errors.Wrapf(err, "cannot pull chart %q of %q", oneLine(digest), redacted(repo))
	}
	a, err := p.chartByDigest(ctx, r, digest)
	return a.Data, errors.Wrapf(err, "cannot pull chart %q of %q", oneLine(digest), redacted(repo))
}

// Chart pulls chartName from the registry namespace at url, oci://host/path;
// an empty chartName means that url names the chart itself. Version is a
// version, which is also the tag (with + as _), or a digest as in ChartByDigest.
// A tag is looked up at the registry each time.
func (p *Puller) Chart(ctx context.Context, regs Registries, url, chartName, version string) (Artifact, error) {
	a, err := p.chart(ctx, regs, url, chartName, version)
	return a, errors.Wrapf(err, "cannot pull chart %q version %q from %q", oneLine(chartName), oneLine(version), redacted(url))
}

func (p *Puller) chart(ctx context.Context, regs Registries, url, chartName, version string) (Artifact, error) {
	if !strings.HasPrefix(url, "oci://") {
		return Artifact{}, errors.New("url does not begin with oci://")
	}
	repo := strings.TrimSuffix(url, "/")
	if chartName != "" {
		repo += "/" + chartName
	}
	if isDigest.MatchString(version) {
		r, err := p.repository(regs, repo)
		if err != nil {
			return Artifact{}, err
		}
		return p.chartByDigest(ctx, r, version)
	}
	tag := strings.ReplaceAll(version, "+", "_")
	if !isTag.MatchString(tag) {
		return Artifact{}, errors.New("version is neither a version nor a digest (sha256:…): a range works with http(s):// chart repositories only")
	}
	r, err := p.repository(regs, repo)
	if err != nil {
		return Artifact{}, err
	}
	m, err := p.manifestByTag(ctx, r, tag)
	if err != nil {
		return Artifact{}, err
	}
	a, err := p.chartOf(ctx, r, m)
	a.Version = strings.ReplaceAll(tag, "_", "+")
	return a, err
}

// chartByDigest looks for a blob first, since that is what modules refer to.
func (p *Puller) chartByDigest(ctx context.Context, r *repository, digest string) (Artifact, error) {
	data, err := p.content(ctx, r, blobs, digest, p.limits.Compressed)
	if status(err) == http.StatusNotFound {
		data, err = p.content(ctx, r, manifests, digest, maxManifest)
	}
	if err != nil {
		return Artifact{}, explainContent(err, r, digest)
	}
	// Some registries also serve manifests as blobs.
	if isManifest(data) {
		return p.chartOf(ctx, r, data)
	}
	if isJSON(data) {
		return Artifact{}, errors.Errorf("not a chart: it is JSON, such as the configuration of a chart; "+
			"take the digest of its manifest, or of its layer of type %q", helmContent)
	}
	return Artifact{Data: data, Digest: digest}, nil
}

// manifestByTag returns what the tag stands for now. Where we know a manifest
// of the tag already, HEAD tells whether it is still the same, which registries
// with a quota do not count as a pull.
func (p *Puller) manifestByTag(ctx context.Context, r *repository, tag string) ([]byte, error) {
	if known, ok := p.tags.Get(r.key(tag)); ok {
		digest, err := p.head(ctx, r, manifests, tag)
		if err == nil && digest == known {
			data, err := p.content(ctx, r, manifests, digest, maxManifest)
			return data, explainContent(err, r, digest)
		}
	}
	data, err := p.get(ctx, r, manifests, tag, maxManifest)
	if status(err) == http.StatusNotFound {
		return nil, errors.Errorf("host %q has no tag %q in repository %q (404 Not Found)", r.host, tag, r.name.RepositoryStr())
	}
	if err != nil {
		return nil, explain(err, r.host)
	}
	digest := digestOf(data)
	p.store.put(r.server, digest, data)
	p.proofs.Add(r.key(digest), struct{}{})
	p.tags.Add(r.key(tag), digest)
	return data, nil
}

// chartOf pulls the archive that a manifest names.
func (p *Puller) chartOf(ctx context.Context, r *repository, manifest []byte) (Artifact, error) {
	digest, version, err := chartLayer(manifest, p.limits.Compressed)
	if err != nil {
		return Artifact{}, err
	}
	data, err := p.content(ctx, r, blobs, digest, p.limits.Compressed)
	if err != nil {
		return Artifact{}, explainContent(err, r, digest)
	}
	return Artifact{Data: data, Digest: digest, Version: version}, nil
}

// isJSON tells JSON from an archive. No tar begins like that: its first
// file would need a name that begins with a brace, and a digest that was asked for.
func isJSON(data []byte) bool {
	return len(data) <= maxManifest && bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")) && json.Valid(data)
}

// isManifest tells a manifest from an archive, and from other JSON.
func isManifest(data []byte) bool {
	if !isJSON(data) {
		return false
	}
	m, err := v1.ParseManifest(bytes.NewReader(data))
	return err == nil && m.SchemaVersion != 0
}

// chartLayer finds the archive in a manifest of a chart.
func chartLayer(manifest []byte, limit int64) (digest, version string, err error) {
	m, err := v1.ParseManifest(bytes.NewReader(manifest))
	if err != nil {
		return "", "", errors.New("not a chart: the manifest is not valid JSON")
	}
	if m.MediaType.IsIndex() {
		return "", "", errors.Errorf("not a chart: it is an index of manifests (%q)", m.MediaType)
	}
	if m.Config.MediaType != helmConfig {
		return "", "", errors.Errorf("not a chart: the type of its configuration is %q, want %q", oneLine(string(m.Config.MediaType)), helmConfig)
	}
	for _, l := range m.Layers {
		if l.MediaType != helmContent && l.MediaType != legacyContent {
			continue
		}
		digest := l.Digest.String()
		if !isDigest.MatchString(digest) {
			return "", "", errors.Errorf("not a chart: malformed digest %q of its archive", oneLine(digest))
		}
		if l.Size > limit {
			return "", "", &tooLargeError{what: "chart", limit: limit}
		}
		return digest, m.Annotations[versionAnnotation], nil
	}
	return "", "", errors.Errorf("not a chart: it has no layer of type %q", helmContent)
}
