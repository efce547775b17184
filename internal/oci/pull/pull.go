// SPDX-License-Identifier: Apache-2.0

package pull

import (
	"context"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/oci"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/cache"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/chartrepo"
)

// An Artifact is the archive of a chart, or another layer.
type Artifact struct {
	Data    []byte // The archive as pulled; must not be changed.
	Digest  string // sha256:… of Data.
	Version string // Version of the chart if the source states it, or "".
}

// Artifact returns the content of a reference, by its digest or else by its tag: the archive of a Helm chart, or the
// layer of an artifact of Flux. The digest may also be the digest of the archive or the layer itself.
func (c *Client) Artifact(ctx context.Context, regs oci.Registries, ref oci.Reference) (Artifact, error) {
	defer c.timed()()
	r, err := c.repository(regs, ref.Repository)
	if err != nil {
		return Artifact{}, errors.Wrapf(err, "cannot pull %q", ref)
	}
	a, err := r.artifact(ctx, ref)
	return a, errors.Wrapf(err, "cannot pull %q", ref)
}

// Blob returns the blob repo@digest. repo is host[:port]/path; a scheme before it is accepted and ignored. digest is
// sha256:… and the returned bytes have this digest. The caller must not change the bytes.
func (c *Client) Blob(ctx context.Context, regs oci.Registries, repo, digest string) ([]byte, error) {
	defer c.timed()()
	r, err := c.byDigest(regs, repo, digest)
	if err != nil {
		return nil, cannot(err, "blob", repo, digest)
	}
	data, err := r.blob(ctx, digest)
	return data, cannot(err, "blob", repo, digest)
}

// Layer returns the layer repo@digest. digest is either the digest of the layer, as a blob, or that of the manifest
// of an artifact of Flux, whose layer is then returned. Otherwise it works like Blob.
func (c *Client) Layer(ctx context.Context, regs oci.Registries, repo, digest string) ([]byte, error) {
	defer c.timed()()
	r, err := c.byDigest(regs, repo, digest)
	if err != nil {
		return nil, cannot(err, "layer", repo, digest)
	}
	data, err := r.layer(ctx, digest)
	return data, cannot(err, "layer", repo, digest)
}

// ChartByDigest returns the archive repo@digest. digest is either the digest of the archive, as a blob, or that of a
// manifest of Helm's OCI chart type, whose archive is then returned. Otherwise it works like Blob.
func (c *Client) ChartByDigest(ctx context.Context, regs oci.Registries, repo, digest string) ([]byte, error) {
	defer c.timed()()
	r, err := c.byDigest(regs, repo, digest)
	if err != nil {
		return nil, cannot(err, "chart", repo, digest)
	}
	a, err := r.chartByDigest(ctx, digest)
	return a.Data, cannot(err, "chart", repo, digest)
}

// Manifest returns a manifest of repo and its digest, sha256:…. reference is a tag or a digest. Tags are looked up at
// the registry each time; digests work like in Blob. The returned bytes have the returned digest. The caller must not
// change the bytes.
func (c *Client) Manifest(ctx context.Context, regs oci.Registries, repo, reference string) (data []byte, digest string, err error) {
	defer c.timed()()
	data, digest, err = c.manifest(ctx, regs, repo, reference)
	if err != nil {
		return nil, "", cannot(err, "manifest", repo, reference)
	}
	return data, digest, nil
}

// Chart pulls chartName from the registry namespace at url, oci://host/path; if chartName is empty, url names the
// chart itself. version is a version, which is also the tag (with _ for +), or a digest as in ChartByDigest. A tag is
// looked up at the registry each time.
func (c *Client) Chart(ctx context.Context, regs oci.Registries, url, chartName, version string) (Artifact, error) {
	defer c.timed()()
	a, err := c.chart(ctx, regs, url, chartName, version)
	return a, errors.Wrapf(err, "cannot pull chart %q version %q from %q",
		oci.OneLine(chartName), oci.OneLine(version), oci.Redact(url))
}

