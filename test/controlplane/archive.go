// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"sigs.k8s.io/yaml"
)

// Files are the contents of a directory by slash-separated relative path.
type Files map[string][]byte

// ReadDir reads all regular files of a directory, including its subdirectories.
func ReadDir(dir string) (Files, error) {
	files := Files{}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err //nolint:wrapcheck // It names the file.
		}
		rel, err := filepath.Rel(dir, name)
		files[filepath.ToSlash(rel)] = data
		return err //nolint:wrapcheck // Wrapped below.
	})
	return files, errors.Wrapf(err, "cannot read directory %q", dir)
}

// Archive packs files as tar+gzip, in the directory top unless it is empty. The same files always produce the same bytes.
func (f Files) Archive(top string) ([]byte, error) {
	var out bytes.Buffer
	zip := gzip.NewWriter(&out)
	archive := tar.NewWriter(zip)
	for _, name := range slices.Sorted(maps.Keys(f)) {
		header := &tar.Header{
			Typeflag: tar.TypeReg, Name: path.Join(top, name), Mode: 0o644, Size: int64(len(f[name])), Format: tar.FormatUSTAR,
		}
		if err := archive.WriteHeader(header); err != nil {
			return nil, errors.Wrapf(err, "cannot pack %q", name)
		}
		if _, err := archive.Write(f[name]); err != nil {
			return nil, errors.Wrapf(err, "cannot pack %q", name)
		}
	}
	if err := archive.Close(); err != nil {
		return nil, errors.Wrap(err, "cannot complete the archive")
	}
	if err := zip.Close(); err != nil {
		return nil, errors.Wrap(err, "cannot complete the archive")
	}
	return out.Bytes(), nil
}

// chartMetadata is the metadata of a chart for a registry or a repository.
type chartMetadata struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	// all contains every field of Chart.yaml.
	all map[string]any
}

func (f Files) chart() (*chartMetadata, error) {
	data, ok := f["Chart.yaml"]
	if !ok {
		return nil, errors.New("not a chart: Chart.yaml is missing")
	}
	m := &chartMetadata{}
	if err := yaml.Unmarshal(data, m); err != nil {
		return nil, errors.Wrap(err, "cannot read Chart.yaml")
	}
	if m.Name == "" || m.Version == "" {
		return nil, errors.New("cannot read Chart.yaml: it has no name or no version")
	}
	return m, errors.Wrap(yaml.Unmarshal(data, &m.all), "cannot read Chart.yaml")
}
