// SPDX-License-Identifier: Apache-2.0

package image

import (
	"archive/tar"
	"bytes"
	"io"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// An entry is a file of an image, or a directory if the path ends with a slash.
type entry struct {
	path string
	mode int64
	data []byte
}

// layer packs entries and their parent directories, sorted by path. All of them belong to root and have no timestamp, so
// that the same entries produce the same digest.
func layer(entries ...entry) (v1.Layer, error) {
	entries = withParents(entries)
	slices.SortFunc(entries, func(a, b entry) int { return strings.Compare(a.path, b.path) })
	var out bytes.Buffer
	archive := tar.NewWriter(&out)
	for _, e := range entries {
		header := &tar.Header{
			Typeflag: tar.TypeReg, Name: e.path, Mode: e.mode, Size: int64(len(e.data)), ModTime: time.Unix(0, 0), Format: tar.FormatPAX,
		}
		if strings.HasSuffix(e.path, "/") {
			header.Typeflag = tar.TypeDir
		}
		if err := archive.WriteHeader(header); err != nil {
			return nil, errors.Wrapf(err, "cannot pack %q", e.path)
		}
		if _, err := archive.Write(e.data); err != nil {
			return nil, errors.Wrapf(err, "cannot pack %q", e.path)
		}
	}
	if err := archive.Close(); err != nil {
		return nil, errors.Wrap(err, "cannot complete a layer")
	}
	open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(out.Bytes())), nil }
	made, err := tarball.LayerFromOpener(open, tarball.WithMediaType(types.OCILayer))
	return made, errors.Wrap(err, "cannot create a layer")
}

// withParents adds the parent directories that are missing from the entries.
func withParents(entries []entry) []entry {
	out := slices.Clone(entries)
	known := func(p string) bool { return slices.ContainsFunc(out, func(e entry) bool { return e.path == p }) }
	for _, e := range entries {
		for dir := path.Dir(strings.TrimSuffix(e.path, "/")); dir != "."; dir = path.Dir(dir) {
			if !known(dir + "/") {
				out = append(out, entry{path: dir + "/", mode: 0o755})
			}
		}
	}
	return out
}
