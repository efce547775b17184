// SPDX-License-Identifier: Apache-2.0

// Package artifact is about components as registries hold them: a manifest, whose
// config says which layer is the descriptor. It writes these, and reads them and
// what they reference, within bounds.
package artifact
