// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"io"
	"path"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// A File is one regular file of an archive.
type File struct {
	Name string // Relative path with slashes, without . and .. elements.
	Data []byte
}

// Read reads a tar, with or without gzip, into its regular files, sorted by name. It skips directories. It fails on
// anything that does not belong in an archive of text files (absolute paths, paths with .., links, devices, sparse files,
// duplicate names), on content beyond the limits, and on damaged archives. It unpacks as a stream, waits until there is
// memory for a file before it reads the file, and stops at the limit, so a small archive cannot use much memory.
func Read(data []byte, l Limits) ([]File, error) {
	l = l.WithDefaults()
	if int64(len(data)) > l.Compressed {
		return nil, errors.Wrap(packedError("the archive", l), "cannot read archive")
	}
	files, err := read(data, l)
	return files, errors.Wrap(err, "cannot read archive")
}

func read(data []byte, l Limits) ([]File, error) {
	var r io.Reader = bytes.NewReader(data)
	zipped := bytes.HasPrefix(data, []byte{0x1f, 0x8b})
	if !zipped && 0 < len(data) && len(data) < tarBlock {
		return nil, damaged(tar.ErrHeader)
	}
	if zipped {
		z, err := gzip.NewReader(r)
		if err != nil {
			return nil, damaged(err)
		}
		r = z
	}
	most := int64(len(data))
	if zipped {
		most *= maxRatio
	}
	b := &boundedReader{r: r, left: l.Uncompressed, limit: l.Uncompressed}
	a := &reader{in: b, tar: tar.NewReader(b), most: most, limits: l, seen: map[string]struct{}{}}
	for {
		err := a.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	// Data after the tar counts toward the limit, and the checksum of gzip comes last.
	if _, err := io.Copy(io.Discard, b); err != nil {
		return nil, damaged(err)
	}
	if len(a.files) == 0 {
		return nil, errors.New("the archive contains no files")
	}
	sort.Slice(a.files, func(i, j int) bool { return a.files[i].Name < a.files[j].Name })
	return a.files, nil
}

const (
	// tarBlock is the minimum size of a tar: the header of its first file.
	tarBlock = 512

	// maxRatio is the maximum ratio of the sizes of data before and after its compression with gzip, rounded up.
	maxRatio = 1033

	// perFile is the memory of a file without its name and content, in bytes.
	perFile = 256
)

// A reader reads the entries of a tar one by one.
type reader struct {
	in      *boundedReader
	tar     *tar.Reader
	most    int64 // Maximum size of the tar because of the size of its data.
	limits  Limits
	entries int
	seen    map[string]struct{}
	files   []File
}

// next reads one entry. It returns io.EOF, unwrapped, after the last one.
func (a *reader) next() error {
	h, err := a.tar.Next()
	if err == io.EOF { //nolint:errorlint // A wrapped EOF is a damaged archive.
		return io.EOF
	}
	if err != nil {
		return damaged(err)
	}
	if h.Typeflag == tar.TypeXGlobalHeader {
		return nil
	}
	if a.entries++; a.entries > a.limits.Files {
		return errors.Errorf("the archive has more than the limit of %d entries", a.limits.Files)
	}
	name, err := entryName(h)
	if err != nil || h.Typeflag == tar.TypeDir {
		return err
	}
	if _, ok := a.seen[name]; ok {
		return errors.Errorf("the archive contains %q twice", name)
	}
	a.seen[name] = struct{}{}
	data, err := a.read(h, name)
	if err != nil {
		return err
	}
	a.files = append(a.files, File{Name: name, Data: data})
	return nil
}

// read reads the file of h. It allocates no memory for a file that exceeds a limit, or whose size the archive cannot have.
func (a *reader) read(h *tar.Header, name string) ([]byte, error) {
	switch {
	case h.Size > a.limits.File && path.Ext(name) != ".tgz":
		return nil, errors.Errorf("file %q has %d bytes, which is more than the limit of %d bytes", name, h.Size, a.limits.File)
	case h.Size > a.in.left:
		return nil, unpackedError(a.limits.Uncompressed)
	case h.Size > a.most:
		return nil, damaged(io.ErrUnexpectedEOF)
	}
	if err := a.limits.take(h.Size + int64(len(name)) + perFile); err != nil {
		return nil, err
	}
	data := make([]byte, h.Size)
	_, err := io.ReadFull(a.tar, data)
	return data, damaged(err)
}

// entryName returns the clean name of an entry, or an error if the entry is not allowed.
func entryName(h *tar.Header) (string, error) {
	n := h.Name
	switch h.Typeflag {
	case tar.TypeReg, tar.TypeDir:
	case tar.TypeSymlink, tar.TypeLink:
		return "", errors.Errorf("entry %q is a link; links are not allowed", n)
	default:
		return "", errors.Errorf("entry %q is neither a file nor a directory", n)
	}
	for key := range h.PAXRecords {
		// A sparse file has a size, but not as many bytes.
		if strings.HasPrefix(key, "GNU.sparse.") {
			return "", errors.Errorf("entry %q is a sparse file; sparse files are not allowed", n)
		}
	}
	if path.IsAbs(n) {
		return "", errors.Errorf("entry %q has an absolute path", n)
	}
	if strings.ContainsAny(n, "\\\x00") || !utf8.ValidString(n) {
		return "", errors.Errorf("entry %q has a path with invalid characters", n)
	}
	if slices.Contains(strings.Split(n, "/"), "..") {
		return "", errors.Errorf("entry %q has a path outside of the archive", n)
	}
	clean := path.Clean(n)
	if clean == "." && h.Typeflag != tar.TypeDir {
		return "", errors.New("the archive contains a file without a name")
	}
	return clean, nil
}

// damaged rewrites an error of reading a tar or gzip stream.
func damaged(err error) error {
	var large *tooLargeError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &large):
		return large
	case errors.Is(err, tar.ErrHeader), errors.Is(err, gzip.ErrHeader):
		return errors.New("not a tar or tar.gz archive, or the archive is damaged")
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return errors.New("the archive is truncated")
	}
	return errors.Wrap(err, "the archive is damaged")
}

// A boundedReader returns an error, instead of io.EOF, if there is more data than the limit.
type boundedReader struct {
	r     io.Reader
	left  int64
	limit int64
}

func (b *boundedReader) Read(p []byte) (int, error) {
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.r.Read(p)
	b.left -= int64(n)
	if b.left < 0 {
		return 0, unpackedError(b.limit)
	}
	return n, err
}
