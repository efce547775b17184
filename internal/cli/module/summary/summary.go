// SPDX-License-Identifier: Apache-2.0

package summary

import (
	"context"
	"encoding/json"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/module/bundle"
	"github.com/crossplane-contrib/provider-kyma/internal/ocm"
)

// A Module describes a module in the JSON and YAML output of commands. Fields can be added, but not removed.
type Module struct {
	Name       string      `json:"name"`
	Version    string      `json:"version"`
	Provider   string      `json:"provider,omitempty"`
	Repository string      `json:"repository,omitempty"` // host[:port]/path; empty for a layout.
	Layout     string      `json:"layout,omitempty"`     // Path of a layout.
	Tag        string      `json:"tag,omitempty"`
	Digest     string      `json:"digest"` // Digest of the manifest, sha256:….
	Layers     []Layer     `json:"layers"`
	Charts     []Chart     `json:"charts,omitempty"` // Charts that are stored beside the module.
	Signatures []Signature `json:"signatures"`
	// Uploaded is the number of blobs and manifests that a transfer wrote; nil for other commands.
	Uploaded *int `json:"uploaded,omitempty"`
}

// A Layer describes one layer of a module. The first layer is the component descriptor.
type Layer struct {
	Resource  string `json:"resource,omitempty"`
	Type      string `json:"type,omitempty"`
	MediaType string `json:"mediaType"`
	Digest    string `json:"digest"`
	Size      int64  `json:"size"`
}

// A Chart describes a chart that is stored as an artifact of Helm's own type.
type Chart struct {
	Resource   string `json:"resource"`
	Repository string `json:"repository"` // Path relative to the base: charts/NAME.
	Tag        string `json:"tag,omitempty"`
	Digest     string `json:"digest"` // Digest of its manifest.
}

// A Signature describes one signature. The signature is not verified.
type Signature struct {
	Name      string `json:"name"`
	Algorithm string `json:"algorithm"`
	Digest    string `json:"digest"` // Digest of the normalized descriptor, in hex.
}

// Of summarizes a module.
func Of(ctx context.Context, b *bundle.Bundle) (Module, error) {
	d := b.Descriptor()
	out := Module{
		Name: d.Name(), Version: d.Version(), Provider: d.Provider(), Layout: b.Layout(), Tag: b.Tag, Digest: b.Digest,
		Signatures: Signatures(d), Charts: Charts(d),
	}
	if out.Layout == "" {
		out.Repository = b.Store.String()
	}
	data, err := b.Manifest(ctx)
	if err != nil {
		return out, err
	}
	out.Layers, err = Layers(data, d)
	return out, err
}

// Signatures returns the signatures of a descriptor. The result is never nil.
func Signatures(d *ocm.Descriptor) []Signature {
	out := make([]Signature, 0, len(d.Signatures()))
	for _, s := range d.Signatures() {
		out = append(out, Signature{Name: s.Name, Algorithm: s.Algorithm, Digest: s.Digest.Value})
	}
	return out
}

// Charts returns the charts of a descriptor that are stored next to the module.
func Charts(d *ocm.Descriptor) []Chart {
	var out []Chart
	for _, r := range d.Resources() {
		if c, ok := bundle.ChartOf(&r); ok {
			out = append(out, Chart{Resource: r.Name, Repository: c.Repository, Tag: c.Tag, Digest: c.Digest})
		}
	}
	return out
}

// Layers returns the layers of a manifest with their resources from the descriptor. If several resources share a layer, it uses
// the first one.
func Layers(manifest []byte, d *ocm.Descriptor) ([]Layer, error) {
	var m struct {
		Layers []Layer `json:"layers"`
	}
	if err := json.Unmarshal(manifest, &m); err != nil {
		return nil, errors.Wrap(err, "cannot read the manifest")
	}
	out := make([]Layer, 0, len(m.Layers))
	for _, l := range m.Layers {
		// Ignore fields of the manifest that have these names.
		l.Resource, l.Type = "", ""
		for _, r := range d.Resources() {
			if IsLayer(&r) && r.Access.Digest == l.Digest {
				l.Resource, l.Type = r.Name, r.Type
				break
			}
		}
		out = append(out, l)
	}
	return out, nil
}

// IsLayer reports whether a resource is a layer of the module.
func IsLayer(r *ocm.Resource) bool {
	return r.Access.Type == ocm.AccessLocalOCIBlob || r.Access.Type == ocm.AccessLocalBlob
}
