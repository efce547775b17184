// SPDX-License-Identifier: Apache-2.0

// Package artifact reads and writes components as registries store them: a manifest, whose config identifies the layer
// with the descriptor. It also reads the components that they reference, within bounds.
package artifact
