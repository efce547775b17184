// SPDX-License-Identifier: Apache-2.0

//go:build race

package confine

// Race is true if the race detector is part of the binary. The race detector reserves terabytes of memory, so kernel memory
// limits cannot be used with it.
const Race = true
