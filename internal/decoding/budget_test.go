// SPDX-License-Identifier: Apache-2.0

package decoding

import (
	"bytes"
	"context"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

const mib = 1 << 20

// source returns a source of some text.
func source(size int) Source {
	return Source{Reader: io.LimitReader(text{}, int64(size)), ContentType: jsonType, Most: 8 * mib, Abort: func() {}}
}

// text is a text without end.
type text struct{}

func (text) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// TestManyResponses checks that what many responses become never exceeds the budget, however many arrive at once, and that each of
// them has its turn.
func TestManyResponses(t *testing.T) {
	b := New(64 * mib)
	var now, most atomic.Int64
	var all sync.WaitGroup
	for i := range 100 {
		all.Go(func() {
			ctx, done := Hold(t.Context())
			defer done()
			content, _, err := b.Read(ctx, source(mib*(1+i%4)))
			if err != nil {
				t.Error(err)
				return
			}
			size := Estimate(jsonType, content)
			for n := now.Add(size); ; {
				if old := most.Load(); n <= old || most.CompareAndSwap(old, n) {
					break
				}
			}
			now.Add(-size)
		})
	}
	all.Wait()
	if most.Load() > b.most || most.Load() == 0 {
		t.Errorf("want at most %d bytes at the same time, got %d", b.most, most.Load())
	}
	if b.raw.left != b.raw.size || !b.decoding.TryAcquire(b.most) {
		t.Errorf("want everything released, got %d of %d bytes", b.raw.left, b.raw.size)
	}
}

// TestRead checks the limits of one response.
func TestRead(t *testing.T) {
	cases := map[string]struct {
		reason string
		source Source
		want   error
	}{
		"Small":     {reason: "A small response is read.", source: source(1000)},
		"Empty":     {reason: "An empty response is read.", source: source(0)},
		"Large":     {reason: "A response of the maximum size is read.", source: source(8 * mib)},
		"TooLarge":  {reason: "A response above the maximum size is not read.", source: source(8*mib + 1), want: ErrTooLarge},
		"Values":    {reason: "A response that becomes too large when it is decoded is not read.", source: Source{Reader: strings.NewReader(strings.Repeat("{}", mib)), Most: 8 * mib}, want: ErrTooLarge},
		"Announced": {reason: "A response whose announced size is too large is not read at all.", source: Source{Reader: broken{}, Expected: 8*mib + 1, Most: 8 * mib}, want: ErrTooLarge},
		"Broken":    {reason: "The error of the connection is returned.", source: Source{Reader: io.MultiReader(strings.NewReader("x"), broken{}), Most: mib}, want: io.ErrUnexpectedEOF},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := New(64 * mib)
			content, release, err := b.Read(t.Context(), tc.source)
			if !errors.Is(err, tc.want) {
				t.Fatalf("%s\nRead(...): got %d bytes and %v, want %v", tc.reason, len(content), err, tc.want)
			}
			if err == nil {
				release()
			}
			if b.raw.left != b.raw.size || !b.decoding.TryAcquire(b.most) {
				t.Errorf("%s\nwant everything released", tc.reason)
			}
		})
	}
}

// TestReadTooLarge checks that a response that turns out to be too large allocates little more than the maximum.
func TestReadTooLarge(t *testing.T) {
	budget := New(256 * mib)
	allocated := testing.Benchmark(func(b *testing.B) {
		b.Helper()
		for range b.N {
			if _, _, err := budget.Read(b.Context(), source(64*mib)); !errors.Is(err, ErrTooLarge) {
				b.Fatalf("Read(...): want %v, got %v", ErrTooLarge, err)
			}
		}
	}).AllocedBytesPerOp()
	if allocated > 9*mib {
		t.Errorf("want at most 9 MiB for a maximum of 8 MiB, got %d bytes", allocated)
	}
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// TestSlowResponses checks that servers that stop in the middle of their responses hold no memory that another response waits for.
func TestSlowResponses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := New(64 * mib)
		parent, stop := context.WithCancel(t.Context())
		var all sync.WaitGroup
		var evicted atomic.Int64
		for range 20 {
			all.Go(func() {
				ctx, abort := context.WithCancel(parent)
				defer abort()
				s := source(3 * mib)
				s.Reader, s.Abort = io.MultiReader(s.Reader, stuck{ctx}), abort
				if _, _, err := b.Read(ctx, s); errors.Is(err, ErrBusy) {
					evicted.Add(1)
				}
			})
		}
		synctest.Wait()
		if evicted.Load() != 0 {
			t.Errorf("none of them has had its time, but %d ended", evicted.Load())
		}
		for range 20 {
			_, release, err := b.Read(t.Context(), source(2*mib))
			if err != nil {
				t.Fatal(err)
			}
			release()
		}
		if evicted.Load() == 0 {
			t.Error("want slow responses to make room")
		}
		stop()
		all.Wait()
		if b.raw.left != b.raw.size {
			t.Errorf("want everything released, got %d of %d bytes", b.raw.left, b.raw.size)
		}
	})
}

// stuck is a connection that sends nothing until its request ends.
type stuck struct{ ctx context.Context }

func (s stuck) Read([]byte) (int, error) {
	<-s.ctx.Done()
	return 0, s.ctx.Err()
}

