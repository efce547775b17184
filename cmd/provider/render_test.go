// SPDX-License-Identifier: Apache-2.0

package main

import (
	"math"
	"runtime/debug"
	"testing"

	"github.com/KimMachineGun/automemlimit/memlimit"
	"github.com/google/go-cmp/cmp"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"

	"github.com/crossplane-contrib/provider-kyma/internal/bytelru"
	"github.com/crossplane-contrib/provider-kyma/internal/decoding"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/archive"
)

func TestBudgetOf(t *testing.T) {
	const mib, gib = int64(1) << 20, int64(1) << 30
	type args struct {
		processes int
		memory    int64
		limit     int64
	}
	type want struct {
		budget renderBudget
		fits   bool
	}
	cases := map[string]struct {
		reason string
		args   args
		want   want
	}{
		"NoLimit":      {reason: "Without a limit, the defaults are those of the documentation.", args: args{automatic, automatic, 0}, want: want{renderBudget{4, 512 * mib}, true}},
		"Large":        {reason: "A large memory limit does not raise the defaults.", args: args{automatic, automatic, 64 * gib}, want: want{renderBudget{4, 512 * mib}, true}},
		"4GiB":         {reason: "With less memory, each process first gets a lower limit.", args: args{automatic, automatic, 4 * gib}, want: want{renderBudget{4, 384 * mib}, true}},
		"2GiB":         {reason: "With even less memory, there are fewer processes.", args: args{automatic, automatic, 2 * gib}, want: want{renderBudget{3, 256 * mib}, true}},
		"1GiB":         {reason: "With the memory limit of our Deployment, there are two processes.", args: args{automatic, automatic, gib}, want: want{renderBudget{2, 192 * mib}, true}},
		"512MiB":       {reason: "There are at least two processes, so that a tenant cannot occupy all.", args: args{automatic, automatic, 512 * mib}, want: want{renderBudget{2, 96 * mib}, true}},
		"128MiB":       {reason: "A process has at least 64 MiB, because few charts could be rendered with less.", args: args{automatic, automatic, 128 * mib}, want: want{renderBudget{2, 64 * mib}, false}},
		"Processes":    {reason: "Memory is derived from the number of processes.", args: args{8, automatic, 4 * gib}, want: want{renderBudget{8, 192 * mib}, true}},
		"Memory":       {reason: "The number of processes is derived from their memory.", args: args{automatic, gib, 6 * gib}, want: want{renderBudget{2, gib}, true}},
		"MemoryAlone":  {reason: "The memory of a process can be set without a memory limit.", args: args{automatic, gib, 0}, want: want{renderBudget{4, gib}, true}},
		"Both":         {reason: "Values that are set and fit are kept.", args: args{2, gib, 6 * gib}, want: want{renderBudget{2, gib}, true}},
		"TooMany":      {reason: "Values that are set are kept, although they do not fit.", args: args{4, 512 * mib, gib}, want: want{renderBudget{4, 512 * mib}, false}},
		"TooMuch":      {reason: "One process can be too much.", args: args{1, 2 * gib, gib}, want: want{renderBudget{1, 2 * gib}, false}},
		"NoProcess":    {reason: "Without processes, there is nothing to bound.", args: args{0, automatic, gib}, want: want{renderBudget{0, 384 * mib}, true}},
		"HugeProduct":  {reason: "A product that does not fit into 64 bits does not fit into the container.", args: args{1 << 30, 1 << 40, gib}, want: want{renderBudget{1 << 30, 1 << 40}, false}},
		"NegativeZero": {reason: "A limit that is not known is none.", args: args{automatic, automatic, -1}, want: want{renderBudget{4, 512 * mib}, true}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := budgetOf(tc.args.processes, tc.args.memory, tc.args.limit)
			if diff := cmp.Diff(tc.want, want{got, got.excess(tc.args.limit) == ""}, cmp.AllowUnexported(renderBudget{}, want{})); diff != "" {
				t.Errorf("\n%s\nbudgetOf(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestDivision checks that the limits of everything that tenants can make the provider keep add up to at most 90 % of the memory of the
// container.
func TestDivision(t *testing.T) {
	const mib, gib = int64(1) << 20, int64(1) << 30
	cases := map[string]struct {
		reason    string
		processes int
		memory    int64
		limit     int64
		// most is the highest sum, in percent of the limit.
		most int64
	}{
		"512MiB":     {reason: "512 MiB is the smallest memory limit that everything fits.", processes: automatic, memory: automatic, limit: 512 * mib, most: 90},
		"1GiB":       {reason: "Everything fits the memory limit of our Deployment.", processes: automatic, memory: automatic, limit: gib, most: 90},
		"2GiB":       {reason: "Caches have their full size in a larger one only.", processes: automatic, memory: automatic, limit: 2 * gib, most: 90},
		"64GiB":      {reason: "Renderings take a small part of a large one.", processes: automatic, memory: automatic, limit: 64 * gib, most: 90},
		"InProcess":  {reason: "Without processes, the rest is larger.", processes: 0, memory: automatic, limit: gib, most: 90},
		"Flags":      {reason: "What flags set is subtracted.", processes: 4, memory: 128 * mib, limit: gib, most: 90},
		"TooLarge":   {reason: "What flags set is kept even if it does not fit, with a warning.", processes: 4, memory: 512 * mib, limit: 2 * gib, most: 125},
		"MuchLarger": {reason: "A product that does not fit into 64 bits leaves a quarter.", processes: 1 << 30, memory: 1 << 40, limit: gib, most: math.MaxInt64},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := budgetOf(tc.processes, tc.memory, tc.limit)
			heap := b.heap(tc.limit)
			if heap < tc.limit/leastHeap {
				t.Errorf("\n%s\nheap(...): want at least a quarter, got %d", tc.reason, heap)
			}
			before := debug.SetMemoryLimit(heap)
			defer debug.SetMemoryLimit(before)
			states, responses, inventories := heap/16*3, max(heap/4, 64*mib), heap/16*3
			caches, archives := bytelru.Scaled(cachesSize), unpackedShare*archiveLimits(archive.Limits{}, logging.NewNopLogger()).Uncompressed
			if parts := states + responses + inventories + caches + archives; parts > heap {
				t.Errorf("\n%s\nwant parts of the heap of %d bytes, got %d", tc.reason, heap, parts)
			}
			if tc.most < math.MaxInt64 && heap+int64(b.processes)*b.memory > tc.limit*tc.most/100 {
				t.Errorf("\n%s\nwant at most %d %% of %d, got %d and %d processes with %d", tc.reason, tc.most, tc.limit, heap, b.processes, b.memory)
			}
		})
	}
}

// TestArchiveLimits checks the limits of archives in containers with the memory limits of the documentation.
func TestArchiveLimits(t *testing.T) {
	const kib, mib, gib = int64(1) << 10, int64(1) << 20, int64(1) << 30
	type want struct{ Compressed, Uncompressed, One int64 } // in KiB
	cases := map[string]struct {
		reason string
		flags  archive.Limits
		limit  int64
		want   want
	}{
		"512MiB":   {reason: "The smallest container fits what charts and modules need in practice.", limit: 512 * mib, want: want{8601, 17203, 25804}},
		"1GiB":     {reason: "The default container fits twice as much.", limit: gib, want: want{17203, 34406, 51609}},
		"2GiB":     {reason: "The limits grow with the memory.", limit: 2 * gib, want: want{34406, 68812, 103219}},
		"4GiB":     {reason: "The limits are parts of what the rendering processes leave.", limit: 4 * gib, want: want{64 << 10, 137625, 206438}},
		"64GiB":    {reason: "A large container does not raise the limits.", limit: 64 * gib, want: want{64 << 10, 512 << 10, 768 << 10}},
		"Unpacked": {reason: "A flag is kept even if it does not fit, and raises the limit of all archives.", flags: archive.Limits{Uncompressed: gib}, limit: gib, want: want{17203, 1 << 20, 1536 << 10}},
		"Packed":   {reason: "The same applies to the size of the archive itself.", flags: archive.Limits{Compressed: gib}, limit: gib, want: want{1 << 20, 34406, 3 << 20}},
		"Huge":     {reason: "A flag can be the largest number.", flags: archive.Limits{Compressed: math.MaxInt64, Uncompressed: math.MaxInt64}, limit: gib, want: want{math.MaxInt64 / kib, math.MaxInt64 / kib, math.MaxInt64 / 4 * 3 / kib}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			defer debug.SetMemoryLimit(debug.SetMemoryLimit(budgetOf(automatic, automatic, tc.limit).heap(tc.limit)))
			l := archiveLimits(tc.flags, logging.NewNopLogger())
			ctx, done := decoding.HoldArchive(t.Context())
			defer done()
			// The most that one archive gets.
			one := int64(0)
			for step := int64(1) << 62; step > 0; step /= 2 {
				if l.Archives.Take(ctx, step) == nil {
					one += step
				}
			}
			got := want{Compressed: l.Compressed / kib, Uncompressed: l.Uncompressed / kib, One: one / kib}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\narchiveLimits(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// cachesSize is the size of the in-memory caches that docs/operations.md lists, and of waiting events.
const cachesSize = (64 + 64 + 96 + 32 + 32 + 64 + 64) << 20

func TestContainerMemory(t *testing.T) {
	cases := map[string]struct {
		reason   string
		provider memlimit.Provider
		want     int64
	}{
		"Limited":   {reason: "The memory is the limit of the container.", provider: memlimit.Limit(1 << 30), want: 1 << 30},
		"Unlimited": {reason: "The memory is 0 if there is no limit.", provider: func() (uint64, error) { return 0, memlimit.ErrNoLimit }},
		"Unknown":   {reason: "The memory is 0 if the limit cannot be read.", provider: func() (uint64, error) { return 0, errors.New("boom") }},
		"Huge":      {reason: "The memory is 0 if no machine reaches the limit.", provider: memlimit.Limit(1 << 63)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := containerMemory(tc.provider); got != tc.want {
				t.Errorf("\n%s\ncontainerMemory(...): want %d, got %d", tc.reason, tc.want, got)
			}
		})
	}
}
