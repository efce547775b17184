// SPDX-License-Identifier: Apache-2.0

package layers

import (
	"bytes"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/crossplane-contrib/provider-kyma/internal/oci"
)

// The media types of Flux, https://fluxcd.io/flux/cheatsheets/oci-artifacts/.
const (
	FluxConfig  = "application/vnd.cncf.flux.config.v1+json"
	FluxContent = "application/vnd.cncf.flux.content.v1.tar+gzip"
)

// IsFlux reports whether a manifest describes an artifact of Flux.
func IsFlux(manifest []byte) bool {
	m, err := v1.ParseManifest(bytes.NewReader(manifest))
	return err == nil && m.Config.MediaType == FluxConfig
}

// OfFlux returns the digest of the only layer in the manifest of an artifact of Flux. It fails on any other manifest,
// and on a layer of more than limit bytes.
func OfFlux(manifest []byte, limit int64) (string, error) {
	m, err := v1.ParseManifest(bytes.NewReader(manifest))
	if err != nil {
		return "", errors.New("the manifest is not valid JSON")
	}
	if m.MediaType.IsIndex() {
		return "", errors.Errorf("the digest is that of an index (%q): use the digest of one of its manifests, or of a layer", m.MediaType)
	}
	if m.Config.MediaType != FluxConfig {
		return "", errors.Errorf("the digest is that of a manifest with a config of type %q, not of a Flux artifact (%q): use the digest of a layer",
			oci.OneLine(string(m.Config.MediaType)), FluxConfig)
	}
	if len(m.Layers) != 1 || m.Layers[0].MediaType != FluxContent {
		return "", errors.Errorf("the digest is that of a Flux artifact without exactly one layer of type %q: use the digest of the layer", FluxContent)
	}
	l := &m.Layers[0]
	if !oci.ValidDigest(l.Digest.String()) {
		return "", errors.Errorf("the layer has a malformed digest %q", oci.OneLine(l.Digest.String()))
	}
	if l.Size > limit {
		return "", errors.Errorf("layer is larger than the limit of %d bytes", limit)
	}
	return l.Digest.String(), nil
}
