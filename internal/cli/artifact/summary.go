// SPDX-License-Identifier: Apache-2.0

package artifact

import (
	"context"
	"encoding/json"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/module/bundle"
	"github.com/crossplane-contrib/provider-kyma/internal/ocm"
)

// A Summary is what commands say of a module, as JSON and YAML. Fields are only
// ever added.
type Summary struct {
	Name       string             `json:"name"`
	Version    string             `json:"version"`
	Provider   string             `json:"provider,omitempty"`
	Repository string             `json:"repository,omitempty"` // host[:port]/path; none for a layout.
	Layout     string             `json:"layout,omitempty"`     // The path of a layout.
	Tag        string             `json:"tag,omitempty"`
	Digest     string             `json:"digest"` // Of the manifest, sha256:….
	Layers     []LayerSummary     `json:"layers"`
	Charts     []ChartSummary     `json:"charts,omitempty"` // That lie beside the module.
	Signatures []SignatureSummary `json:"signatures"`
	// Uploaded is how many blobs and manifests a transfer wrote.
	Uploaded *int `json:"uploaded,omitempty"`
}

// A LayerSummary is one layer; the descriptor is the first.
type LayerSummary struct {
	Resource  string `json:"resource,omitempty"`
	Type      string `json:"type,omitempty"`
	MediaType string `json:"mediaType"`
	Digest    string `json:"digest"`
	Size      int64  `json:"size"`
}

// A ChartSummary is a chart that is an artifact of Helm's own type.
type ChartSummary struct {
	Resource   string `json:"resource"`
	Repository string `json:"repository"` // Below the base: charts/NAME.
	Tag        string `json:"tag,omitempty"`
	Digest     string `json:"digest"` // Of its manifest.
}

// A SignatureSummary is one signature, which nobody has verified.
type SignatureSummary struct {
	Name      string `json:"name"`
	Algorithm string `json:"algorithm"`
	Digest    string `json:"digest"` // Of the normalised descriptor.
}

// summarize a module.
func summarize(ctx context.Context, b *bundle.Bundle) (Summary, error) {
	d := b.Descriptor()
	out := Summary{
		Name: d.Name(), Version: d.Version(), Provider: d.Provider(), Layout: b.Layout(), Tag: b.Tag, Digest: b.Digest,
		Signatures: signaturesOf(d), Charts: chartsOf(d),
	}
	if out.Layout == "" {
		out.Repository = b.Store.String()
	}
	data, err := b.Manifest(ctx)
	if err != nil {
		return out, err
	}
	out.Layers, err = layersOf(data, d)
	return out, err
}

// signaturesOf a descriptor; never nil.
func signaturesOf(d *ocm.Descriptor) []SignatureSummary {
	out := make([]SignatureSummary, 0, len(d.Signatures()))
	for _, s := range d.Signatures() {
		out = append(out, SignatureSummary{Name: s.Name, Algorithm: s.Algorithm, Digest: s.Digest.Value})
	}
	return out
}

// chartsOf a descriptor that lie beside the module.
func chartsOf(d *ocm.Descriptor) []ChartSummary {
	var out []ChartSummary
	for _, r := range d.Resources() {
		if c, ok := bundle.ChartOf(&r); ok {
			out = append(out, ChartSummary{Resource: r.Name, Repository: c.Repository, Tag: c.Tag, Digest: c.Digest})
		}
	}
	return out
}

// layersOf a manifest, with the resources that they are. One layer may be several resources, of which the first counts.
func layersOf(manifest []byte, d *ocm.Descriptor) ([]LayerSummary, error) {
	var m struct {
		Layers []LayerSummary `json:"layers"`
	}
	if err := json.Unmarshal(manifest, &m); err != nil {
		return nil, errors.Wrap(err, "cannot read the manifest")
	}
	out := make([]LayerSummary, 0, len(m.Layers))
	for _, l := range m.Layers {
		// Only what the descriptor says of it counts.
		l.Resource, l.Type = "", ""
		for _, r := range d.Resources() {
			if local(&r) && r.Access.Digest == l.Digest {
				l.Resource, l.Type = r.Name, r.Type
				break
			}
		}
		out = append(out, l)
	}
	return out, nil
}

// local says whether a resource is a layer of the module.
func local(r *ocm.Resource) bool {
	return r.Access.Type == ocm.AccessLocalOCIBlob || r.Access.Type == ocm.AccessLocalBlob
}
