// SPDX-License-Identifier: Apache-2.0

// Package manifest is the controller of Manifests: a thin external client between the managed reconciler and the engine
// in pkg/manifest. It turns a Manifest into a set, and what is observed of the set into conditions.
package manifest
