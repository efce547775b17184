// SPDX-License-Identifier: Apache-2.0

package pull

import (
	"context"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/oci"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/layers"
)

// artifact returns the layer that a reference points to.
func (r *repository) artifact(ctx context.Context, ref oci.Reference) (Artifact, error) {
	data, err := r.named(ctx, ref)
	if err != nil {
		return Artifact{}, err
	}
	if ref.Digest != "" && !layers.IsManifest(data) {
		return Artifact{Data: data, Digest: ref.Digest}, nil
	}
	if layers.IsFlux(data) {
		return r.fluxOf(ctx, data)
	}
	a, err := r.chartOf(ctx, data)
	if err == nil && a.Version == "" {
		a.Version = versionOf(ref.Tag)
	}
	return a, err
}

// named returns the blob or manifest that a reference names.
func (r *repository) named(ctx context.Context, ref oci.Reference) ([]byte, error) {
	if ref.Digest == "" {
		return r.tagged(ctx, ref.Tag)
	}
	return r.either(ctx, ref.Digest)
}

// layer returns the layer with a digest, or the layer of the manifest with that digest.
func (r *repository) layer(ctx context.Context, digest string) ([]byte, error) {
	data, err := r.either(ctx, digest)
	if err != nil || !layers.IsManifest(data) {
		return data, err
	}
	a, err := r.fluxOf(ctx, data)
	return a.Data, err
}

// fluxOf pulls the layer that a manifest of Flux names.
func (r *repository) fluxOf(ctx context.Context, manifest []byte) (Artifact, error) {
	digest, err := layers.OfFlux(manifest, r.client.limit)
	if err != nil {
		return Artifact{}, err
	}
	data, err := r.blob(ctx, digest)
	return Artifact{Data: data, Digest: digest}, err
}

// chart returns the chart with a version, which is also the tag (with _ for +), or with a digest as in chartByDigest.
func (r *repository) chart(ctx context.Context, version string) (Artifact, error) {
	tag := strings.ReplaceAll(version, "+", "_")
	switch {
	case oci.ValidDigest(version):
		return r.chartByDigest(ctx, version)
	case oci.ValidTag(tag):
		return r.chartByTag(ctx, tag)
	}
	return Artifact{}, errors.New("version must be an exact version or a digest (sha256:…): version ranges are only " +
		"supported in http(s):// chart repositories")
}

// chartByTag returns the chart that a tag currently refers to.
func (r *repository) chartByTag(ctx context.Context, tag string) (Artifact, error) {
	manifest, err := r.tagged(ctx, tag)
	if err != nil {
		return Artifact{}, err
	}
	a, err := r.chartOf(ctx, manifest)
	a.Version = versionOf(tag)
	return a, err
}

// chartByDigest returns the chart archive with a digest, or the archive of the manifest with that digest.
func (r *repository) chartByDigest(ctx context.Context, digest string) (Artifact, error) {
	data, err := r.either(ctx, digest)
	if err != nil {
		return Artifact{}, err
	}
	if layers.IsManifest(data) {
		return r.chartOf(ctx, data)
	}
	if layers.IsJSON(data) {
		return Artifact{}, errors.Errorf("not a chart: the blob is JSON, such as the config of a chart; use the digest of "+
			"the manifest, or of the layer of type %q", layers.HelmContent)
	}
	return Artifact{Data: data, Digest: digest}, nil
}

// chartOf pulls the archive that a manifest of a chart names.
func (r *repository) chartOf(ctx context.Context, manifest []byte) (Artifact, error) {
	digest, version, err := layers.OfChart(manifest, r.client.limit)
	if err != nil {
		return Artifact{}, err
	}
	data, err := r.blob(ctx, digest)
	if err != nil {
		return Artifact{}, err
	}
	return Artifact{Data: data, Digest: digest, Version: version}, nil
}

// versionOf returns the version of a chart that has a tag, where _ represents +.
func versionOf(tag string) string { return strings.ReplaceAll(tag, "_", "+") }
