// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package render

// Only Linux has images.
func isLauncher(string) bool { return false }

func launch([]string) int { return 1 }
