// SPDX-License-Identifier: Apache-2.0

package store

import (
	"context"
	"io"
)

// Content names bytes.
type Content struct {
	MediaType string
	Digest    string // sha256:…
	Size      int64
}

// A Reader reads one repository or layout.
type Reader interface {
	// Manifest of a tag or a digest, and its digest, sha256:…. The bytes have the digest that is returned. A
	// *NotFoundError says that there is none.
	Manifest(ctx context.Context, reference string) (data []byte, digest string, err error)
	// Blob opens a blob at an offset, in bytes. Reading fails at the end where the whole blob was read and has not the
	// digest. A *NotFoundError says that there is none.
	Blob(ctx context.Context, digest string, offset int64) (io.ReadCloser, error)
	// Tags that are there, sorted.
	Tags(ctx context.Context) ([]string, error)
}

// A Writer writes to one repository or layout.
type Writer interface {
	// Has says whether a blob is there, whole.
	Has(ctx context.Context, digest string) (bool, error)
	// PutBlob writes a blob, which open returns from an offset on, in bytes. It is checked on the way. What was left
	// half written by an earlier process is completed or replaced.
	PutBlob(ctx context.Context, c Content, open func(offset int64) (io.ReadCloser, error)) error
	// PutManifest writes a manifest, whose blobs are there, under a tag unless that is empty.
	PutManifest(ctx context.Context, data []byte, tag string) error
}

// A Store is where artifacts are read and written.
type Store interface {
	Reader
	Writer
	// String names the store in messages: host[:port]/path, or the path of the layout.
	String() string
}
