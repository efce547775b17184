// SPDX-License-Identifier: Apache-2.0

package store

import (
	"encoding/json"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	v1 "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/crossplane-contrib/provider-kyma/internal/oci"
)

const (
	// DockerManifest is the media type of a Docker manifest, which predates OCI.
	DockerManifest = "application/vnd.docker.distribution.manifest.v2+json"
	// DockerList is the media type of a Docker manifest list.
	DockerList = "application/vnd.docker.distribution.manifest.list.v2+json"

	// MaxManifest bounds a manifest, in bytes. Registries must accept at least this size.
	MaxManifest = 4 << 20

	// maxBlob bounds the size that a manifest states for a blob, in bytes.
	maxBlob = 1 << 40
)

// A Manifest holds the needed fields of a manifest or an index.
type Manifest struct {
	SchemaVersion int             `json:"schemaVersion"`
	MediaType     string          `json:"mediaType"`
	ArtifactType  string          `json:"artifactType"`
	Config        *v1.Descriptor  `json:"config"`
	Layers        []v1.Descriptor `json:"layers"`
	Blobs         []v1.Descriptor `json:"blobs"`     // The blobs of the artifact manifests that OCI 1.1 had for a while.
	Manifests     []v1.Descriptor `json:"manifests"` // The manifests of an index.
	Subject       *v1.Descriptor  `json:"subject"`

	Annotations map[string]string `json:"annotations"`
}

// ParseManifest parses a manifest or an index. All descriptors in it have valid digests and sizes.
func ParseManifest(data []byte) (*Manifest, error) {
	m := &Manifest{}
	if err := json.Unmarshal(data, m); err != nil {
		return nil, errors.New("not a manifest: the content is not valid JSON, or has unexpected fields")
	}
	if m.SchemaVersion != 2 {
		return nil, errors.Errorf("unsupported manifest: schemaVersion is %d, expected 2", m.SchemaVersion)
	}
	if m.MediaType == "" {
		m.MediaType = v1.MediaTypeImageManifest
		if m.Manifests != nil {
			m.MediaType = v1.MediaTypeImageIndex
		}
	}
	if m.IsIndex() && (m.Config != nil || m.Layers != nil) || !m.IsIndex() && m.Manifests != nil {
		// Two clients could interpret it differently.
		return nil, errors.Errorf("ambiguous manifest: it has the fields of a manifest and of an index, and mediaType %q", m.MediaType)
	}
	return m, m.check()
}

func (m *Manifest) check() error {
	all := append(m.Content(), m.Manifests...)
	if m.Subject != nil {
		all = append(all, *m.Subject)
	}
	for _, d := range all {
		if err := CheckDescriptor(d); err != nil {
			return err
		}
	}
	return nil
}

// CheckDescriptor returns an error if the digest is malformed or the size is impossible.
func CheckDescriptor(d v1.Descriptor) error {
	if !oci.ValidDigest(string(d.Digest)) {
		return errors.Errorf("malformed digest %.80q in manifest: must be sha256: followed by 64 hexadecimal digits", d.Digest)
	}
	if d.Size < 0 || d.Size > maxBlob {
		return errors.Errorf("the manifest declares an invalid size for %s: %d bytes", d.Digest, d.Size)
	}
	return nil
}

// IsIndex reports whether m is an index, which lists manifests.
func (m *Manifest) IsIndex() bool {
	return m.MediaType == v1.MediaTypeImageIndex || m.MediaType == DockerList
}

// Content returns the blobs that the manifest references, in its order.
func (m *Manifest) Content() []v1.Descriptor {
	var out []v1.Descriptor
	if m.Config != nil {
		out = append(out, *m.Config)
	}
	return append(append(out, m.Layers...), m.Blobs...)
}

// AttachedTo returns the digest of the manifest that this one is attached to, or "".
func (m *Manifest) AttachedTo() string {
	if m.Subject == nil {
		return ""
	}
	return string(m.Subject.Digest)
}

// Kind returns the artifact type as it appears in the list of referrers.
func (m *Manifest) Kind() string {
	if m.ArtifactType != "" || m.Config == nil {
		return m.ArtifactType
	}
	return m.Config.MediaType
}

// IsForeign reports whether a blob is stored elsewhere and must not be copied, such as layers of Windows.
func IsForeign(d v1.Descriptor) bool {
	return len(d.URLs) > 0 && (strings.Contains(d.MediaType, "nondistributable") || strings.Contains(d.MediaType, ".foreign."))
}

// FallbackTag returns the tag that lists the attachments of a digest in registries that do not list them themselves.
// With a suffix it is a tag of cosign.
func FallbackTag(digest string) string { return strings.ReplaceAll(digest, ":", "-") }
