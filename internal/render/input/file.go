// SPDX-License-Identifier: Apache-2.0

package input

import "bytes"

// A File is one file of a chart or of a kustomization. Name is a slash-separated path relative to the root of the
// archive, without leading "./".
type File struct {
	Name string
	Data []byte
}

const (
	// MaxName bounds the length of a path, and therefore the nesting of charts in charts/, which Helm's loader follows
	// by recursion.
	MaxName = 1024

	// MaxFile is Helm's limit for one file (loader.MaxDecompressedFileSize).
	// Some files are parsed, which takes many times their size.
	MaxFile = 5 << 20

	// MaxFiles is the maximum number of files.
	MaxFiles = 10_000
)

//nolint:gochecknoglobals // A constant.
var utf8BOM = []byte{0xEF, 0xBB, 0xBF}

// TrimBOM returns a text without the byte order mark that it may begin with.
func TrimBOM(b []byte) []byte { return bytes.TrimPrefix(b, utf8BOM) }
