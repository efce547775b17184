// SPDX-License-Identifier: Apache-2.0

package layout

import (
	"archive/tar"
	"bufio"
	"compress/gzip"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/oci"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/store"
)

const (
	// The files of an image layout.
	layoutFile = "oci-layout"
	indexFile  = "index.json"
	blobsDir   = "blobs/sha256"

	// maxEntries bounds the entries of a tar. maxInflated is how many bytes gzip may unpack to, in addition to 32
	// times its size.
	maxEntries  = 100_000
	maxInflated = 1 << 30
)

// A tree gives read access to the files of a layout.
type tree interface {
	// open opens a regular file. The error is fs.ErrNotExist if there is none.
	open(name string) (content, error)
	Close() error
}

// content is an open file.
type content interface {
	io.ReadSeekCloser
	io.ReaderAt

	Size() int64
}

// A directory is a tree on disk. Its links cannot reach anything outside of it.
type directory struct{ *os.Root }

type diskFile struct {
	*os.File

	size int64
}

func (f *diskFile) Size() int64 { return f.size }

func (d directory) open(name string) (content, error) {
	// Opening a pipe could block forever.
	if info, err := d.Stat(name); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() {
		return nil, errors.Errorf("%s is not a regular file", name)
	}
	f, err := d.Open(name)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return &diskFile{File: f, size: info.Size()}, nil
}

// An archive is a tree in a tar, which is read in place.
type archive struct {
	file    *os.File
	entries map[string]entry
}

type entry struct{ offset, size int64 }

type section struct{ *io.SectionReader }

func (section) Close() error { return nil }

func (a *archive) Close() error { return a.file.Close() }

func (a *archive) open(name string) (content, error) {
	e, ok := a.entries[name]
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return section{io.NewSectionReader(a.file, e.offset, e.size)}, nil
}

// openArchive opens the tar at path; with gzip, it unpacks it to a temporary file. It fails if the file is not a tar.
func openArchive(path string) (*archive, error) {
	f, err := os.Open(path) //nolint:gosec // The user names their own file.
	if err != nil {
		return nil, err
	}
	if isGzip(f) {
		inflated, err := inflate(f)
		_ = f.Close()
		if err != nil {
			return nil, err
		}
		f = inflated
	}
	a := &archive{file: f, entries: map[string]entry{}}
	if err := a.scan(); err != nil {
		_ = f.Close()
		return nil, err
	}
	return a, nil
}

func isGzip(r io.ReaderAt) bool {
	var magic [2]byte
	_, err := r.ReadAt(magic[:], 0)
	return err == nil && magic == [2]byte{0x1f, 0x8b}
}

// inflate unpacks f to a temporary file, which is already unlinked.
func inflate(f *os.File) (*os.File, error) {
	out, err := os.CreateTemp("", "kymactl-*.tar")
	if err != nil {
		return nil, err
	}
	// Systems that cannot remove an open file keep it until the directory is cleaned.
	_ = os.Remove(out.Name())
	z, limit, err := gunzip(f)
	if err == nil {
		var n int64
		n, err = io.Copy(out, io.LimitReader(z, limit+1))
		if n > limit {
			err = &store.TooLargeError{Limit: limit}
		}
	}
	if err == nil {
		_, err = out.Seek(0, io.SeekStart)
	}
	if err != nil {
		_ = out.Close()
		return nil, errors.Wrap(err, "cannot unpack the file")
	}
	return out, nil
}

func gunzip(f *os.File) (r io.Reader, limit int64, err error) {
	info, err := f.Stat()
	if err != nil {
		return nil, 0, err
	}
	z, err := gzip.NewReader(bufio.NewReaderSize(f, 64<<10))
	return z, maxInflated + 32*info.Size(), err
}

// scan finds the files of a layout, and ignores everything else in the tar.
func (a *archive) scan() error {
	// The tar reader seeks over content, and reads only what it must.
	t := tar.NewReader(a.file)
	for n := 0; ; n++ {
		h, err := t.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return errors.Wrap(err, "not a tar archive, or the archive is damaged")
		}
		if n >= maxEntries {
			return errors.Errorf("the archive has more than %d entries", maxEntries)
		}
		if err := a.add(h); err != nil {
			return err
		}
	}
}

func (a *archive) add(h *tar.Header) error {
	name := path.Clean(h.Name)
	if !isLayoutName(name) {
		return nil
	}
	if h.Typeflag != tar.TypeReg {
		return errors.Errorf("entry %.200q is not a regular file", h.Name)
	}
	for key := range h.PAXRecords {
		// A sparse file has fewer bytes than it claims.
		if strings.HasPrefix(key, "GNU.sparse.") {
			return errors.Errorf("entry %.200q is a sparse file; sparse files are not allowed", h.Name)
		}
	}
	if _, ok := a.entries[name]; ok {
		return errors.Errorf("the archive contains %.200q twice", h.Name)
	}
	at, err := a.file.Seek(0, io.SeekCurrent)
	if err != nil {
		return err
	}
	info, err := a.file.Stat()
	if err != nil {
		return err
	}
	if at+h.Size > info.Size() {
		return errors.Errorf("the archive is truncated in entry %.200q", h.Name)
	}
	a.entries[name] = entry{offset: at, size: h.Size}
	return nil
}

func isLayoutName(name string) bool {
	return name == layoutFile || name == indexFile || path.Dir(name) == blobsDir && oci.ValidDigest("sha256:"+path.Base(name))
}

func blobName(digest string) string { return blobsDir + "/" + strings.TrimPrefix(digest, "sha256:") }
