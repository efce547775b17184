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
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/fuzztest"
)

// free returns the memory that no archive has.
func (a *Archives) free() int64 {
	a.raw.mu.Lock()
	defer a.raw.mu.Unlock()
	return a.raw.left
}

// TestArchivesRead checks which content is read, and how much memory it takes.
func TestArchivesRead(t *testing.T) {
	type args struct {
		in             io.Reader
		expected, most int64
	}
	type want struct {
		Size int
		Kept int64
		Err  string
	}
	cases := map[string]struct {
		reason string
		args   args
		want   want
	}{
		"Known":     {reason: "Content of the announced size is read into one buffer.", args: args{io.LimitReader(text{}, 8*mib), 8 * mib, 8 * mib}, want: want{Size: 8 * mib, Kept: 8*mib + 1}},
		"Empty":     {reason: "Content can be empty.", args: args{strings.NewReader(""), 0, mib}, want: want{Kept: 1}},
		"Unknown":   {reason: "A buffer of content of unknown size is at most twice as large.", args: args{io.LimitReader(text{}, 3*mib), -1, 8 * mib}, want: want{Size: 3 * mib, Kept: 4 * mib}},
		"Shorter":   {reason: "Content can be shorter than announced.", args: args{strings.NewReader("abc"), mib, mib}, want: want{Size: 3, Kept: mib + 1}},
		"Longer":    {reason: "Content that is longer than announced is read up to the limit.", args: args{io.LimitReader(text{}, 100), 10, 100}, want: want{Size: 100, Kept: 101}},
		"Large":     {reason: "Content above the limit is refused.", args: args{text{}, -1, 4 * mib}, want: want{Err: ErrTooLarge.Error()}},
		"Announced": {reason: "Content whose announced size is above the limit is not read.", args: args{nil, 9 * mib, 8 * mib}, want: want{Err: ErrTooLarge.Error()}},
		"Share":     {reason: "The error names what an administrator can change.", args: args{nil, 13 * mib, 64 * mib}, want: want{Err: "are larger than 12582912 bytes, the maximum for the memory limit of the provider; increase this limit, --max-archive-size or --max-unpacked-size"}},
		"Broken":    {reason: "The error of the connection is returned.", args: args{io.MultiReader(strings.NewReader("x"), broken{}), -1, mib}, want: want{Err: io.ErrUnexpectedEOF.Error()}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			a := NewArchives(16 * mib)
			ctx, done := HoldArchive(t.Context())
			before := fuzztest.Allocated()
			data, err := a.Read(ctx, tc.args.in, tc.args.expected, tc.args.most)
			if allocated := int64(fuzztest.Allocated() - before); tc.args.expected >= 0 && err == nil && allocated > tc.args.expected+mib {
				t.Errorf("\n%s\nwant one buffer, got %d bytes", tc.reason, allocated)
			}
			got := want{Size: len(data), Kept: 16*mib - a.free()}
			if err != nil && strings.Contains(err.Error(), tc.want.Err) {
				got.Err = tc.want.Err
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nRead(...): %v: -want, +got:\n%s", tc.reason, err, diff)
			}
			if done(); a.free() != 16*mib {
				t.Errorf("\n%s\nwant everything released, got %d bytes", tc.reason, a.free())
			}
		})
	}
}

// TestWithoutArchives checks that nothing counts without a bound, or without the context of an archive.
func TestWithoutArchives(t *testing.T) {
	held, done := HoldArchive(t.Context())
	defer done()
	a := NewArchives(mib)
	for _, err := range []error{(*Archives)(nil).Take(held, 2*mib), TakeArchive(held, 2*mib), FinishArchive(held), a.Take(t.Context(), 2*mib), FinishArchive(t.Context())} {
		if err != nil {
			t.Error(err)
		}
	}
	a.Give(t.Context(), mib)
	if data, err := (*Archives)(nil).Read(t.Context(), bytes.NewReader(make([]byte, mib)), -1, mib); len(data) != mib || err != nil {
		t.Errorf("Read(...): got %d bytes and %v", len(data), err)
	}
}

