// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-kyma/internal/cli/module/summary"
	"github.com/crossplane-contrib/provider-kyma/internal/module/bundle"
	"github.com/crossplane-contrib/provider-kyma/internal/ocm"
)

// An Inspection is what module inspect says of a module, as JSON and YAML.
// Fields are only ever added.
type Inspection struct {
	summary.Module

	Labels     []LabelSummary     `json:"labels"`
	Sources    []SourceSummary    `json:"sources"`
	References []ReferenceSummary `json:"references"`
	Resources  []ResourceSummary  `json:"resources"`
	// Installs in the order in which they are installed.
	Installs []InstallSummary `json:"installs"`
	// Images that installed objects run, and those that the descriptor lists.
	Images []string `json:"images"`
	// Error says why it is not known what the module would install.
	Error string `json:"error,omitempty"`
}

// A LabelSummary is a label of the component, with any value.
type LabelSummary struct {
	Name  string `json:"name"`
	Value any    `json:"value"`
}

// A SourceSummary is where the module comes from, as it claims.
type SourceSummary struct {
	Name       string `json:"name"`
	Repository string `json:"repository,omitempty"`
	Ref        string `json:"ref,omitempty"`
	Commit     string `json:"commit,omitempty"`
}

// A ReferenceSummary is another component that belongs to the module.
type ReferenceSummary struct {
	Name      string `json:"name"`
	Component string `json:"component"`
	Version   string `json:"version"`
}

// A ResourceSummary is one resource of the module.
type ResourceSummary struct {
	Name    string `json:"name"`
	Type    string `json:"type"`
	Version string `json:"version"`
	Access  string `json:"access"` // Type of the access.
	// Digest that signatures cover, sha256:… in most cases; empty if they cover none.
	Digest string `json:"digest,omitempty"`
	Size   *int64 `json:"size,omitempty"`  // Of a layer, in bytes.
	Where  string `json:"where,omitempty"` // Of what is no layer.
}

// An InstallSummary is what one install would apply.
type InstallSummary struct {
	Name    string          `json:"name"`
	Kind    string          `json:"kind"` // crds, chart, raw or custom-resource.
	Source  string          `json:"source,omitempty"`
	Chart   string          `json:"chart,omitempty"` // Name and version.
	Objects []ObjectSummary `json:"objects"`
	Error   string          `json:"error,omitempty"` // Why there are no objects.
}

// An ObjectSummary names an object.
type ObjectSummary struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace,omitempty"`
	Name       string `json:"name"`
}

// inspect a module. It does not fail where its installs cannot be told.
func inspect(ctx context.Context, b *bundle.Bundle) (*Inspection, error) {
	s, err := summary.Of(ctx, b)
	if err != nil {
		return nil, err
	}
	out := &Inspection{
		Module: s, Labels: []LabelSummary{}, Sources: []SourceSummary{}, References: []ReferenceSummary{},
		Resources: []ResourceSummary{}, Installs: []InstallSummary{}, Images: []string{},
	}
	out.describe(b.Descriptor())
	installs, err := bundle.Installs(ctx, b)
	switch {
	case ctx.Err() != nil:
		return nil, err
	case err != nil && len(installs) == 0:
		out.Error = line(err)
	}
	for i := range installs {
		in := &installs[i]
		out.Installs = append(out.Installs, summaryOf(in))
		out.Images = append(out.Images, bundle.Images(in.Objects)...)
	}
	slices.Sort(out.Images)
	out.Images = slices.Compact(out.Images)
	return out, nil
}

// describe what the descriptor says beyond the summary.
func (i *Inspection) describe(d *ocm.Descriptor) {
	c := d.Component()
	for _, l := range c.Labels {
		i.Labels = append(i.Labels, LabelSummary(l))
	}
	for _, s := range c.Sources {
		i.Sources = append(i.Sources, SourceSummary(s))
	}
	for _, r := range d.References() {
		i.References = append(i.References, ReferenceSummary{Name: r.Name, Component: r.Component, Version: r.Version})
	}
	for _, r := range d.Resources() {
		i.Resources = append(i.Resources, i.resource(&r))
	}
	i.Images = append(i.Images, listedImages(d)...)
}

// listedImages are those that a descriptor names, which say what else the module needs.
func listedImages(d *ocm.Descriptor) []string {
	var out []string
	for _, r := range d.Resources() {
		if (r.Type == "ociImage" || r.Type == "ociArtifact") && r.Access.Reference != "" {
			out = append(out, r.Access.Reference)
		}
	}
	return out
}

func (i *Inspection) resource(r *ocm.Resource) ResourceSummary {
	out := ResourceSummary{Name: r.Name, Type: r.Type, Version: r.Version, Access: r.Access.Type}
	if r.Digest != nil && *r.Digest != ocm.Excluded() {
		out.Digest = r.Digest.HashAlgorithm + ":" + r.Digest.Value
		if r.Digest.HashAlgorithm == ocm.HashSHA256 || r.Digest.HashAlgorithm == "SHA-256" {
			out.Digest = "sha256:" + r.Digest.Value
		}
	}
	if !summary.IsLayer(r) {
		out.Where = r.Access.Reference
		if r.Access.ChartURL != "" {
			out.Where = r.Access.ChartURL + " " + r.Access.ChartName + " " + r.Access.ChartVersion
		}
		return out
	}
	for _, l := range i.Layers {
		if l.Digest == r.Access.Digest {
			out.Size = &l.Size
		}
	}
	return out
}

func summaryOf(in *bundle.Install) InstallSummary {
	out := InstallSummary{Name: in.Name, Kind: in.Kind, Source: in.Source, Chart: in.Chart, Objects: []ObjectSummary{}}
	if in.Err != nil {
		out.Error = line(in.Err)
	}
	for _, u := range in.Objects {
		out.Objects = append(out.Objects, summaryOfObject(u))
	}
	return out
}

func summaryOfObject(u *unstructured.Unstructured) ObjectSummary {
	return ObjectSummary{APIVersion: u.GetAPIVersion(), Kind: u.GetKind(), Namespace: u.GetNamespace(), Name: u.GetName()}
}
