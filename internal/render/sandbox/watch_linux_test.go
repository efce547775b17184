// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/crossplane-contrib/provider-kyma/internal/render"
	"github.com/crossplane-contrib/provider-kyma/internal/render/attacktest"
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

// policies returns the numbers of threads of all children of this process, by their scheduling policy.
func policies(t *testing.T) map[int]int {
	t.Helper()
	paths, err := filepath.Glob("/proc/[0-9]*/task/*/stat")
	if err != nil {
		t.Fatal(err)
	}
	out := map[int]int{}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			continue // The process has ended.
		}
		// The name of the program, in parentheses, is before the state, the parent and 36 more fields.
		fields := bytes.Fields(data[bytes.LastIndexByte(data, ')')+1:])
		const parent, policy = 1, 38
		var p int
		if string(fields[parent]) != strconv.Itoa(os.Getpid()) {
			continue
		}
		if _, err := fmt.Sscan(string(fields[policy]), &p); err != nil {
			t.Fatal(err)
		}
		out[p]++
	}
	return out
}

// TestUseIdleCPUs checks that a child only competes for CPU time with others for a limited time.
func TestUseIdleCPUs(t *testing.T) {
	if got := cpuTimeOf(os.Getpid()); got <= 0 || got > time.Hour {
		t.Errorf("cpuTimeOf(this process): want a plausible time, got %s", got)
	}
	if got := cpuTimeOf(1 << 22); got != 0 {
		t.Errorf("cpuTimeOf(process that cannot exist): want 0, got %s", got)
	}
	p, c := newPool(t, Options{Limits: Limits{CPU: 4 * time.Second}}), chartOf(t, tree(attacktest.Charts()["Range"]))
	ended := make(chan error, 1)
	go func() {
		_, err := p.Chart(t.Context(), "team-a", c, render.Options{ReleaseName: "rel"})
		ended <- err
	}()
	seen, tick := map[int]bool{}, time.Tick(10*time.Millisecond)
	for {
		select {
		case err := <-ended:
			if err == nil {
				t.Error("a chart without end was rendered")
			}
			if diff := cmp.Diff(map[int]bool{unix.SCHED_NORMAL: true, unix.SCHED_IDLE: true}, seen); diff != "" {
				t.Errorf("policies of the child: -want, +got:\n%s", diff)
			}
			return
		case <-tick:
		}
		// While the threads change, there are both.
		if found := policies(t); len(found) == 1 {
			for policy := range found {
				seen[policy] = true
			}
		}
	}
}
