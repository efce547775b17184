// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"context"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/archive"
	"github.com/crossplane-contrib/provider-kyma/internal/source"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest"
)

// KubeVersion is the version of Kubernetes for which charts are rendered without a cluster.
const KubeVersion = "v1.36.0"

// Kinds of installs.
const (
	KindChart          = "chart"
	KindRaw            = "raw"
	KindCRDs           = "crds"
	KindCustomResource = "custom-resource"
)

// An Install contains the objects that one install of the module would apply.
type Install struct {
	Name    string
	Kind    string // chart or raw; or crds and custom-resource, which are installed first and last.
	Source  string // repo/name@digest or a URL; only name@digest for a layer of a layout.
	Chart   string // Name and version of the chart, or empty.
	Objects []*unstructured.Unstructured
	Values  map[string]any // Default values of a chart.
	Err     error          // Reason why there are no objects, or nil.
}

// Installs renders a module with its default values, in the order of installation, as for an empty cluster of
// KubeVersion. It returns all installs even if some cannot be rendered, with the error of the first such one. If it
// returns no installs, the error is about the module as a whole.
func Installs(ctx context.Context, b *Bundle) ([]Install, error) {
	if err := b.complete(); err != nil {
		return nil, err
	}
	r := b.repositories()
	_, p, err := parameters(ctx, r)
	if err != nil {
		return nil, err
	}
	set, err := bundleOf(p, puller{r})
	if err != nil {
		return nil, err
	}
	var options []manifest.Option
	if b.Renderer != nil {
		options = append(options, manifest.WithRenderer(b.Renderer))
	}
	previews, err := manifest.New(options...).Preview(ctx, set, KubeVersion)
	if err != nil {
		return nil, err
	}
	out := make([]Install, 0, len(previews))
	var first error
	for i := range previews {
		in := installOf(p, &previews[i])
		if in.Err != nil && first == nil {
			first = errors.Wrapf(in.Err, "install %s", in.Name)
		}
		out = append(out, in)
	}
	// Otherwise, a deadline would be reported as a fault of the module.
	if ctx.Err() != nil {
		return nil, errors.Wrap(ctx.Err(), "rendering was stopped")
	}
	return out, first
}

// installOf returns the Install that a preview shows.
func installOf(p *v1alpha1.ManifestParameters, v *manifest.Preview) Install {
	out := Install{Name: v.Install, Objects: v.Objects, Values: v.Values, Err: v.Err}
	if v.Chart != "" {
		out.Chart = v.Chart + " " + v.Version
	}
	for i := range p.Installs {
		in := &p.Installs[i]
		if in.Name != v.Install {
			continue
		}
		out.Kind, out.Source = KindRaw, addressOf(&in.Source)
		if source.IsChart(in.Source) {
			out.Kind = KindChart
		}
		return out
	}
	if len(v.Objects) == 1 && p.Resource != nil && v.Objects[0].GroupVersionKind().Kind != "CustomResourceDefinition" {
		out.Name, out.Kind = KindCustomResource, KindCustomResource
		return out
	}
	out.Name, out.Kind = KindCRDs, KindCRDs
	if p.CRDs != nil {
		out.Source = addressOf(source.FromLayer(p.CRDs))
	}
	return out
}

// addressOf returns a source as users see it: without the internal registry that represents a layout.
func addressOf(s *v1alpha1.Source) string {
	shown := *s
	if s.Repo == nowhere+"/"+descriptors {
		shown.Repo = ""
	}
	shown.Repo = strings.TrimPrefix(shown.Repo, nowhere+"/")
	src, err := source.New(shown)
	if err != nil {
		return ""
	}
	return src.String()
}

// bundleOf returns the bundle that the controller would install.
func bundleOf(p *v1alpha1.ManifestParameters, from puller) (*manifest.Bundle, error) {
	out := &manifest.Bundle{}
	for i := range p.Installs {
		in := &p.Installs[i]
		src, err := source.New(in.Source)
		if err != nil {
			return nil, errors.Wrapf(err, "install %s", in.Name)
		}
		install := src.Content().Install(from, from.allowed, archive.DefaultLimits())
		install.Name, install.Namespace = in.Name, in.Namespace
		out.Installs = append(out.Installs, install)
	}
	if p.CRDs != nil {
		out.CRDs = new(source.CRDs(p.CRDs).Layer(from, from.allowed, archive.DefaultLimits()))
	}
	if p.Config != nil {
		out.Config = new(source.Config(p.Config).Layer(from, from.allowed, archive.DefaultLimits()))
	}
	if p.Resource != nil {
		out.Resource = &unstructured.Unstructured{}
		if err := out.Resource.UnmarshalJSON(p.Resource.Raw); err != nil {
			return nil, errors.Wrap(err, "the default custom resource is not an object")
		}
	}
	return out, nil
}
