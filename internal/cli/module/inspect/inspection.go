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

// An Inspection is the output of module inspect in JSON and YAML. Fields can be
// added, but not removed.
type Inspection struct {
	summary.Module

	Labels     []LabelSummary     `json:"labels"`
	Sources    []SourceSummary    `json:"sources"`
	References []ReferenceSummary `json:"references"`
	Resources  []ResourceSummary  `json:"resources"`
	// Installs lists the installs in the order of their installation.
	Installs []InstallSummary `json:"installs"`
	// Images lists the images that the objects run, and the images that the descriptor lists.
	Images []string `json:"images"`
	// Error explains why the installs cannot be determined.
	Error string `json:"error,omitempty"`
}

// A LabelSummary is a label of the component. Its value can be any JSON value.
type LabelSummary struct {
	Name  string `json:"name"`
	Value any    `json:"value"`
}

// A SourceSummary describes a source that the component names. The source is not verified.
type SourceSummary struct {
	Name       string `json:"name"`
	Repository string `json:"repository,omitempty"`
	Ref        string `json:"ref,omitempty"`
	Commit     string `json:"commit,omitempty"`
}

// A ReferenceSummary identifies another component that the module references.
type ReferenceSummary struct {
	Name      string `json:"name"`
	Component string `json:"component"`
	Version   string `json:"version"`
}

// A ResourceSummary describes one resource of the module.
type ResourceSummary struct {
	Name    string `json:"name"`
	Type    string `json:"type"`
	Version string `json:"version"`
	Access  string `json:"access"` // Type of the access.
	// Digest is the digest that signatures cover, usually sha256:…; empty if they cover no content of the resource.
	Digest string `json:"digest,omitempty"`
	Size   *int64 `json:"size,omitempty"`  // Size of a layer in bytes; nil for other resources.
	Where  string `json:"where,omitempty"` // Location of a resource outside the module.
}

// An InstallSummary lists the objects that one install would apply.
type InstallSummary struct {
	Name    string          `json:"name"`
	Kind    string          `json:"kind"` // One of crds, chart, raw and custom-resource.
	Source  string          `json:"source,omitempty"`
	Chart   string          `json:"chart,omitempty"` // Name and version of the chart.
	Objects []ObjectSummary `json:"objects"`
	Error   string          `json:"error,omitempty"` // Reason why there are no objects.
}

// An ObjectSummary identifies an object.
type ObjectSummary struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace,omitempty"`
	Name       string `json:"name"`
}

// inspect returns the inspection of a module. It does not fail if the installs cannot be determined.
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

// describe adds the parts of a descriptor that the summary does not contain.
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

// listedImages returns the references of images and artifacts that a descriptor names as resources.
func listedImages(d *ocm.Descriptor) []string {
	var out []string
	for _, r := range d.Resources() {
		if (r.Type == "ociImage" || r.Type == "ociArtifact") && r.Access.Reference != "" {
			out = append(out, r.Access.Reference)
		}
	}
	return out
}

// resource summarizes a resource. i.Layers must be set.
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
