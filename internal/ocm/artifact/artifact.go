// SPDX-License-Identifier: Apache-2.0

package artifact

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"slices"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/ocm"
)

// Media types of the artifact that represents a component in a registry. Component-spec writes the CNUDIE types, which
// readers from before OCM know.
const (
	ManifestType = "application/vnd.oci.image.manifest.v1+json"

	CNUDIEConfig     = "application/vnd.gardener.cloud.cnudie.component.config.v1+json"
	CNUDIEDescriptor = "application/vnd.gardener.cloud.cnudie.component-descriptor.v2+yaml+tar"
	CNUDIEJSON       = "application/vnd.gardener.cloud.cnudie.component-descriptor.v2+json"

	OCMConfig     = "application/vnd.ocm.software.component.config.v1+json"
	OCMDescriptor = "application/vnd.ocm.software.component-descriptor.v2+yaml+tar"
	OCMJSON       = "application/vnd.ocm.software.component-descriptor.v2+json"

	// Read but never written.
	legacyConfig     = "application/vnd.oci.gardener.cloud.cnudie.component-descriptor-metadata.config.v2+json"
	legacyDescriptor = "application/vnd.oci.gardener.cloud.cnudie.component-descriptor.config.v2+yaml+tar"

	defaultLayer = "application/octet-stream"
)

// descriptorFile is the name of the only file of a descriptor layer.
const descriptorFile = "component-descriptor.yaml"

// maxManifest is the size that registries must at least accept, in bytes.
const maxManifest = 4 << 20

// A Layer is a blob of the component's own manifest, other than the descriptor.
type Layer struct {
	MediaType string // Default application/octet-stream.
	Digest    string // sha256:…
	Size      int64
}

type blob struct {
	MediaType string `json:"mediaType"`
	Digest    string `json:"digest"`
	Size      int64  `json:"size"`
}

type manifest struct {
	SchemaVersion int               `json:"schemaVersion"`
	MediaType     string            `json:"mediaType,omitempty"`
	Config        blob              `json:"config"`
	Layers        []blob            `json:"layers"`
	Annotations   map[string]string `json:"annotations,omitempty"`
}

type config struct {
	Layer *blob `json:"componentDescriptorLayer"`
}

type options struct {
	ocm, json   bool
	annotations map[string]string
}

// An Option configures Encode.
type Option func(*options)

// OCMMediaTypes returns an Option to write the media types of OCM instead of component-spec.
func OCMMediaTypes() Option {
	return func(o *options) { o.ocm = true }
}

// JSONDescriptor returns an Option to write the descriptor as bare JSON rather than in a tar.
func JSONDescriptor() Option { return func(o *options) { o.json = true } }

// Annotations returns an Option to set the annotations of the manifest; by default it has none.
func Annotations(a map[string]string) Option {
	return func(o *options) { o.annotations = a }
}

func (o *options) mediaTypes() (config, descriptor string) {
	switch {
	case o.ocm && o.json:
		return OCMConfig, OCMJSON
	case o.ocm:
		return OCMConfig, OCMDescriptor
	case o.json:
		return CNUDIEConfig, CNUDIEJSON
	}
	return CNUDIEConfig, CNUDIEDescriptor
}

// Encode returns the content to push for a component: the manifest, the config blob, and the layer with the descriptor,
// which precedes the layers. Equal layers are listed once. The same arguments give the same bytes. It returns an error
// if the descriptor refers to a local blob that is not in layers.
func Encode(d *ocm.Descriptor, layers []Layer, o ...Option) (manifestData, configData, descriptorLayer []byte, err error) {
	var opts options
	for _, f := range o {
		f(&opts)
	}
	configType, descriptorType := opts.mediaTypes()
	m := manifest{SchemaVersion: 2, MediaType: ManifestType, Annotations: opts.annotations}

	descriptorLayer = d.JSON()
	if !opts.json {
		if descriptorLayer, err = packDescriptor(descriptorLayer); err != nil {
			return nil, nil, nil, err
		}
	}
	m.Layers = []blob{blobOf(descriptorType, descriptorLayer)}
	if configData, err = json.Marshal(config{Layer: &m.Layers[0]}); err != nil {
		return nil, nil, nil, err
	}
	m.Config = blobOf(configType, configData)
	if err := m.add(d, layers); err != nil {
		return nil, nil, nil, errors.Wrapf(err, "cannot write component %s", d.ID())
	}
	if manifestData, err = json.Marshal(m); err != nil {
		return nil, nil, nil, err
	}
	return manifestData, configData, descriptorLayer, nil
}

func (m *manifest) add(d *ocm.Descriptor, layers []Layer) error {
	for i, l := range layers {
		if !isDigest.MatchString(l.Digest) || l.Size < 0 {
			return errors.Errorf("layer %d has digest %.100q and size %d: the digest must be sha256: followed by 64 "+
				"hexadecimal digits, and the size must not be negative", i, l.Digest, l.Size)
		}
		if l.MediaType == "" {
			l.MediaType = defaultLayer
		}
		if !m.has(l.Digest) {
			m.Layers = append(m.Layers, blob(l))
		}
	}
	for _, r := range d.Resources() {
		if r.Access.IsLocal() && !m.has(r.Access.Digest) {
			return errors.Errorf("resource %q refers to blob %.100q, which is not one of the layers", r.Name, r.Access.Digest)
		}
	}
	return nil
}

func (m *manifest) has(digest string) bool {
	return slices.ContainsFunc(m.Layers, func(b blob) bool { return b.Digest == digest })
}

func blobOf(mediaType string, data []byte) blob {
	return blob{MediaType: mediaType, Digest: digestOfBlob(data), Size: int64(len(data))}
}

// packDescriptor returns a reproducible tar of a descriptor.
func packDescriptor(data []byte) ([]byte, error) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	h := &tar.Header{
		Format:   tar.FormatUSTAR,
		Typeflag: tar.TypeReg,
		Name:     descriptorFile,
		Mode:     0o644,
		Size:     int64(len(data)),
		ModTime:  time.Unix(0, 0),
	}
	if err := w.WriteHeader(h); err != nil {
		return nil, err
	}
	if _, err := w.Write(data); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
