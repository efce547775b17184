// SPDX-License-Identifier: Apache-2.0

// Package sbom describes binaries, images and packages as SPDX 2.3 documents in JSON. Its input is the build information that the Go
// linker stores in a binary: all modules that the binary contains, with their versions and sums. The same input always produces the
// same document.
package sbom
