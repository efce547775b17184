// SPDX-License-Identifier: Apache-2.0

// Package layers finds the layer that a manifest refers to: the archive of a Helm chart, or the content of an
// artifact of Flux.
//
// Manifests are untrusted: this package checks the form of what they name; its content is checked when it is pulled.
package layers
