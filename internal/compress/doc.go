// SPDX-License-Identifier: Apache-2.0

// Package compress compresses and decompresses small blobs with gzip, and limits the size of decompressed blobs. It reuses the
// tables of compressors, because they are much larger than most blobs.
package compress
