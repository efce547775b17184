// SPDX-License-Identifier: Apache-2.0

// Package ocm reads, writes, signs and verifies component descriptors, which is
// how Kyma and the Open Component Model describe what a module consists of.
//
// Descriptors come from registries and from users, so everything here is
// bounded, and nothing that a signature does not cover is taken as a reason to
// trust. Repository contexts, labels, sources and the access of a resource are
// not signed: they say where to look, and the signed digests say whether what
// was found is right.
//
// This is the only package that imports component-spec. It uses the types and
// the normalisation of that library; the rest is our own, because the library
// changes descriptors that it encodes, and reads without bounds.
package ocm
