// SPDX-License-Identifier: Apache-2.0

// Package ocm reads, writes, signs and verifies component descriptors, the format in which Kyma and the Open Component
// Model describe the content of a module.
//
// Descriptors come from registries and from users, so everything here is bounded, and nothing that a signature does not
// cover is trusted. Repository contexts, labels, sources and the access of a resource are not signed: they specify
// where content is, and the signed digests verify it.
//
// This is the only package that imports component-spec. It uses the types and the normalisation of that library, but
// not its other functions: they change descriptors that they encode, and read without bounds.
package ocm
