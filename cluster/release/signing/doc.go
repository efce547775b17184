// SPDX-License-Identifier: Apache-2.0

// Package signing signs the artifacts of a release with cosign and a key, without a transparency log.
package signing
