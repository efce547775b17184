// SPDX-License-Identifier: Apache-2.0

// Package render compares what internal/render makes of kustomizations with what
// the real kubectl does, and what it makes of charts with what the real helm does.
// It needs no server.
package render
