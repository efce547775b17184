// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"encoding/json"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"sigs.k8s.io/yaml"

	"github.com/crossplane-contrib/provider-kyma/charts"
	"github.com/crossplane-contrib/provider-kyma/cluster/release/archive"
)

const (
	// Name is the name of the chart.
	Name = charts.Name

	// These are the media types of Helm.
	configType types.MediaType = "application/vnd.cncf.helm.config.v1+json"
	layerType  types.MediaType = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"
)

// A Chart is a packed chart.
type Chart struct {
	// Version is the version of the chart, which is that of the release without the leading v. It is also its tag in a registry.
	Version string
	// Archive is the content of a .tgz file.
	Archive []byte
	// Image is the artifact that helm pulls.
	Image v1.Image
}

// Pack packs the chart in the repository with the given root directory for a version of the release, such as v0.1.0. The chart
// contains the CRDs in package/crds. All files have the given time.
func Pack(root, version string, modified time.Time) (Chart, error) {
	files, config, err := contents(root, version)
	if err != nil {
		return Chart{}, err
	}
	packed := make([]archive.File, 0, len(files))
	for name, data := range files {
		packed = append(packed, archive.File{Path: path.Join(Name, name), Data: data})
	}
	out := Chart{Version: charts.Version(version)}
	if out.Archive, err = archive.TarGz(modified, packed...); err != nil {
		return Chart{}, err
	}
	out.Image, err = artifact(config, out.Archive)
	return out, err
}

// contents returns the files of the chart for a version of the release, by their path in the chart, and the content of Chart.yaml as JSON.
func contents(root, version string) (files map[string][]byte, config []byte, err error) {
	if files, err = read(filepath.Join(root, "charts", Name), ""); err != nil {
		return nil, nil, err
	}
	crds, err := read(filepath.Join(root, "package", "crds"), "crds")
	if err != nil {
		return nil, nil, err
	}
	for name, data := range crds {
		if path.Ext(name) == ".yaml" {
			files[name] = data
		}
	}
	if config, err = charts.Metadata(files[charts.MetadataFile], version); err != nil {
		return nil, nil, err
	}
	files[charts.MetadataFile], err = yaml.JSONToYAML(config)
	return files, config, errors.Wrapf(err, "cannot encode %s", charts.MetadataFile)
}

// read returns the regular files below a directory, by their path in the chart, which begins with prefix.
func read(dir, prefix string) (map[string][]byte, error) {
	out := map[string][]byte{}
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		rel, err := filepath.Rel(dir, p)
		if err != nil {
			return err
		}
		out[path.Join(prefix, filepath.ToSlash(rel))], err = os.ReadFile(p) //nolint:gosec // A file of this repository.
		return err
	})
	return out, errors.Wrap(err, "cannot read the chart")
}

// A core is the part of an artifact that partial.CompressedToImage completes.
type core struct {
	config, manifest []byte
	layer            v1.Layer
}

func (c *core) RawConfigFile() ([]byte, error)    { return c.config, nil }
func (c *core) RawManifest() ([]byte, error)      { return c.manifest, nil }
func (*core) MediaType() (types.MediaType, error) { return types.OCIManifestSchema1, nil }
func (c *core) LayerByDigest(h v1.Hash) (partial.CompressedLayer, error) {
	if d, err := c.layer.Digest(); err != nil || d != h {
		return nil, errors.Errorf("unknown layer %s", h)
	}
	return c.layer, nil
}

// artifact returns a chart as helm push stores it.
func artifact(config, content []byte) (v1.Image, error) {
	c := &core{config: config, layer: static.NewLayer(content, layerType)}
	described, err := partial.Descriptor(static.NewLayer(config, configType))
	if err != nil {
		return nil, errors.Wrap(err, "cannot describe the metadata of the chart")
	}
	layer, err := partial.Descriptor(c.layer)
	if err != nil {
		return nil, errors.Wrap(err, "cannot describe the archive of the chart")
	}
	c.manifest, err = json.Marshal(v1.Manifest{
		SchemaVersion: 2, MediaType: types.OCIManifestSchema1, Config: *described, Layers: []v1.Descriptor{*layer},
	})
	if err != nil {
		return nil, errors.Wrap(err, "cannot encode the manifest of the chart")
	}
	out, err := partial.CompressedToImage(c)
	return out, errors.Wrap(err, "cannot create the artifact of the chart")
}
