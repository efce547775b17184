// SPDX-License-Identifier: Apache-2.0

package store

import (
	"context"
	"io"
)

// Content describes bytes.
type Content struct {
	MediaType string
	Digest    string // sha256:…
	Size      int64
}

// A Reader reads one repository or layout.
type Reader interface {
	// Manifest returns the manifest of a tag or a digest, and its digest, sha256:…. The bytes match the returned
	// digest. It returns a *NotFoundError if there is no such manifest.
	Manifest(ctx context.Context, reference string) (data []byte, digest string, err error)
	// Blob opens a blob at an offset, in bytes. Reading fails at the end if the whole blob was read and does not
	// match the digest. It returns a *NotFoundError if there is no such blob.
	Blob(ctx context.Context, digest string, offset int64) (io.ReadCloser, error)
	// Tags returns the existing tags, sorted.
	Tags(ctx context.Context) ([]string, error)
}

// A Writer writes to one repository or layout.
type Writer interface {
	// Has reports whether a blob exists completely.
	Has(ctx context.Context, digest string) (bool, error)
	// PutBlob writes a blob, which open returns from an offset on, in bytes, and verifies it on the way. It completes
	// or replaces what an earlier process has partially written.
	PutBlob(ctx context.Context, c Content, open func(offset int64) (io.ReadCloser, error)) error
	// PutManifest writes a manifest, whose blobs exist, under a tag unless that is empty.
	PutManifest(ctx context.Context, data []byte, tag string) error
}

// A Store reads and writes artifacts.
type Store interface {
	Reader
	Writer
	// String returns the name of the store for messages: host[:port]/path, or the path of the layout.
	String() string
}
