// SPDX-License-Identifier: Apache-2.0

package charts

import (
	"embed"
	"encoding/json"
	"io/fs"
	"path"
	"strings"

	"github.com/Masterminds/semver/v3"
	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/yamlsize"
	"github.com/crossplane-contrib/provider-kyma/package/crds"
)

const (
	// Name is the name of the chart.
	Name = "provider-kyma"
	// MetadataFile is the file with the name and the version of a chart.
	MetadataFile = "Chart.yaml"

	// crdsDir is a link in the repository, which is not embedded.
	crdsDir = "crds"
	// development is the version of the chart of a build whose version is not a semantic version.
	development = "0.0.0-dev"
)

//go:embed all:provider-kyma
var files embed.FS

// Files returns the files of the chart for a version of the provider, such as v0.1.0, by their path in the chart. The chart contains the
// CRDs in package/crds.
func Files(version string) (map[string][]byte, error) {
	out := map[string][]byte{}
	if err := read(files, Name, "", out); err != nil {
		return nil, err
	}
	if err := read(crds.Files, ".", crdsDir, out); err != nil {
		return nil, err
	}
	metadata, err := Metadata(out[MetadataFile], version)
	// JSON is YAML.
	out[MetadataFile] = metadata
	return out, err
}

// read adds the files below a directory to out, by their path relative to the directory, which begins with prefix.
func read(from fs.FS, dir, prefix string, out map[string][]byte) error {
	err := fs.WalkDir(from, dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(from, p)
		out[path.Join(prefix, strings.TrimPrefix(p, dir+"/"))] = data
		return err
	})
	return errors.Wrap(err, "cannot read the chart")
}

// Metadata returns the content of a Chart.yaml as JSON, with the version of the chart and of the provider replaced.
func Metadata(content []byte, version string) ([]byte, error) {
	metadata := map[string]any{}
	if err := (yamlsize.Limits{}).Unmarshal(content, &metadata); err != nil {
		return nil, errors.Wrapf(err, "cannot read %s", MetadataFile)
	}
	if metadata["name"] != Name {
		return nil, errors.Errorf("%s: want the name %q, got %q", MetadataFile, Name, metadata["name"])
	}
	// A label and a tag, which contain the version of the provider, cannot contain the metadata of a build.
	version, _, _ = strings.Cut(version, "+") // Cut returns no error.
	metadata["version"], metadata["appVersion"] = Version(version), version
	out, err := json.Marshal(metadata)
	return out, errors.Wrapf(err, "cannot encode %s", MetadataFile)
}

// Version returns the version of the chart for a version of the provider: without the leading v, because charts have semantic versions.
func Version(version string) string {
	out := strings.TrimPrefix(version, "v")
	if _, err := semver.StrictNewVersion(out); err != nil {
		return development
	}
	return out
}
