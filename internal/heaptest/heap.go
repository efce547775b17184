// SPDX-License-Identifier: Apache-2.0

package heaptest

import "runtime"

// Bytes returns the size of the heap after a garbage collection. It includes objects of other goroutines, so don't use it in
// parallel tests.
func Bytes() int64 {
	// The second collection frees the objects that the first one finalized.
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc) //nolint:gosec // The memory of a test is small.
}
