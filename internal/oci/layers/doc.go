// SPDX-License-Identifier: Apache-2.0

// Package layers finds the layer that a manifest is about: the archive of a Helm
// chart, or the content of an artifact of Flux.
//
// A manifest is the word of another: what it names is checked for its form here, and
// for its content where it is pulled.
package layers
