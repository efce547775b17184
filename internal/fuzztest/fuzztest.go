// SPDX-License-Identifier: Apache-2.0

package fuzztest

import (
	"fmt"
	"runtime/metrics"
	"testing"
	"time"
)

const (
	// slow is the time for one input after which a target fails. A busy machine needs a fraction of it.
	slow = 20 * time.Second
	// endless is the time after which the process ends, so that the input is recorded.
	endless = time.Minute
)

// Limits bound the bytes that a target allocates for one input, including freed bytes.
type Limits struct {
	// Base is for any input, and PerByte for each byte of it.
	Base, PerByte int
}

// Within returns a function that fails the test if more memory was allocated since the call than the limits allow for an input of
// size bytes, or if more than 20 seconds have passed. Call it first: defer fuzztest.Within(t, limits, len(data))().
func Within(t testing.TB, l Limits, size int) func() {
	t.Helper()
	before, start := Allocated(), time.Now()
	watch := time.AfterFunc(endless, func() { panic(fmt.Sprintf("an input of %d bytes takes more than %s", size, endless)) })
	return func() {
		t.Helper()
		watch.Stop()
		if why := l.exceeded(size, Allocated()-before, time.Since(start)); why != "" {
			t.Error(why)
		}
	}
}

// exceeded returns which limit was exceeded, or an empty string.
func (l Limits) exceeded(size int, allocated uint64, took time.Duration) string {
	if most := uint64(max(0, l.Base+l.PerByte*size)); allocated > most {
		return fmt.Sprintf("an input of %d bytes allocates %d bytes; want at most %d", size, allocated, most)
	}
	if took > slow {
		return fmt.Sprintf("an input of %d bytes takes %s; want at most %s", size, took, slow)
	}
	return ""
}

// Allocated returns the number of bytes that the process has allocated on the heap, including freed bytes. Reading it does not stop
// the process.
func Allocated() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}
