// SPDX-License-Identifier: Apache-2.0

package pack

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/oci/archive"
)

// Modes of entries, independent of the modes of the files.
const (
	fileMode      = 0o644
	directoryMode = 0o755
)

// Archive returns a tar+gzip of files. The same files give the same bytes, in any order.
//
// Entries are sorted bytewise by name, where the names of directories end in a slash; each directory precedes its
// content, for readers that do not create directories implicitly. Owner and group are 0, times are 1970, and there is
// no other metadata. Archive refuses names that are not clean relative paths, that occur twice, or that name both a
// file and a directory.
func Archive(files []archive.File) ([]byte, error) {
	entries, err := entriesOf(files)
	if err != nil {
		return nil, errors.Wrap(err, "cannot pack files")
	}
	var b bytes.Buffer
	// The zero gzip header has no name and no time.
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	t := tar.NewWriter(z)
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		if err := write(t, name, entries[name]); err != nil {
			return nil, errors.Wrapf(err, "cannot pack %q", name)
		}
	}
	if err := t.Close(); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// entriesOf returns the content of the files by name, with an entry for each directory above them.
func entriesOf(files []archive.File) (map[string][]byte, error) {
	entries := make(map[string][]byte, len(files))
	for _, f := range files {
		if err := checkName(f.Name); err != nil {
			return nil, err
		}
		if _, ok := entries[f.Name]; ok {
			return nil, errors.Errorf("duplicate entry %q", f.Name)
		}
		entries[f.Name] = f.Data
	}
	for _, f := range files {
		for dir := path.Dir(f.Name); dir != "."; dir = path.Dir(dir) {
			if _, ok := entries[dir]; ok {
				return nil, errors.Errorf("%q is both a file and a directory", dir)
			}
			entries[dir+"/"] = nil
		}
	}
	return entries, nil
}

func checkName(name string) error {
	switch {
	case !fs.ValidPath(name) || name == ".":
		return errors.Errorf("%.300q must be a relative path without . and .. elements", name)
	case strings.ContainsAny(name, "\\\x00") || !utf8.ValidString(name):
		return errors.Errorf("path %.300q contains invalid characters", name)
	}
	return nil
}

// write writes an entry. The format is USTAR, and PAX for a name that does not fit.
func write(t *tar.Writer, name string, data []byte) error {
	h := &tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: fileMode, Size: int64(len(data)), ModTime: time.Unix(0, 0)}
	if strings.HasSuffix(name, "/") {
		h.Typeflag, h.Mode = tar.TypeDir, directoryMode
	}
	if err := t.WriteHeader(h); err != nil {
		return err
	}
	_, err := t.Write(data)
	return err
}
