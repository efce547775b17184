// SPDX-License-Identifier: Apache-2.0

// Package bundle describes what a module installs in one cluster. Users write a Bundle of CRDs, installs and a custom resource.
// The engine works on its Parts, each of which has a digest of its inputs.
//
// Digests are stored in clusters. If they changed for the same inputs, all modules would be applied again: golden files prevent
// that.
package bundle
