// SPDX-License-Identifier: Apache-2.0

package compress

import (
	"bytes"
	"compress/gzip"
	"io"
	"sync"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// writers contains a pool of idle compressors for each level, from gzip.HuffmanOnly (-2) to gzip.BestCompression (9).
var writers [gzip.BestCompression - gzip.HuffmanOnly + 1]sync.Pool //nolint:gochecknoglobals // Pools are safe for concurrent use.

// readers contains idle decompressors.
var readers sync.Pool //nolint:gochecknoglobals // See writers.

// Gzip compresses data at a compression level of package compress/gzip. Equal data and levels result in equal bytes.
func Gzip(data []byte, level int) ([]byte, error) {
	if level < gzip.HuffmanOnly || level > gzip.BestCompression {
		return nil, errors.Errorf("invalid compression level %d", level)
	}
	pool := &writers[level-gzip.HuffmanOnly]
	var out bytes.Buffer
	w, ok := pool.Get().(*gzip.Writer)
	if ok {
		w.Reset(&out)
	} else {
		var err error
		if w, err = gzip.NewWriterLevel(&out, level); err != nil {
			return nil, err
		}
	}
	defer pool.Put(w)
	if _, err := w.Write(data); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// Gunzip decompresses data. It returns an error if the result exceeds limit bytes. It decompresses data twice, first to measure the result:
// growing a buffer would take several times the memory of the result, and data that exceeds the limit takes none.
func Gunzip(data []byte, limit int) ([]byte, error) {
	in := bytes.NewReader(data)
	r, ok := readers.Get().(*gzip.Reader)
	if ok {
		if err := r.Reset(in); err != nil {
			return nil, err
		}
	} else {
		var err error
		if r, err = gzip.NewReader(in); err != nil {
			return nil, err
		}
	}
	defer readers.Put(r)
	size, err := io.Copy(io.Discard, io.LimitReader(r, int64(limit)+1))
	if err != nil {
		return nil, err
	}
	if size > int64(limit) {
		return nil, errors.Errorf("larger than %d bytes when decompressed", limit)
	}
	if err := r.Reset(bytes.NewReader(data)); err != nil {
		return nil, err
	}
	out := make([]byte, size)
	_, err = io.ReadFull(r, out)
	return out, err
}
