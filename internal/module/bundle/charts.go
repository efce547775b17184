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

// ChartsDir is the parent of the repositories of charts in Helm's own format: below the base of the registry, beside
// component-descriptors. Nothing else is copied along with a module, so that it cannot write to any other repository.
const ChartsDir = "charts"

// A Chart is a chart that belongs to a module and is stored next to it.
type Chart struct {
	Repository string // charts/NAME, relative to the base.
	Tag        string // May be empty.
	Digest     string // Digest of the manifest, sha256:….
}

// Reference returns the chart in the form of the access of a resource: charts/NAME:TAG@sha256:….
func (c *Chart) Reference() string {
	out := c.Repository
	if c.Tag != "" {
		out += ":" + c.Tag
	}
	return out + "@" + c.Digest
}

// Valid reports whether the repository and the tag are valid.
func (c *Chart) Valid() bool {
	name, ok := strings.CutPrefix(c.Repository, ChartsDir+"/")
	if !ok || strings.Contains(name, "/") || c.Tag != "" && !oci.ValidTag(c.Tag) {
		return false
	}
	_, err := oci.ParseReference(nowhere + "/" + c.Repository)
	return err == nil
}

// LayoutTag returns the tag of the chart in a layout. It sorts after the tags of all versions, and differs from the
// tags of all components, as their names begin with a domain.
func (c *Chart) LayoutTag() string {
	name := "with-" + strings.ReplaceAll(c.Repository, "/", "_") + "-"
	if tag := name + c.Tag; c.Tag != "" && oci.ValidTag(tag) {
		return tag
	}
	return "with-" + strings.TrimPrefix(c.Digest, "sha256:")
}

// In returns the repository of the chart for a module at a location.
func (c *Chart) In(l ocm.Location) (string, error) {
	base, err := baseOf(l)
	return base + "/" + c.Repository, err
}

// ChartOf returns the chart of a resource. It returns false if that is not a chart that is stored next to the module and
// pinned by digest.
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

// ChartsOf returns the charts of a component without duplicates, and the references to other artifacts next to it, which
// are not copied along.
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

// Charts returns the charts and the other references of all components, as ChartsOf does, sorted and without
// duplicates.
func (b *Bundle) Charts() (charts []Chart, others []string) {
	for _, d := range b.Components {
		c, o := ChartsOf(d)
		charts, others = append(charts, c...), append(others, o...)
	}
	slices.SortFunc(charts, func(x, y Chart) int { return strings.Compare(x.Reference(), y.Reference()) })
	slices.Sort(others)
	return slices.Compact(charts), slices.Compact(others)
}

// ChartStore opens the store of a chart, and returns it with the chart's manifest. It returns an error if that is not a
// manifest of Helm.
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

// baseOf returns the base of a location, without a scheme.
func baseOf(l ocm.Location) (string, error) {
	// The result does not depend on the name.
	repo, _, err := l.Repository("example.org/module")
	if l.Mapping == ocm.SHA256Digest {
		return repo, err
	}
	return strings.TrimSuffix(repo, "/"+descriptors), err
}
