// SPDX-License-Identifier: Apache-2.0

package fuzztest

import (
	"strings"
	"testing"
	"time"
)

func TestExceeded(t *testing.T) {
	type args struct {
		size      int
		allocated uint64
		took      time.Duration
	}
	cases := map[string]struct {
		reason string
		args   args
		want   string
	}{
		"Within": {reason: "What the limits allow is allowed.", args: args{10, 200, slow}},
		"Memory": {reason: "More memory than the limit is a failure.", args: args{10, 201, 0}, want: "an input of 10 bytes allocates 201 bytes; want at most 200"},
		"Time":   {reason: "More time than the limit is a failure.", args: args{10, 0, slow + time.Second}, want: "an input of 10 bytes takes 21s; want at most 20s"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := (Limits{Base: 100, PerByte: 10}).exceeded(tc.args.size, tc.args.allocated, tc.args.took); got != tc.want {
				t.Errorf("%s\nexceeded(...): want %q, got %q", tc.reason, tc.want, got)
			}
		})
	}
}

// A recorder is a test that records its errors.
type recorder struct {
	testing.TB

	errors []string
}

func (r *recorder) Helper() {}

func (r *recorder) Error(args ...any) { r.errors = append(r.errors, args[0].(string)) }

// TestWithin checks that what is allocated in between counts, although it is freed.
func TestWithin(t *testing.T) {
	r := &recorder{TB: t}
	done := Within(r, Limits{Base: 8 << 20}, 1)
	for range 16 {
		sink = make([]byte, 1<<20)
	}
	done()
	if len(r.errors) != 1 || !strings.Contains(r.errors[0], "an input of 1 bytes allocates") {
		t.Errorf("want one error about the memory, got %q", r.errors)
	}
	r.errors = nil
	Within(r, Limits{Base: 8 << 20}, 1)()
	if len(r.errors) != 0 {
		t.Errorf("want no error, got %q", r.errors)
	}
}

// sink keeps what is allocated on the heap.
var sink []byte
