// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"testing"

	"github.com/crossplane-contrib/provider-kyma/internal/render/sandbox/confine"
)

// TestExecutable checks that only a program with the race detector starts a binary that an environment variable names.
func TestExecutable(t *testing.T) {
	const other = "/other/binary"
	t.Setenv(envExecutable, other)
	got, err := executable()
	if err != nil || (got == other) != confine.Race {
		t.Errorf("executable() with the race detector %t: got %q, %v", confine.Race, got, err)
	}
}

// TestOutOfMemory checks that a child counts as out of memory if the kernel refused memory to its Go runtime.
func TestOutOfMemory(t *testing.T) {
	const segv = "[signal SIGSEGV: segmentation violation code=0x1 addr=0x0 pc=0x47b5a1]"
	cases := map[string]struct {
		reason string
		args   string
		want   bool
	}{
		"Heap":     {reason: "The heap cannot grow.", args: "fatal error: runtime: out of memory", want: true},
		"Block":    {reason: "The message may be a line above the error.", args: "runtime: out of memory: cannot allocate 1000000000-byte block (3833856 in use)\nfatal error: out of memory", want: true},
		"Metadata": {reason: "The runtime gets no memory for itself.", args: "fatal error: runtime: cannot allocate memory", want: true},
		"Segfault": {reason: "The runtime does not check each address that it gets.", args: "SIGSEGV: segmentation violation\nPC=0x41a2f0 m=3 sigcode=1 addr=0x0", want: true},
		"Warned":   {reason: "A library may have written to stderr before.", args: "# Warning: x\nSIGSEGV: segmentation violation\nPC=0x41a2f0", want: true},
		"Locked":   {reason: "The runtime does not check each address that it gets while it holds a lock.", args: "fatal error: unexpected signal during runtime execution\n" + segv, want: true},
		"Panic":    {reason: "A nil pointer outside of the runtime is another defect.", args: "panic: runtime error: invalid memory address or nil pointer dereference\n" + segv},
		"Stack":    {reason: "A stack overflow is not a lack of memory.", args: "runtime: goroutine stack exceeds 134217728-byte limit\nfatal error: stack overflow"},
		"Silent":   {reason: "A process that ends without a text says nothing about memory.", args: ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := outOfMemory(tc.args); got != tc.want {
				t.Errorf("\n%s\noutOfMemory(...): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}
