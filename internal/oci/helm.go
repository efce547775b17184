// SPDX-License-Identifier: Apache-2.0

package oci

// Media types of charts as Helm writes them.
const (
	HelmConfig  = helmConfig
	HelmContent = helmContent
)

// ChartArchive returns the digest of the archive that a manifest of Helm's OCI
// chart type names. It fails on what is no such manifest.
func ChartArchive(manifest []byte) (string, error) {
	digest, _, err := chartLayer(manifest, DefaultLimits().Compressed)
	return digest, err
}
