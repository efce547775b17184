// SPDX-License-Identifier: Apache-2.0

package oci

import (
	"bytes"
	"context"
	"net/http"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// The media types of Flux, https://fluxcd.io/flux/cheatsheets/oci-artifacts/.
const (
	fluxConfig  = "application/vnd.cncf.flux.config.v1+json"
	fluxContent = "application/vnd.cncf.flux.content.v1.tar+gzip"
)

// Layer returns the layer repo@digest. The digest may be that of the layer, as a
// blob, or that of the manifest of an artifact of Flux, whose layer is then
// returned. The rest is as with Blob.
func (p *Puller) Layer(ctx context.Context, regs Registries, repo, digest string) ([]byte, error) {
	r, err := p.byDigest(regs, repo, digest)
	if err != nil {
		return nil, errors.Wrapf(err, "cannot pull layer %q of %q", oneLine(digest), redacted(repo))
	}
	data, err := p.layer(ctx, r, digest)
	return data, errors.Wrapf(err, "cannot pull layer %q of %q", digest, redacted(repo))
}

// layer looks for a blob first, since that is what modules refer to.
func (p *Puller) layer(ctx context.Context, r *repository, digest string) ([]byte, error) {
	data, err := p.content(ctx, r, blobs, digest, p.limits.Compressed)
	if status(err) == http.StatusNotFound {
		data, err = p.content(ctx, r, manifests, digest, maxManifest)
	}
	if err != nil {
		return nil, explainContent(err, r, digest)
	}
	// Some registries also serve manifests as blobs.
	if !isManifest(data) {
		return data, nil
	}
	inner, err := fluxLayer(data, p.limits.Compressed)
	if err != nil {
		return nil, err
	}
	data, err = p.content(ctx, r, blobs, inner, p.limits.Compressed)
	return data, explainContent(err, r, inner)
}

// fluxLayer is the digest of the only layer in a manifest of an artifact of Flux.
func fluxLayer(manifest []byte, limit int64) (string, error) {
	m, err := v1.ParseManifest(bytes.NewReader(manifest))
	if err != nil {
		return "", errors.New("the manifest is not valid JSON")
	}
	if m.MediaType.IsIndex() {
		return "", errors.Errorf("it is an index of manifests (%q): use the digest of one manifest, or of its layer", m.MediaType)
	}
	if m.Config.MediaType != fluxConfig {
		return "", errors.Errorf("it is a manifest whose configuration is of type %q, which is no artifact of Flux (%q): use the digest of its layer",
			oneLine(string(m.Config.MediaType)), fluxConfig)
	}
	if len(m.Layers) != 1 || m.Layers[0].MediaType != fluxContent {
		return "", errors.Errorf("it is an artifact of Flux that does not have one layer of type %q: use the digest of the layer", fluxContent)
	}
	l := &m.Layers[0]
	if !isDigest.MatchString(l.Digest.String()) {
		return "", errors.Errorf("malformed digest %q of its layer", oneLine(l.Digest.String()))
	}
	if l.Size > limit {
		return "", &tooLargeError{what: "layer", limit: limit}
	}
	return l.Digest.String(), nil
}
