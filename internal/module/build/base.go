// SPDX-License-Identifier: Apache-2.0

package build

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/module/bundle"
	"github.com/crossplane-contrib/provider-kyma/internal/module/definition"
	"github.com/crossplane-contrib/provider-kyma/internal/oci"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/store"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/store/remote"
	"github.com/crossplane-contrib/provider-kyma/internal/ocm"
	"github.com/crossplane-contrib/provider-kyma/internal/ocm/artifact"
)

// A Base is what a module is built on top of: another module, or an image. The caller must close it.
type Base struct {
	component   ocm.Component
	template    skeleton
	parts       []part
	layers      []Layer // Layers that belong to no part.
	annotations map[string]string
	warnings    []string
	bundle      *bundle.Bundle
}

// OpenBase opens a module or an image. The reference has a form that bundle.Open accepts, or is host[:port]/path:tag
// (or @sha256:…) for an image. Layers of an image are not read.
func OpenBase(ctx context.Context, reference string, regs oci.Registries) (*Base, error) {
	if strings.Contains(strings.TrimPrefix(reference, "oci://"), "//") || bundle.IsPath(reference) {
		return openModule(ctx, reference, regs)
	}
	ref, err := oci.ParseReference(reference)
	if err != nil {
		return nil, err
	}
	repository, err := remote.New(ref.Repository, regs)
	if err != nil {
		return nil, err
	}
	at := ref.Digest
	if at == "" {
		at = ref.Tag
	}
	if at == "" {
		return nil, errors.Errorf("base %s has neither a tag nor a digest: specify one of them", reference)
	}
	data, digest, err := repository.Manifest(ctx, at)
	if err != nil {
		return nil, err
	}
	if data, digest, err = onlyChild(ctx, repository, data, digest); err != nil {
		return nil, errors.Wrap(err, reference)
	}
	m, err := readManifest(data)
	if err != nil {
		return nil, errors.Wrap(err, reference)
	}
	if isComponent(m.Config.MediaType) {
		return openModule(ctx, reference, regs)
	}
	name := ref.Repository
	if ref.Tag != "" {
		name += ":" + ref.Tag
	}
	return imageBase(repository, ref.Repository, name, digest, m), nil
}

// Close closes the module that the base was read from, if any.
func (b *Base) Close() error {
	if b.bundle == nil {
		return nil
	}
	return b.bundle.Close()
}

// Extend builds a module from a base and a definition. Fields that the definition leaves empty are taken from the base
// if it has them; resources of the same name are replaced. It does not change the definition.
func Extend(ctx context.Context, base *Base, d *definition.Definition, fsys fs.FS) (*Module, error) {
	d = base.complete(d)
	if err := d.Check(); err != nil {
		return nil, err
	}
	return assemble(ctx, base, d, fsys)
}

// complete returns a copy of the definition whose empty fields are taken from the base.
func (b *Base) complete(d *definition.Definition) *definition.Definition {
	out := *d
	for _, f := range []struct {
		to   *string
		from string
	}{
		{&out.Name, b.component.Name},
		{&out.Version, b.component.Version},
		{&out.Provider, b.component.Provider},
		{&out.Channel, b.template.Spec.Channel},
	} {
		if *f.to == "" {
			*f.to = f.from
		}
	}
	if len(out.Readiness) == 0 {
		out.Readiness = b.template.Spec.Readiness
	}
	out.Labels = maps.Clone(b.template.Metadata.Labels)
	if out.Labels == nil {
		out.Labels = map[string]string{}
	}
	maps.Copy(out.Labels, d.Labels)
	return &out
}

// with returns the parts of the base, each replaced by the given part of the same name if there is one, followed by the
// new parts. A local resource has the version of the component.
func (b *Base) with(parts []part) ([]part, error) {
	out := slices.Clone(b.parts)
	for i := range out {
		if out[i].resource.Relation == "local" {
			out[i].resource.Version = ""
		}
	}
	for _, p := range parts {
		i := slices.IndexFunc(out, func(have part) bool { return have.resource.Name == p.resource.Name })
		if i < 0 {
			out = append(out, p)
			continue
		}
		if out[i].place != p.place {
			return nil, errors.Errorf("install name %q is already used by a resource of the base, of type %.100s",
				p.resource.Name, out[i].resource.Type)
		}
		out[i] = p
	}
	return out, nil
}

