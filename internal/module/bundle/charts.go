// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"context"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/oci"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/archive"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/layers"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/store"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/store/remote"
	"github.com/crossplane-contrib/provider-kyma/internal/ocm"
)

// ChartsFolder is where charts lie that are artifacts of Helm's own type: below the base of the registry, beside
// component-descriptors. Nothing else is carried along with a module, so that it can write to no other repository.
const ChartsFolder = "charts"

// A Chart is one that belongs to a module, and lies beside it.
type Chart struct {
	Repository string // charts/NAME, below the base.
	Tag        string // May be empty.
	Digest     string // Of the manifest, sha256:….
}

// Reference as the access of a resource has it.
func (c *Chart) Reference() string {
	out := c.Repository
	if c.Tag != "" {
		out += ":" + c.Tag
	}
	return out + "@" + c.Digest
}

// Valid says whether there can be such a repository and tag.
func (c *Chart) Valid() bool {
	name, ok := strings.CutPrefix(c.Repository, ChartsFolder+"/")
	if !ok || strings.Contains(name, "/") || c.Tag != "" && !oci.ValidTag(c.Tag) {
		return false
	}
	_, err := oci.ParseReference(nowhere + "/" + c.Repository)
	return err == nil
}

// LayoutTag is the tag of the chart in a layout. It comes after those of all versions, and is that of no component, whose
// names begin with a domain.
func (c *Chart) LayoutTag() string {
	name := "with-" + strings.ReplaceAll(c.Repository, "/", "_") + "-"
	if tag := name + c.Tag; c.Tag != "" && oci.ValidTag(tag) {
		return tag
	}
	return "with-" + strings.TrimPrefix(c.Digest, "sha256:")
}

// In returns the repository of the chart where a module lies at a location.
func (c *Chart) In(l ocm.Location) (string, error) {
	base, err := baseOf(l)
	return base + "/" + c.Repository, err
}

// ChartOf a resource, if it is one that lies beside the module and is pinned by its digest.
func ChartOf(r *ocm.Resource) (*Chart, bool) {
	if r.Access.Type != ocm.AccessRelativeOCI || r.Type != "helm-chart" && r.Type != "helmChart" {
		return nil, false
	}
	c := &Chart{}
	c.Repository, c.Digest, _ = strings.Cut(strings.TrimPrefix(r.Access.Reference, "/"), "@")
	c.Repository, c.Tag, _ = strings.Cut(c.Repository, ":")
	if d := r.Digest; c.Digest == "" && d != nil && d.NormalisationAlgorithm == ocm.NormalisationArtifact {
		c.Digest = "sha256:" + d.Value
	}
	return c, oci.ValidDigest(c.Digest) && c.Valid()
}

// ChartsOf a component, each once, and the references of those that lie beside it and are not carried along.
func ChartsOf(d *ocm.Descriptor) (charts []Chart, others []string) {
	for _, r := range d.Resources() {
		c, ok := ChartOf(&r)
		switch {
		case ok && !slices.Contains(charts, *c):
			charts = append(charts, *c)
		case !ok && r.Access.Type == ocm.AccessRelativeOCI:
			others = append(others, r.Access.Reference)
		}
	}
	return charts, others
}

// Charts of all components that lie beside the module, each once.
func (b *Bundle) Charts() (charts []Chart, others []string) {
	for _, d := range b.Components {
		c, o := ChartsOf(d)
		charts, others = append(charts, c...), append(others, o...)
	}
	slices.SortFunc(charts, func(x, y Chart) int { return strings.Compare(x.Reference(), y.Reference()) })
	slices.Sort(others)
	return slices.Compact(charts), slices.Compact(others)
}

// ChartStore opens the store of a chart, and returns its manifest, which is one of Helm.
func (b *Bundle) ChartStore(ctx context.Context, c *Chart) (store.Store, []byte, error) {
	s := b.Store
	if b.layout == nil {
		repository, err := c.In(b.Location)
		if err != nil {
			return nil, nil, err
		}
		if s, err = remote.New(repository, b.regs); err != nil {
			return nil, nil, err
		}
	}
	manifest, _, err := s.Manifest(ctx, c.Digest)
	if err != nil {
		return nil, nil, err
	}
	_, _, err = layers.OfChart(manifest, archive.DefaultLimits().Compressed)
	return s, manifest, errors.Wrapf(err, "%s of %s", c.Reference(), s)
}

// baseOf a location, without a scheme.
func baseOf(l ocm.Location) (string, error) {
	// The name does not matter.
	repo, _, err := l.Repository("example.org/module")
	if l.Mapping == ocm.SHA256Digest {
		return repo, err
	}
	return strings.TrimSuffix(repo, "/"+descriptors), err
}
