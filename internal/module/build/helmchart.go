// SPDX-License-Identifier: Apache-2.0

package build

import (
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/module/bundle"
	"github.com/crossplane-contrib/provider-kyma/internal/module/definition"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/archive"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/layers"
	"github.com/crossplane-contrib/provider-kyma/internal/ocm"
	"github.com/crossplane-contrib/provider-kyma/internal/ocm/artifact"
	"github.com/crossplane-contrib/provider-kyma/internal/pack"
	"github.com/crossplane-contrib/provider-kyma/internal/render"
)

// A Chart is an artifact in Helm's own format that belongs to a module.
type Chart struct {
	bundle.Chart

	Manifest []byte
	Layers   []Layer // The config, and then the archive.
}

// helmChart returns the part of a chart that is stored next to the module, and not in it.
func helmChart(name string, files []archive.File, chart *render.Chart) (part, error) {
	c, err := newChart(files, chart)
	if err != nil {
		return part{}, err
	}
	return part{
		place: placeInstall, chart: true, files: files, beside: c,
		resource: ocm.Resource{
			Name: name, Type: typeChart,
			Access: ocm.Access{Type: ocm.AccessRelativeOCI, Reference: c.Reference()},
			Digest: artifactDigest(c.Digest),
		},
	}, nil
}

func newChart(files []archive.File, chart *render.Chart) (*Chart, error) {
	c := &Chart{Chart: bundle.Chart{Repository: bundle.ChartsDir + "/" + chart.Name(), Tag: strings.ReplaceAll(chart.Version(), "+", "_")}}
	if !c.Valid() {
		return nil, errors.Errorf("chart %.100q version %.100q cannot be pushed as %.200s: use a lowercase name, or set "+
			"format: %s", chart.Name(), chart.Version(), c.Repository+":"+c.Tag, definition.FormatLayer)
	}
	metadata, err := chart.Metadata()
	if err != nil {
		return nil, err
	}
	// Helm requires a single directory with the name of the chart.
	below := make([]archive.File, 0, len(files))
	for _, f := range files {
		below = append(below, archive.File{Name: path.Join(chart.Name(), f.Name), Data: f.Data})
	}
	packed, err := pack.Archive(below)
	if err != nil {
		return nil, err
	}
	c.Layers = []Layer{NewLayer(layers.HelmConfig, metadata), NewLayer(layers.HelmContent, packed)}
	// Other annotations that Helm adds are omitted: they repeat the config, or are the time.
	c.Manifest, err = json.Marshal(struct {
		SchemaVersion int               `json:"schemaVersion"`
		MediaType     string            `json:"mediaType"`
		Config        content           `json:"config"`
		Layers        []content         `json:"layers"`
		Annotations   map[string]string `json:"annotations"`
	}{
		SchemaVersion: 2, MediaType: artifact.ManifestType,
		Config: content(c.Layers[0].Layer), Layers: []content{content(c.Layers[1].Layer)},
		Annotations: map[string]string{
			"org.opencontainers.image.title": chart.Name(), "org.opencontainers.image.version": chart.Version(),
		},
	})
	c.Digest = digestOf(c.Manifest)
	return c, err
}

func artifactDigest(digest string) *ocm.Digest {
	return &ocm.Digest{HashAlgorithm: ocm.HashSHA256, NormalisationAlgorithm: ocm.NormalisationArtifact, Value: digest[len("sha256:"):]}
}

// addChart adds a chart that is stored next to the module, unless it is there already. Two installs may use one chart.
func (m *Module) addChart(c *Chart) error {
	i := slices.IndexFunc(m.Charts, func(have Chart) bool { return have.Repository == c.Repository && have.Tag == c.Tag })
	switch {
	case i < 0:
		m.Charts = append(m.Charts, *c)
	case m.Charts[i].Digest != c.Digest:
		return errors.Errorf("two charts with different content would be pushed as %s:%s: change the version of one of them, or set format: %s",
			c.Repository, c.Tag, definition.FormatLayer)
	}
	return nil
}
