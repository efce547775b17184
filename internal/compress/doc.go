// SPDX-License-Identifier: Apache-2.0

// Package compress compresses and decompresses small blobs with gzip, with a bound on what a blob may decompress to.
// It keeps the tables of finished compressors for the next call: they are much larger than most blobs.
package compress
