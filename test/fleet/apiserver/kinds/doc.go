// SPDX-License-Identifier: Apache-2.0

// Package kinds contains what the simulated API server knows about kinds: the built-in ones, with their defaults and a part of their
// validation, and those of CRDs, with their structural schemas. Kinds are immutable, and all clusters share them.
package kinds
