// SPDX-License-Identifier: Apache-2.0

package oci

import (
	"bytes"
	"context"
	"net/http"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// Artifact returns what a reference names, which has a tag, or a digest that
// goes before the tag: the archive of a Helm chart, or the layer of an artifact
// of Flux. The digest may also be that of the archive or the layer itself.
func (p *Puller) Artifact(ctx context.Context, regs Registries, ref Reference) (Artifact, error) {
	a, err := p.artifact(ctx, regs, ref)
	return a, errors.Wrapf(err, "cannot pull %q", ref)
}

func (p *Puller) artifact(ctx context.Context, regs Registries, ref Reference) (Artifact, error) {
	r, err := p.repository(regs, ref.Repository)
	if err != nil {
		return Artifact{}, err
	}
	data, err := p.named(ctx, r, ref)
	if err != nil {
		return Artifact{}, err
	}
	if ref.Digest != "" && !isManifest(data) {
		return Artifact{Data: data, Digest: ref.Digest}, nil
	}
	if !isFlux(data) {
		a, err := p.chartOf(ctx, r, data)
		if err == nil && a.Version == "" {
			a.Version = strings.ReplaceAll(ref.Tag, "_", "+")
		}
		return a, err
	}
	digest, err := fluxLayer(data, p.limits.Compressed)
	if err != nil {
		return Artifact{}, err
	}
	data, err = p.content(ctx, r, blobs, digest, p.limits.Compressed)
	return Artifact{Data: data, Digest: digest}, explainContent(err, r, digest)
}

// named is the blob or manifest of a reference.
func (p *Puller) named(ctx context.Context, r *repository, ref Reference) ([]byte, error) {
	if ref.Digest == "" {
		return p.manifestByTag(ctx, r, ref.Tag)
	}
	data, err := p.content(ctx, r, blobs, ref.Digest, p.limits.Compressed)
	if status(err) == http.StatusNotFound {
		data, err = p.content(ctx, r, manifests, ref.Digest, maxManifest)
	}
	return data, explainContent(err, r, ref.Digest)
}

func isFlux(manifest []byte) bool {
	m, err := v1.ParseManifest(bytes.NewReader(manifest))
	return err == nil && m.Config.MediaType == fluxConfig
}
