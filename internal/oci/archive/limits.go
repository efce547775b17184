// SPDX-License-Identifier: Apache-2.0

package archive

import "fmt"

// Limits bound what is read. A field that is not positive has its default.
type Limits struct {
	Compressed   int64 // Bytes of a blob or an archive as it is pulled; default 64 MiB.
	Uncompressed int64 // Bytes of an unpacked tar, its headers included; default 512 MiB.
	Files        int   // Entries of an archive, directories included; default 10,000.
}

// DefaultLimits returns the limits that apply where none are given.
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

// A tooLargeError says that something is larger than allowed.
type tooLargeError struct {
	what  string
	limit int64
}

func (e *tooLargeError) Error() string {
	return fmt.Sprintf("%s is larger than the limit of %d bytes", e.what, e.limit)
}
