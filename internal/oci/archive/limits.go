// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"context"
	"fmt"
	"math"

	"github.com/crossplane-contrib/provider-kyma/internal/decoding"
)

// Limits bound what is read. A field that is not positive means its default.
type Limits struct {
	Compressed   int64 // Size of a blob or an archive as pulled, in bytes; default 64 MiB.
	Uncompressed int64 // Size of an unpacked tar, including its headers, in bytes; default 512 MiB.
	File         int64 // Size of a file except a .tgz, in bytes; default no limit.
	Files        int   // Number of entries of an archive, including directories; default 10,000.

	// Archives bounds the memory of all archives that are pulled or unpacked at the same time; default no bound.
	Archives *decoding.Archives

	take func(n int64) error // waits for memory for n more bytes; nil without a bound
}

// In returns limits for an archive that was pulled with a context. Its content counts in the memory of the context.
func (l Limits) In(ctx context.Context) Limits {
	l.take = func(n int64) error { return l.Archives.Take(ctx, n) }
	return l
}

// DefaultLimits returns the limits that apply if none are given.
func DefaultLimits() Limits {
	return Limits{Compressed: 64 << 20, Uncompressed: 512 << 20, Files: 10_000}
}

// WithDefaults returns the limits with the default in each field that is not positive.
func (l Limits) WithDefaults() Limits {
	d := DefaultLimits()
	if l.Compressed <= 0 {
		l.Compressed = d.Compressed
	}
	if l.Uncompressed <= 0 {
		l.Uncompressed = d.Uncompressed
	}
	if l.File <= 0 {
		l.File = math.MaxInt64
	}
	if l.Files <= 0 {
		l.Files = d.Files
	}
	if l.take == nil {
		l.take = func(int64) error { return nil }
	}
	return l
}

// A tooLargeError reports that something is larger than allowed.
type tooLargeError struct {
	what  string
	limit int64
	flag  string
}

func (e *tooLargeError) Error() string {
	return fmt.Sprintf("%s is larger than the limit of %d bytes (%s of the provider)", e.what, e.limit, e.flag)
}

func packedError(what string, l Limits) error {
	return &tooLargeError{what: what, limit: l.Compressed, flag: "--max-archive-size"}
}

func unpackedError(limit int64) error {
	return &tooLargeError{what: "the unpacked archive", limit: limit, flag: "--max-unpacked-size"}
}
