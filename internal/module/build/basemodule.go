// SPDX-License-Identifier: Apache-2.0

package build

import (
	"context"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/module/bundle"
	"github.com/crossplane-contrib/provider-kyma/internal/oci"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/archive"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/layers"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/store"
	"github.com/crossplane-contrib/provider-kyma/internal/ocm"
	"github.com/crossplane-contrib/provider-kyma/internal/ocm/artifact"
	"github.com/crossplane-contrib/provider-kyma/internal/yamlsize"
)

// maxSkeleton bounds the skeleton of the ModuleTemplate in a module, in bytes.
const maxSkeleton = 256 << 10

// A skeleton holds the fields of a ModuleTemplate that a module itself provides.
type skeleton struct {
	APIVersion string `json:"apiVersion"`
	Metadata   struct {
		Labels map[string]string `json:"labels"`
	} `json:"metadata"`
	Spec struct {
		Channel   string                   `json:"channel"`
		Readiness []v1alpha1.ReadinessRule `json:"readiness"`
	} `json:"spec"`
}

// openModule opens a module, and reads the content that it installs.
func openModule(ctx context.Context, reference string, regs oci.Registries) (*Base, error) {
	opened, err := bundle.Open(ctx, reference, regs)
	if invalid := (*ocm.InvalidError)(nil); errors.As(err, &invalid) && bundle.IsPath(reference) {
		return nil, errors.Errorf("layout %s contains no module; for an image, specify its reference in a registry, host[:port]/path:tag", reference)
	}
	if err != nil {
		return nil, err
	}
	b := &Base{bundle: opened, component: opened.Descriptor().Component()}
	if err := b.read(ctx); err != nil {
		_ = opened.Close()
		return nil, errors.Wrap(err, reference)
	}
	return b, nil
}

func (b *Base) read(ctx context.Context) error {
	data, err := b.bundle.Manifest(ctx)
	if err != nil {
		return err
	}
	m, err := readManifest(data)
	if err != nil {
		return err
	}
	b.annotations = m.Annotations
	if n := len(b.bundle.Descriptor().Signatures()); n > 0 {
		b.warnings = append(b.warnings, "the signatures of the base are omitted, because they do not cover the added content: sign the module again")
	}
	used := map[string]bool{}
	for _, r := range b.component.Resources {
		p, err := b.part(ctx, m, r)
		if err != nil {
			return errors.Wrapf(err, "resource %s", r.Name)
		}
		if p.layer != nil {
			used[p.layer.Digest] = true
		}
		b.parts = append(b.parts, p)
	}
	for _, l := range m.Layers {
		if !used[l.Digest] && !strings.Contains(l.MediaType, "component-descriptor") {
			b.layers = append(b.layers, Layer{Layer: artifact.Layer(l), from: b.bundle.Store})
		}
	}
	return nil
}

// part returns a resource of the base as a part.
func (b *Base) part(ctx context.Context, m *manifest, r ocm.Resource) (part, error) {
	p := part{resource: r, place: placeOf(&r), chart: r.Type == typeChart || r.Type == "helmChart"}
	if c, ok := bundle.ChartOf(&r); ok && p.place == placeInstall {
		var err error
		p.beside, p.files, err = b.beside(ctx, c)
		return p, err
	}
	if r.Access.Type != ocm.AccessLocalOCIBlob && r.Access.Type != ocm.AccessLocalBlob {
		if p.place != placeInstall {
			p.place = placeOther
		}
		return p, nil
	}
	i := slices.IndexFunc(m.Layers, func(l content) bool { return l.Digest == r.Access.Digest })
	if i < 0 {
		return p, errors.Errorf("blob %.100s is not one of the layers", r.Access.Digest)
	}
	if r.Digest == nil {
		p.resource.Digest = blobDigest(r.Access.Digest)
	}
	p.layer = &Layer{Layer: artifact.Layer(m.Layers[i]), from: b.bundle.Store}
	if p.place == placeOther {
		return p, nil
	}
	var err error
	if p.layer.Data, err = store.ReadBlob(ctx, b.bundle.Store, r.Access.Digest, 0); err != nil {
		return p, err
	}
	if p.place == placeTemplate {
		b.template = readSkeleton(p.layer.Data)
		return p, nil
	}
	p.files, err = archive.ReadLayer(p.layer.Data, archive.DefaultLimits())
	return p, err
}

// beside reads a chart of the base that is a separate artifact, which is copied along with the module.
func (b *Base) beside(ctx context.Context, c *bundle.Chart) (*Chart, []archive.File, error) {
	from, data, err := b.bundle.ChartStore(ctx, c)
	if err != nil {
		return nil, nil, err
	}
	m, err := readManifest(data)
	if err != nil {
		return nil, nil, err
	}
	out := &Chart{Chart: *c, Manifest: data}
	for _, l := range append([]content{m.Config}, m.Layers...) {
		out.Layers = append(out.Layers, Layer{Layer: artifact.Layer(l), from: from})
	}
	digest, _, err := layers.OfChart(data, archive.DefaultLimits().Compressed)
	if err != nil {
		return nil, nil, err
	}
	packed, err := store.ReadBlob(ctx, from, digest, 0)
	if err != nil {
		return nil, nil, err
	}
	files, err := archive.ReadLayer(packed, archive.DefaultLimits())
	return out, files, err
}

// placeOf returns the place of a resource, as the controller interprets it.
func placeOf(r *ocm.Resource) place {
	switch r.Name {
	case nameCRDs:
		return placeCRDs
	case nameConfig:
		return placeConfig
	case nameCustomResource:
		return placeCustomResource
	case nameTemplate:
		return placeTemplate
	case typeRawManifest:
		return placeInstall
	}
	switch r.Type {
	case typeChart, "helmChart", typeRawManifest:
		return placeInstall
	}
	return placeOther
}

// readSkeleton reads a skeleton, and returns an empty one if it cannot. It ignores the template of Kyma's lifecycle
// manager, which modules contain under the same name.
func readSkeleton(data []byte) skeleton {
	var s skeleton
	files, err := archive.ReadLayer(data, archive.Limits{Uncompressed: maxSkeleton, Files: 8})
	if err != nil || len(files) != 1 {
		return skeleton{}
	}
	if (yamlsize.Limits{Bytes: maxSkeleton}).Unmarshal(files[0].Data, &s) != nil || s.APIVersion != v1alpha1.SchemeGroupVersion.String() {
		return skeleton{}
	}
	return s
}
