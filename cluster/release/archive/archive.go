// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// A File is a file of an archive.
type File struct {
	// Path is relative and separated by slashes.
	Path string
	Data []byte
	// Executable is true for programs.
	Executable bool
}

func (f File) mode() fs.FileMode {
	if f.Executable {
		return 0o755
	}
	return 0o644
}

// sorted returns the files in the order of their paths.
func sorted(files []File) []File {
	return slices.SortedFunc(slices.Values(files), func(a, b File) int { return strings.Compare(a.Path, b.Path) })
}

// TarGz returns a compressed tar archive. The files belong to root, and have this modification time.
func TarGz(modified time.Time, files ...File) ([]byte, error) {
	var out bytes.Buffer
	compressed, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, errors.Wrap(err, "cannot compress an archive")
	}
	archive := tar.NewWriter(compressed)
	for _, f := range sorted(files) {
		header := &tar.Header{
			Typeflag: tar.TypeReg, Name: f.Path, Mode: int64(f.mode()), Size: int64(len(f.Data)), ModTime: modified.UTC().Truncate(time.Second), Format: tar.FormatUSTAR,
		}
		if err := archive.WriteHeader(header); err != nil {
			return nil, errors.Wrapf(err, "cannot pack %q", f.Path)
		}
		if _, err := archive.Write(f.Data); err != nil {
			return nil, errors.Wrapf(err, "cannot pack %q", f.Path)
		}
	}
	err = errors.Join(archive.Close(), compressed.Close())
	return out.Bytes(), errors.Wrap(err, "cannot complete an archive")
}

// Zip returns a zip archive. The files have this modification time.
func Zip(modified time.Time, files ...File) ([]byte, error) {
	var out bytes.Buffer
	archive := zip.NewWriter(&out)
	for _, f := range sorted(files) {
		header := &zip.FileHeader{Name: f.Path, Method: zip.Deflate, Modified: modified.UTC()}
		header.SetMode(f.mode())
		w, err := archive.CreateHeader(header)
		if err != nil {
			return nil, errors.Wrapf(err, "cannot pack %q", f.Path)
		}
		if _, err := w.Write(f.Data); err != nil {
			return nil, errors.Wrapf(err, "cannot pack %q", f.Path)
		}
	}
	err := archive.Close()
	return out.Bytes(), errors.Wrap(err, "cannot complete an archive")
}