// TestHold checks that a response counts until its holder releases it, and that none waits while it holds another one.
func TestHold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := New(64 * mib) // 48 MiB for what is decoded.
		read := func(ctx context.Context) error {
			_, _, err := b.Read(ctx, source(6*mib)) // It becomes 24 MiB.
			return err
		}
		ctx, done := Hold(t.Context())
		inner, innerDone := Hold(ctx)
		if err := errors.Join(read(ctx), read(inner)); err != nil {
			t.Fatalf("two fit: %v", err)
		}
		if err := read(ctx); !errors.Is(err, ErrBusy) {
			t.Errorf("the third must not wait while its holder has memory: %v", err)
		}
		if err := read(inner); !errors.Is(err, ErrBusy) {
			t.Errorf("nor while the one around it has: %v", err)
		}
		other, otherDone := Hold(t.Context())
		waited := make(chan error)
		go func() { waited <- read(other) }()
		synctest.Wait()
		select {
		case err := <-waited:
			t.Fatalf("want another holder to wait, got %v", err)
		default:
		}
		innerDone()
		if err := <-waited; err != nil {
			t.Errorf("another holder gets what is released: %v", err)
		}
		cancelled, cancel := context.WithCancel(t.Context())
		cancel()
		if err := read(cancelled); !errors.Is(err, context.Canceled) {
			t.Errorf("waiting ends with the context: %v", err)
		}
		done()
		otherDone()
		if !b.decoding.TryAcquire(b.most) {
			t.Error("want everything released")
		}
	})
}

// TestReleaseErrors checks that only the errors of a holder, and of those around it, are released before its next request, and that an error
// does not count together with small responses.
func TestReleaseErrors(t *testing.T) {
	b := New(64 * mib) // 48 MiB for what is decoded.
	read := func(ctx context.Context, size int, failed bool) {
		t.Helper()
		s := source(size)
		s.Failed = failed
		if _, _, err := b.Read(ctx, s); err != nil {
			t.Fatal(err)
		}
	}
	free := func(want int64) {
		t.Helper()
		if !b.decoding.TryAcquire(want) {
			t.Fatalf("want %d bytes to be free", want)
		}
		if b.decoding.TryAcquire(1) {
			t.Errorf("want only %d bytes to be free", want)
		}
		b.decoding.Release(want)
	}
	ReleaseErrors(t.Context()) // Without a holder, it does nothing.
	outer, outerDone := Hold(t.Context())
	inner, innerDone := Hold(outer)
	read(outer, 2*mib, true) // It becomes 8 MiB.
	read(outer, 3*mib, false)
	read(inner, mib, true)
	read(inner, mib/8, true)
	read(inner, mib/8, false)
	free(24 * mib)
	ReleaseErrors(inner)
	free(36 * mib)
	ReleaseErrors(inner)
	outerDone()
	innerDone()
	free(48 * mib)
}

// TestSmallResponses checks that small responses count as soon as their holder has many of them.
func TestSmallResponses(t *testing.T) {
	const each = 50 << 10 // It becomes 200 KiB.
	type args struct {
		responses int
		// own is true if each response has its own holder.
		held, own bool
		// taken is the part of the budget that others have.
		taken int64
	}
	type want struct {
		Read    int
		Counted bool
		Err     error
	}
	cases := map[string]struct {
		reason string
		args   args
		want   want
	}{
		"Few":    {reason: "A few small responses do not count.", args: args{responses: 5, held: true}, want: want{Read: 5}},
		"Many":   {reason: "Many small responses count together.", args: args{responses: 6, held: true}, want: want{Read: 6, Counted: true}},
		"Own":    {reason: "Small responses that are released one by one do not count.", args: args{responses: 100, held: true, own: true}, want: want{Read: 100}},
		"Free":   {reason: "Small responses without a holder do not count.", args: args{responses: 100}, want: want{Read: 100}},
		"All":    {reason: "The small responses of a holder can take the whole budget.", args: args{responses: 59, held: true}, want: want{Read: 59, Counted: true}},
		"Excess": {reason: "The small responses of a holder cannot take more than the budget.", args: args{responses: 1000, held: true}, want: want{Read: 65, Counted: true, Err: ErrBusy}},
		"Others": {reason: "Memory that other responses have is not available.", args: args{responses: 1000, held: true, taken: 9 * mib}, want: want{Read: 17, Counted: true, Err: ErrBusy}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := New(16 * mib) // 12 MiB for what is decoded.
			if !b.decoding.TryAcquire(tc.args.taken) {
				t.Fatal("no room for the others")
			}
			ctx, done := t.Context(), func() {}
			if tc.args.held && !tc.args.own {
				ctx, done = Hold(ctx)
			}
			got := want{}
			for range tc.args.responses {
				ctx, release := ctx, func() {}
				if tc.args.own {
					ctx, release = Hold(ctx)
				}
				if _, _, got.Err = b.Read(ctx, source(each)); got.Err != nil {
					break
				}
				got.Read++
				release()
			}
			got.Counted = !b.decoding.TryAcquire(b.most - tc.args.taken)
			if diff := cmp.Diff(tc.want, got, cmpopts.EquateErrors()); diff != "" {
				t.Errorf("\n%s\nRead(...): -want, +got:\n%s", tc.reason, diff)
			}
			if done(); got.Counted && !b.decoding.TryAcquire(b.most-tc.args.taken) {
				t.Errorf("%s\nwant everything released", tc.reason)
			}
		})
	}
}

// TestSkip checks that what precedes the content is not estimated.
func TestSkip(t *testing.T) {
	items := encode(20_000, metav1.ObjectMeta{})
	b := New(4 * mib)
	_, _, err := b.Read(t.Context(), Source{
		Reader: io.MultiReader(bytes.NewReader(make([]byte, 4)), strings.NewReader(items)), ContentType: binaryType, Most: mib, Skip: 4,
	})
	if !errors.Is(err, ErrTooLarge) {
		t.Errorf("Read(...): want %v, got %v", ErrTooLarge, err)
	}
}
