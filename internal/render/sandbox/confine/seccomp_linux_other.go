// SPDX-License-Identifier: Apache-2.0

//go:build linux && !amd64 && !arm64

package confine

// filterCalls does nothing, because the numbers of the system calls of this architecture are not listed.
func filterCalls() bool { return false }