// TestManyArchives checks that many archives, which take their memory in steps, never exceed the bound, that each of them has its turn,
// and that contexts from that of an archive count together.
func TestManyArchives(t *testing.T) {
	const step = 100 << 10
	a := NewArchives(16 * mib)
	var now, most atomic.Int64
	var all sync.WaitGroup
	for i := range 60 {
		all.Go(func() {
			held, done := HoldArchive(t.Context())
			ctx, none := HoldArchive(held)
			var taken int64
			defer func() {
				now.Add(-taken)
				none()
				done()
			}()
			for taken+step <= 12*mib>>(i%3) {
				if err := a.Take(ctx, step); err != nil {
					t.Error(err)
					return
				}
				taken += step
				for n := now.Add(step); ; {
					if old := most.Load(); n <= old || most.CompareAndSwap(old, n) {
						break
					}
				}
			}
			if err := FinishArchive(ctx); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if most.Load() > 16*mib || most.Load() < 3*mib {
		t.Errorf("want at most 16 MiB at the same time, got %d bytes", most.Load())
	}
	if a.free() != 16*mib {
		t.Errorf("want everything released, got %d bytes", a.free())
	}
}

// TestSlowArchive checks that an archive whose server stops sending ends when another one needs its memory, with a clear error.
func TestSlowArchive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := NewArchives(16 * mib)
		slow, slowDone := HoldArchive(t.Context())
		ended := make(chan error)
		go func() {
			defer slowDone()
			_, err := a.Read(slow, io.MultiReader(io.LimitReader(text{}, mib), stuck{slow}), 12*mib-1, 12*mib)
			ended <- err
		}()
		synctest.Wait()
		small, smallDone := HoldArchive(t.Context())
		defer smallDone()
		if err := errors.Join(a.Take(small, 4*mib), FinishArchive(small)); err != nil {
			t.Fatalf("want another one to use what is left, got %v", err)
		}
		large, largeDone := HoldArchive(t.Context())
		defer largeDone()
		begin := time.Now()
		taken := make(chan error)
		go func() { taken <- a.Take(large, 12*mib) }()
		woken := make(chan struct{})
		go func() {
			// What others return does not give the slow one more time.
			for range 15 {
				time.Sleep(time.Second)
				a.Give(small, 1)
			}
			close(woken)
		}()
		err := <-ended
		var r interface{ Retryable() bool }
		if !errors.Is(err, ErrArchivesBusy) || !errors.As(err, &r) || !r.Retryable() || !errors.Is(context.Cause(slow), ErrArchivesBusy) {
			t.Errorf("want a retryable error, got %v and %v", err, context.Cause(slow))
		}
		if err := <-taken; err != nil || time.Since(begin) != archivePatience {
			t.Errorf("want the memory after %s, got %v after %s", archivePatience, err, time.Since(begin))
		}
		if err := errors.Join(a.Take(slow, 1), FinishArchive(slow)); !errors.Is(err, ErrArchivesBusy) {
			t.Errorf("want no more memory for the slow one, got %v", err)
		}
		<-woken
	})
}

// TestPatientArchives checks that an archive that waited for a slow one gets as much time as others, although it has begun at the same time.
func TestPatientArchives(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := NewArchives(16 * mib)
		slow, slowDone := HoldArchive(t.Context())
		defer slowDone()
		if err := a.Take(slow, 8*mib); err != nil {
			t.Fatal(err)
		}
		results := make(chan error)
		for range 3 {
			go func() {
				ctx, done := HoldArchive(t.Context())
				defer done()
				if err := a.Take(ctx, 8*mib); err != nil {
					results <- err
					return
				}
				select {
				case <-time.After(archivePatience - time.Second): // The server sends.
				case <-ctx.Done():
				}
				results <- errors.Join(context.Cause(ctx), FinishArchive(ctx))
			}()
		}
		for range 3 {
			if err := <-results; err != nil {
				t.Errorf("want an archive that its server sends in time, got %v", err)
			}
		}
		if !errors.Is(context.Cause(slow), ErrArchivesBusy) {
			t.Errorf("want the slow one to end, got %v", context.Cause(slow))
		}
	})
}

// TestFinishedArchive checks that an archive that is complete keeps its memory, and does not wait for more.
func TestFinishedArchive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := NewArchives(16 * mib)
		held, done := HoldArchive(t.Context())
		if err := errors.Join(a.Take(held, 12*mib), FinishArchive(held)); err != nil {
			t.Fatal(err)
		}
		late, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		other, otherDone := HoldArchive(late)
		if err := a.Take(other, 5*mib); !errors.Is(err, ErrArchivesBusy) || held.Err() != nil {
			t.Errorf("want the other one to wait until its context ends, got %v and %v", err, held.Err())
		}
		otherDone()
		third, thirdDone := HoldArchive(t.Context())
		defer thirdDone()
		if err := a.Take(third, 4*mib); err != nil {
			t.Error(err)
		}
		waits := make(chan error)
		go func() { waits <- a.Take(third, mib) }()
		synctest.Wait()
		done()
		if err := <-waits; err != nil {
			t.Errorf("want what is released, got %v", err)
		}
		full, fullDone := HoldArchive(t.Context())
		defer fullDone()
		if err := errors.Join(a.Take(full, 3*mib), FinishArchive(full)); err != nil {
			t.Fatal(err)
		}
		if err := TakeArchive(full, 9*mib); !errors.Is(err, ErrArchivesBusy) {
			t.Errorf("want no waiting for more than what is left, got %v", err)
		}
	})
}
