// SPDX-License-Identifier: Apache-2.0

package source

import "context"

// A Layer is content that the engine fetches when it needs it.
type Layer struct {
	// Digest identifies the content, and must not be empty. While it and the rest of the bundle are unchanged, the engine
	// fetches nothing.
	Digest string

	// Fetch returns the content. It must fail for a caller that may not have it, because the engine shares what it makes of
	// content between all bundles that fetch the same.
	Fetch func(ctx context.Context) (Content, error)
}

// Content is what was fetched.
type Content struct {
	// Digest of the content itself. Equal digests mean equal files.
	Digest string

	// Files unpacks the content. The engine does not call it for content that it knows by its digest.
	Files func() ([]File, error)
}

// A File of a Layer.
type File struct {
	// Name is a path with slashes, relative to the root of the layer.
	Name string
	Data []byte
}
