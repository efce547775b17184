// SPDX-License-Identifier: Apache-2.0

// Package input holds what all renderers are given: files that a tenant may
// choose, with the bounds of one file, and foreign text in messages.
package input
