// SPDX-License-Identifier: Apache-2.0

// Package render compares what internal/render makes of kustomizations with what
// the real kubectl does. It needs no server.
package render
