// SPDX-License-Identifier: Apache-2.0

// Package build builds a module, which is a component descriptor with layers, from a module definition and its files. The same
// input gives the same bytes.
package build