// RepoChart pulls chartName from the chart repository at repoURL, http:// or https://. It requests index.yaml each
// time, but transfers it only after a change, if the server supports that. version is a version, a range of semantic
// versions (the newest match is used), or empty for the newest release. A digest in the index is verified. An archive
// on another host needs its own entry in regs, unless regs allows any host and the other host is on the Internet. Credentials
// never follow a redirect.
func (c *Client) RepoChart(ctx context.Context, regs oci.Registries, repoURL, chartName, version string) (Artifact, error) {
	defer c.timed()()
	a, err := c.repoChart(ctx, regs, repoURL, chartName, version)
	return a, errors.Wrapf(err, "cannot pull chart %q version %q from repository %q",
		oci.OneLine(chartName), oci.OneLine(version), oci.Redact(repoURL))
}

// cannot wraps err with what could not be pulled, and from which repository.
func cannot(err error, what, repo, reference string) error {
	return errors.Wrapf(err, "cannot pull %s %q from %q", what, oci.OneLine(reference), oci.Redact(repo))
}

// repository returns the repository host[:port]/path, with its settings in regs.
func (c *Client) repository(regs oci.Registries, repo string) (*repository, error) {
	r, err := regs.Repository(repo)
	if err != nil {
		return nil, err
	}
	return &repository{at: r, client: c}, nil
}

// byDigest is like repository for content that is requested by digest, and fails if the digest is malformed.
func (c *Client) byDigest(regs oci.Registries, repo, digest string) (*repository, error) {
	if !oci.ValidDigest(digest) {
		if strings.Contains(digest, ":") {
			return nil, errors.Errorf("malformed digest %q: must be sha256: followed by 64 hexadecimal digits", oci.OneLine(digest))
		}
		return nil, errors.Errorf("%q is a tag or a version; tags and versions can change, so use a digest (sha256:…)", oci.OneLine(digest))
	}
	return c.repository(regs, repo)
}

func (c *Client) manifest(ctx context.Context, regs oci.Registries, repo, reference string) (data []byte, digest string, err error) {
	if strings.Contains(reference, ":") {
		r, err := c.byDigest(regs, repo, reference)
		if err != nil {
			return nil, "", err
		}
		data, err := r.manifest(ctx, reference)
		return data, reference, err
	}
	if !oci.ValidTag(reference) {
		return nil, "", errors.Errorf("%q is neither a tag nor a digest (sha256:…)", oci.OneLine(reference))
	}
	r, err := c.repository(regs, repo)
	if err != nil {
		return nil, "", err
	}
	data, err = r.tagged(ctx, reference)
	if err != nil {
		return nil, "", err
	}
	return data, oci.DigestOf(data), nil
}

func (c *Client) chart(ctx context.Context, regs oci.Registries, url, chartName, version string) (Artifact, error) {
	if !strings.HasPrefix(url, "oci://") {
		return Artifact{}, errors.New("url does not begin with oci://")
	}
	repo := strings.TrimSuffix(url, "/")
	if chartName != "" {
		repo += "/" + chartName
	}
	r, err := c.repository(regs, repo)
	if err != nil {
		return Artifact{}, err
	}
	return r.chart(ctx, version)
}

func (c *Client) repoChart(ctx context.Context, regs oci.Registries, repoURL, chartName, version string) (Artifact, error) {
	found, err := c.repos.Find(ctx, regs, repoURL, chartName, version)
	if err != nil {
		return Artifact{}, err
	}
	a, err := c.offered(ctx, regs, found)
	a.Version = found.Version
	return a, err
}

// offered pulls a chart found in the index of a chart repository.
func (c *Client) offered(ctx context.Context, regs oci.Registries, found chartrepo.Chart) (Artifact, error) {
	repo, tag, ok := found.AtRegistry()
	if !ok {
		data, err := c.repos.Download(ctx, regs, found)
		if err != nil {
			return Artifact{}, err
		}
		return Artifact{Data: data, Digest: oci.DigestOf(data)}, nil
	}
	r, err := c.repository(regs, strings.TrimSuffix(repo, "/"))
	if err != nil {
		return Artifact{}, err
	}
	r.at = r.at.ReferredBy(found.From)
	a, err := r.chart(ctx, tag)
	if err == nil && found.Digest != "" && a.Digest != found.Digest {
		d := &cache.DigestError{Want: found.Digest, Got: a.Digest}
		return Artifact{}, errors.Errorf("the archive in registry %q does not match the digest in the index: %s", oci.Redact(repo), d)
	}
	return a, err
}
