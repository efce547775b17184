// SPDX-License-Identifier: Apache-2.0

package layers

import (
	"bytes"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/crossplane-contrib/provider-kyma/internal/oci"
)

// The media types of charts as Helm writes them, https://helm.sh/docs/topics/registries/.
const (
	HelmConfig  = "application/vnd.cncf.helm.config.v1+json"
	HelmContent = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"

	// legacyContent is the media type of the content before Helm 3.7.
	legacyContent = "application/tar+gzip"

	versionAnnotation = "org.opencontainers.image.version"
)

// OfChart returns the digest of the archive in a manifest of Helm's OCI chart type, and its version if the manifest
// has one. It fails on any other manifest, and on an archive of more than limit bytes.
func OfChart(manifest []byte, limit int64) (digest, version string, err error) {
	m, err := v1.ParseManifest(bytes.NewReader(manifest))
	if err != nil {
		return "", "", errors.New("not a chart: the manifest is not valid JSON")
	}
	if m.MediaType.IsIndex() {
		return "", "", errors.Errorf("not a chart: the digest is that of an index (%q)", m.MediaType)
	}
	if m.Config.MediaType != HelmConfig {
		return "", "", errors.Errorf("not a chart: the config has type %q, expected %q",
			oci.OneLine(string(m.Config.MediaType)), HelmConfig)
	}
	for _, l := range m.Layers {
		if l.MediaType != HelmContent && l.MediaType != legacyContent {
			continue
		}
		digest := l.Digest.String()
		if !oci.ValidDigest(digest) {
			return "", "", errors.Errorf("not a chart: the archive has a malformed digest %q", oci.OneLine(digest))
		}
		if l.Size > limit {
			return "", "", errors.Errorf("chart is larger than the limit of %d bytes", limit)
		}
		return digest, m.Annotations[versionAnnotation], nil
	}
	return "", "", errors.Errorf("not a chart: the manifest has no layer of type %q", HelmContent)
}
