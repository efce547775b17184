// SPDX-License-Identifier: Apache-2.0

// Package image builds the binaries and the images of the provider, without a container engine. The same source, version and
// toolchain always produce the same digests.
package image
