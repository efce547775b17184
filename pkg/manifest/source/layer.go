// SPDX-License-Identifier: Apache-2.0

package source

import "context"

// A Layer provides content that the engine fetches on demand.
type Layer struct {
	// Digest identifies the content. It must not be empty. The engine fetches the content again only if the digest or the rest of
	// the bundle changes.
	Digest string

	// Fetch returns the content. It must fail if the caller is not allowed to read the content, because the engine shares the
	// rendered result between all bundles that fetch the same content.
	Fetch func(ctx context.Context) (Content, error)
}

// Content is the fetched content of a Layer.
type Content struct {
	// Digest identifies the content. Content with equal digests has equal files.
	Digest string

	// Files unpacks the content. The engine does not call it for content with a known digest.
	Files func() ([]File, error)
}

// A File is a file in a Layer.
type File struct {
	// Name is a slash-separated path relative to the root of the layer.
	Name string
	Data []byte
}
