// SPDX-License-Identifier: Apache-2.0

//go:build !race

package confine

// Race is true if the race detector is part of the binary. It reserves terabytes of memory, so that no limit of
// memory of the kernel can be used.
const Race = false
