// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"os"
	"testing"
)

// TestMemoryOf checks that the memory of a process is known, and that this process, which reads it 40 times per second and
// child, needs next to no memory for that.
func TestMemoryOf(t *testing.T) {
	if got := memoryOf(os.Getpid()); got < 1<<20 || got > 1<<40 {
		t.Errorf("memoryOf(this process): want a plausible number, got %d", got)
	}
	if got := memoryOf(-1); got != 0 {
		t.Errorf("memoryOf(-1): want 0, got %d", got)
	}
	const most = 2
	if n := testing.AllocsPerRun(100, func() { memoryOf(os.Getpid()) }); n > most {
		t.Errorf("memoryOf(...) makes %v allocations, want at most %d", n, most)
	}
}
