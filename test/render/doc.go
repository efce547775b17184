// SPDX-License-Identifier: Apache-2.0

// Package render compares the output of internal/render with the real kubectl for kustomizations, and with the real helm for
// charts. It needs no server.
package render
