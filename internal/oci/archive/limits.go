// SPDX-License-Identifier: Apache-2.0

package archive

import "fmt"

// Limits bound what is read. A field that is not positive means its default.
type Limits struct {
	Compressed   int64 // Size of a blob or an archive as pulled, in bytes; default 64 MiB.
	Uncompressed int64 // Size of an unpacked tar, including its headers, in bytes; default 512 MiB.
	Files        int   // Number of entries of an archive, including directories; default 10,000.
}

// DefaultLimits returns the limits that apply if none are given.
func DefaultLimits() Limits {
	return Limits{Compressed: 64 << 20, Uncompressed: 512 << 20, Files: 10_000}
}

// WithDefaults returns the limits with the default in each field that is not positive.
func (l Limits) WithDefaults() Limits {
	d := DefaultLimits()
	if l.Compressed > 0 {
		d.Compressed = l.Compressed
	}
	if l.Uncompressed > 0 {
		d.Uncompressed = l.Uncompressed
	}
	if l.Files > 0 {
		d.Files = l.Files
	}
	return d
}

// A tooLargeError reports that something is larger than allowed.
type tooLargeError struct {
	what  string
	limit int64
}

func (e *tooLargeError) Error() string {
	return fmt.Sprintf("%s is larger than the limit of %d bytes", e.what, e.limit)
}
