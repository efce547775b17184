// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"context"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/oci"
	"github.com/crossplane-contrib/provider-kyma/internal/ocm"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest"
)

// KubeVersion is for which Kubernetes charts are rendered where there is no
// cluster.
const KubeVersion = "v1.36.0"

// The kinds of installs.
const (
	KindChart          = "chart"
	KindRaw            = "raw"
	KindCRDs           = "crds"
	KindCustomResource = "custom-resource"
)

// An Install is what one install of the module would apply.
type Install struct {
	Name    string
	Kind    string // chart or raw, or crds and custom-resource for what is installed before and after.
	Source  string // As repo/name@digest or URL; for a layer of a layout only name@digest.
	Chart   string // Name and version of the chart, or empty.
	Objects []*unstructured.Unstructured
	Values  map[string]any // Default values of a chart.
	Err     error          // Why there are no objects, or nil.
}

// Installs renders the module with its default values, in the order of install,
// as for a cluster of KubeVersion in which there is nothing. All installs are
// returned even if some cannot be rendered, with the error of the first; without
// any the error is about the module as a whole.
func (b *Bundle) Installs(ctx context.Context) ([]Install, error) {
	p, err := b.parameters(ctx)
	if err != nil {
		return nil, err
	}
	set, err := b.set(p)
	if err != nil {
		return nil, err
	}
	previews, err := set.Preview(ctx, KubeVersion)
	if err != nil {
		return nil, err
	}
	out := make([]Install, 0, len(previews))
	var first error
	for i := range previews {
		in := b.install(p, &previews[i])
		if in.Err != nil && first == nil {
			first = errors.Wrapf(in.Err, "install %s", in.Name)
		}
		out = append(out, in)
	}
	// Otherwise a deadline would look like a fault of the module.
	if ctx.Err() != nil {
		return nil, errors.Wrap(ctx.Err(), "rendering was stopped")
	}
	return out, first
}

func (b *Bundle) install(p *v1alpha1.ManifestParameters, v *manifest.Preview) Install {
	out := Install{Name: v.Install, Objects: v.Objects, Values: v.Values, Err: v.Err}
	if v.Chart != "" {
		out.Chart = v.Chart + " " + v.Version
	}
	for i := range p.Installs {
		in := &p.Installs[i]
		if in.Name != v.Install {
			continue
		}
		out.Kind, out.Source = KindChart, b.source(&in.Source)
		if in.Source.Type == v1alpha1.SourceTypeRaw {
			out.Kind = KindRaw
		}
		return out
	}
	if len(v.Objects) == 1 && p.Resource != nil && v.Objects[0].GroupVersionKind().Kind != "CustomResourceDefinition" {
		out.Name, out.Kind = KindCustomResource, KindCustomResource
		return out
	}
	out.Name, out.Kind = KindCRDs, KindCRDs
	if p.CRDs != nil {
		out.Source = b.source(&v1alpha1.Source{Repo: p.CRDs.Repo, Name: p.CRDs.Name, Ref: p.CRDs.Ref})
	}
	return out
}

// source for people.
func (b *Bundle) source(s *v1alpha1.Source) string {
	if s.Type == v1alpha1.SourceTypeHelmChart {
		return strings.TrimSuffix(s.URL, "/") + "/" + s.ChartName + ":" + s.Version
	}
	if b.Location == (ocm.Location{}) && s.Repo == nowhere+"/"+descriptors {
		return s.Name + "@" + s.Ref
	}
	if repo, ok := strings.CutPrefix(s.Repo, nowhere+"/"); ok {
		return repo + "/" + s.Name + "@" + s.Ref
	}
	return s.Repo + "/" + s.Name + "@" + s.Ref
}

// set that the controller would install.
func (b *Bundle) set(p *v1alpha1.ManifestParameters) (*manifest.Set, error) {
	out := &manifest.Set{}
	for i := range p.Installs {
		in := &p.Installs[i]
		install := manifest.Install{Name: in.Name, Namespace: in.Namespace, Layer: b.chart(&in.Source)}
		if in.Source.Type == v1alpha1.SourceTypeRaw {
			install.Form = manifest.FormPlain
			install.Layer = b.layer(in.Source.Repo, in.Source.Name, in.Source.Ref, oci.ReadLayer)
		}
		out.Installs = append(out.Installs, install)
	}
	if p.CRDs != nil {
		l := b.layer(p.CRDs.Repo, p.CRDs.Name, p.CRDs.Ref, oci.ReadArchive)
		out.CRDs = &l
	}
	if p.Config != nil {
		l := b.layer(p.Config.Repo, p.Config.Name, p.Config.Ref, readConfig)
		out.Config = &l
	}
	if p.Resource != nil {
		out.Resource = &unstructured.Unstructured{}
		if err := out.Resource.UnmarshalJSON(p.Resource.Raw); err != nil {
			return nil, errors.Wrap(err, "the default custom resource is no object")
		}
	}
	return out, nil
}

// A readFunc reads the files of a layer.
type readFunc func(data []byte, l oci.Limits) ([]oci.File, error)

// readConfig reads a layer that may be empty.
func readConfig(data []byte, l oci.Limits) ([]oci.File, error) {
	if len(data) == 0 {
		return nil, nil
	}
	return oci.ReadLayer(data, l)
}

func (b *Bundle) layer(repo, name, digest string, read readFunc) manifest.Layer {
	return fetched(digest, read, func(ctx context.Context) (oci.Artifact, error) {
		data, err := registry{b}.Blob(ctx, repo+"/"+name, digest)
		return oci.Artifact{Data: data, Digest: digest}, err
	})
}

// chart of a source, which is a layer of the module or an artifact of its own.
func (b *Bundle) chart(s *v1alpha1.Source) manifest.Layer {
	return fetched(b.source(s), oci.ReadArchive, func(ctx context.Context) (oci.Artifact, error) {
		return b.pullChart(ctx, s)
	})
}

func (b *Bundle) pullChart(ctx context.Context, s *v1alpha1.Source) (oci.Artifact, error) {
	puller, regs := b.content.puller, b.content.regs
	switch {
	case s.Type == v1alpha1.SourceTypeHelmChart && strings.HasPrefix(s.URL, scheme):
		return puller.Chart(ctx, regs, s.URL, s.ChartName, s.Version)
	case s.Type == v1alpha1.SourceTypeHelmChart:
		return puller.RepoChart(ctx, regs, s.URL, s.ChartName, s.Version)
	}
	repository := s.Repo + "/" + s.Name
	if (registry{b}).beside(repository) {
		data, err := registry{b}.chart(ctx, s.Ref)
		return oci.Artifact{Data: data, Digest: s.Ref}, err
	}
	if (registry{b}).inStore(repository) {
		data, err := stored{b}.Blob(ctx, repository, s.Ref)
		return oci.Artifact{Data: data, Digest: s.Ref}, err
	}
	data, err := puller.ChartByDigest(ctx, regs, repository, s.Ref)
	return oci.Artifact{Data: data, Digest: s.Ref}, err
}

func fetched(digest string, read readFunc, pull func(ctx context.Context) (oci.Artifact, error)) manifest.Layer {
	return manifest.Layer{Digest: digest, Fetch: func(ctx context.Context) (manifest.Content, error) {
		a, err := pull(ctx)
		if err != nil {
			return manifest.Content{}, err
		}
		return manifest.Content{Digest: a.Digest, Files: func() ([]manifest.File, error) {
			files, err := read(a.Data, oci.DefaultLimits())
			out := make([]manifest.File, len(files))
			for i, f := range files {
				out[i] = manifest.File(f)
			}
			return out, err
		}}, nil
	}}
}
