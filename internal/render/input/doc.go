// SPDX-License-Identifier: Apache-2.0

// Package input defines the input that all renderers share: files that a tenant may choose, with the limits of one
// file, and external text in messages.
package input