// imageBase returns a Base with the layers of an image. Its annotations name the image.
func imageBase(from store.Reader, repository, name, digest string, m *manifest) *Base {
	b := &Base{annotations: map[string]string{annotationBaseName: name, annotationBaseDigest: digest}}
	for _, l := range m.Layers {
		b.layers = append(b.layers, Layer{Layer: artifact.Layer(l), from: from})
	}
	b.parts = []part{{place: placeOther, resource: ocm.Resource{
		Name: "image", Type: typeImage, Relation: "external",
		Access: ocm.Access{Type: ocm.AccessOCIArtifact, Reference: repository + "@" + digest},
		Digest: &ocm.Digest{
			HashAlgorithm: ocm.HashSHA256, NormalisationAlgorithm: ocm.NormalisationArtifact, Value: strings.TrimPrefix(digest, "sha256:"),
		},
	}}}
	return b
}

// Annotations with which a manifest names its base image.
const (
	annotationBaseName   = "org.opencontainers.image.base.name"
	annotationBaseDigest = "org.opencontainers.image.base.digest"
)

// A content describes a blob or a manifest that a manifest refers to.
type content struct {
	MediaType string `json:"mediaType"`
	Digest    string `json:"digest"`
	Size      int64  `json:"size"`
}

type manifest struct {
	MediaType string    `json:"mediaType"`
	Config    content   `json:"config"`
	Layers    []content `json:"layers"`
	Manifests []struct {
		content

		Platform struct {
			OS           string `json:"os"`
			Architecture string `json:"architecture"`
			Variant      string `json:"variant"`
		} `json:"platform"`
	} `json:"manifests"`
	Annotations map[string]string `json:"annotations"`
}

func readManifest(data []byte) (*manifest, error) {
	m := &manifest{}
	if json.Unmarshal(data, m) != nil {
		return nil, errors.New("the manifest is not valid JSON")
	}
	if m.Config.MediaType == "" && len(m.Manifests) == 0 {
		return nil, errors.Errorf("not an image: the manifest of type %.100q has no config", m.MediaType)
	}
	for _, l := range m.Layers {
		if !oci.ValidDigest(l.Digest) || l.Size < 0 {
			return nil, errors.Errorf("the manifest has a layer with malformed digest %.100q", l.Digest)
		}
	}
	return m, nil
}

// onlyChild returns the manifest and digest of the only child of an index. An index with several children is an error;
// anything else is returned unchanged.
func onlyChild(ctx context.Context, from store.Reader, data []byte, digest string) (child []byte, childDigest string, err error) {
	m, err := readManifest(data)
	if err != nil || len(m.Manifests) == 0 {
		return data, digest, err
	}
	if len(m.Manifests) == 1 {
		data, digest, err := from.Manifest(ctx, m.Manifests[0].Digest)
		if err != nil {
			return nil, "", err
		}
		if m, err := readManifest(data); err != nil || len(m.Manifests) > 0 {
			return nil, "", errors.New("nested indexes are not supported")
		}
		return data, digest, nil
	}
	names := make([]string, 0, len(m.Manifests))
	for _, c := range m.Manifests {
		platform := strings.Trim(strings.Join([]string{c.Platform.OS, c.Platform.Architecture, c.Platform.Variant}, "/"), "/")
		names = append(names, fmt.Sprintf("%.71s (%.60s)", c.Digest, platform))
	}
	return nil, "", errors.Errorf("the reference is an index of %d images: specify the digest of one of them: %s",
		len(names), strings.Join(names, ", "))
}

// isComponent reports whether a media type is the type of the config of a component.
func isComponent(mediaType string) bool {
	return mediaType == artifact.CNUDIEConfig || mediaType == artifact.OCMConfig || strings.Contains(mediaType, "component-descriptor-metadata")
}
