// SPDX-License-Identifier: Apache-2.0

package build

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"io/fs"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/module/check"
	"github.com/crossplane-contrib/provider-kyma/internal/module/definition"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/archive"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/store"
	"github.com/crossplane-contrib/provider-kyma/internal/ocm"
	"github.com/crossplane-contrib/provider-kyma/internal/ocm/artifact"
	"github.com/crossplane-contrib/provider-kyma/internal/pack"
)

// Media types of layers, as Kyma's own tools set them.
const (
	archiveType = "application/gzip"
	textType    = "application/octet-stream"
)

// A Module is the result of a build.
type Module struct {
	Descriptor *ocm.Descriptor
	Layers     []Layer // In the order of the resources, without duplicates.
	Charts     []Chart // Stored beside the module, as separate artifacts.
	// Annotations are the annotations of the manifest, such as the name of a base image; usually empty.
	Annotations map[string]string
	Warnings    []string
}

// A Layer is a blob of the module.
type Layer struct {
	artifact.Layer

	// Data is nil for a layer of a base image, whose content is read only when it is opened.
	Data []byte
	from store.Reader
}

// NewLayer returns a layer with the given content.
func NewLayer(mediaType string, data []byte) Layer {
	return Layer{Layer: artifact.Layer{MediaType: mediaType, Digest: digestOf(data), Size: int64(len(data))}, Data: data}
}

// Open opens the layer at an offset, in bytes.
func (l *Layer) Open(ctx context.Context, offset int64) (io.ReadCloser, error) {
	if l.from != nil && l.Data == nil {
		return l.from.Blob(ctx, l.Digest, offset)
	}
	if offset < 0 || offset > int64(len(l.Data)) {
		return nil, errors.Errorf("layer %s has no offset %d", l.Digest, offset)
	}
	return io.NopCloser(bytes.NewReader(l.Data[offset:])), nil
}

// An Artifact is the form of a module in a registry or layout, without its layers.
type Artifact struct {
	Manifest   []byte
	Digest     string // Digest of the manifest, sha256:….
	Config     []byte
	Descriptor []byte // Content of the first layer.
}

// Artifact returns the artifact of the module with a descriptor, which is its own or a copy with added signatures.
func (m *Module) Artifact(d *ocm.Descriptor) (*Artifact, error) {
	layers := make([]artifact.Layer, 0, len(m.Layers))
	for i := range m.Layers {
		layers = append(layers, m.Layers[i].Layer)
	}
	manifest, config, descriptor, err := artifact.Encode(d, layers, artifact.Annotations(m.Annotations))
	if err != nil {
		return nil, err
	}
	return &Artifact{Manifest: manifest, Digest: digestOf(manifest), Config: config, Descriptor: descriptor}, nil
}

// Build builds a module from a definition, whose paths are in fsys. It writes nothing. Errors are one line that names
// the field or the file.
func Build(ctx context.Context, d *definition.Definition, fsys fs.FS) (*Module, error) {
	if err := d.Check(); err != nil {
		return nil, err
	}
	if d.Empty() {
		return nil, errors.New("the module is empty: add charts, manifests, kustomizations or crds")
	}
	return assemble(ctx, &Base{}, d, fsys)
}

// assemble builds a module from the definition on top of a base, which may be empty.
func assemble(ctx context.Context, base *Base, d *definition.Definition, fsys fs.FS) (*Module, error) {
	b := &builder{d: d, fsys: pack.Without(fsys, definition.FileName)}
	for _, step := range b.steps() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(b.parts, func(x, y part) int { return int(x.place) - int(y.place) })
	parts, err := base.with(b.parts)
	if err != nil {
		return nil, err
	}
	subject, err := subjectOf(parts, d)
	if err != nil {
		return nil, err
	}
	result, err := check.Module(ctx, subject)
	if err != nil {
		return nil, err
	}
	if d.ListImages {
		images, err := imagesOf(result)
		if err != nil {
			return nil, err
		}
		parts = withImages(parts, images)
	}
	c := base.component
	c.Name, c.Version, c.Provider = d.Name, d.Version, d.Provider
	c.Labels = labelsOf(c.Labels, d.Labels)
	c.Sources = sourcesOf(c.Sources, d.Sources)
	m := &Module{Annotations: base.annotations}
	m.add(base.layers...)
	if c.Resources, err = m.addParts(parts); err != nil {
		return nil, err
	}
	if m.Descriptor, err = ocm.New(c); err != nil {
		return nil, err
	}
	m.Warnings = slices.Concat(base.warnings, b.warnings, result.Warnings)
	return m, nil
}

// addParts adds the layers and charts of parts to a module, and returns their resources.
func (m *Module) addParts(parts []part) ([]ocm.Resource, error) {
	resources := make([]ocm.Resource, 0, len(parts))
	for i := range parts {
		resources = append(resources, parts[i].resource)
		if parts[i].layer != nil {
			m.add(*parts[i].layer)
		}
		if parts[i].beside != nil {
			if err := m.addChart(parts[i].beside); err != nil {
				return nil, err
			}
		}
	}
	return resources, nil
}

func (b *builder) steps() []func(context.Context) error {
	return []func(context.Context) error{b.charts, b.manifests, b.kustomizations, b.crds, b.config, b.customResource, b.template}
}

// add appends layers that the module does not have yet.
func (m *Module) add(layers ...Layer) {
	for _, l := range layers {
		if !slices.ContainsFunc(m.Layers, func(have Layer) bool { return have.Digest == l.Digest }) {
			m.Layers = append(m.Layers, l)
		}
	}
}

// A place is the position of a part among the others.
type place int

const (
	placeCRDs place = iota
	placeConfig
	placeInstall
	placeCustomResource
	placeTemplate
	// placeOther is for resources whose content is not read.
	placeOther
)

// A part is a resource with its content.
type part struct {
	resource ocm.Resource
	place    place
	// layer is nil if the content is stored elsewhere.
	layer *Layer
	// beside is a chart that is a separate artifact, or nil.
	beside *Chart
	// chart reports whether files are the files of a chart.
	chart bool
	files []archive.File
}

// newPart returns a part with the given content.
func newPart(p place, name, kind, mediaType string, data []byte) part {
	l := NewLayer(mediaType, data)
	return part{
		place: p,
		resource: ocm.Resource{
			Name: name, Type: kind,
			Access: ocm.Access{Type: ocm.AccessLocalOCIBlob, Digest: l.Digest, MediaType: mediaType},
			Digest: blobDigest(l.Digest),
		},
		layer: &l,
	}
}

func blobDigest(digest string) *ocm.Digest {
	return &ocm.Digest{HashAlgorithm: ocm.HashSHA256, NormalisationAlgorithm: ocm.NormalisationBlob, Value: digest[len("sha256:"):]}
}

func digestOf(data []byte) string {
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:])
}
