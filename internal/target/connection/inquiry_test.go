// SPDX-License-Identifier: Apache-2.0

package connection

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/target/transport"
)

// TestInquiry checks how often an inquiry sends requests, and what it returns, one step after another.
func TestInquiry(t *testing.T) {
	type want struct {
		known bool
		err   string
		asked int32
		done  int32
	}
	failed := errors.New("no answer")
	type step struct {
		reason string
		do     func(q *inquiry, may chan<- error)
		want   want
	}
	answer := func(err error) func(*inquiry, chan<- error) {
		return func(_ *inquiry, may chan<- error) { may <- err; synctest.Wait() }
	}
	after := func(d time.Duration) func(*inquiry, chan<- error) {
		return func(*inquiry, chan<- error) { time.Sleep(d) }
	}
	asking := step{reason: "The first call only begins.", want: want{asked: 1}}
	cases := map[string][]step{
		"Succeeds": {
			asking,
			{reason: "Other callers don't wait either, and don't ask again.", want: want{asked: 1}},
			{reason: "The result is known.", do: answer(nil), want: want{known: true, asked: 1, done: 1}},
			{reason: "The result is kept for a short time.", do: after(restTime - 1), want: want{known: true, asked: 1, done: 1}},
			{reason: "After this time, a call asks again.", do: after(1), want: want{asked: 2, done: 1}},
		},
		"Rests": {
			asking,
			{reason: "No request is sent without a call, and a result that no caller got yet is returned.", do: func(_ *inquiry, may chan<- error) { may <- nil; time.Sleep(time.Hour) }, want: want{known: true, asked: 1, done: 1}},
			{reason: "A result is only returned once after a short time.", want: want{asked: 2, done: 1}},
		},
		"Fails": {
			asking,
			{reason: "A failure is a result.", do: answer(failed), want: want{known: true, err: "no answer", asked: 1, done: 1}},
			{reason: "A failed request is not repeated immediately.", do: after(restTime - 1), want: want{known: true, err: "no answer", asked: 1, done: 1}},
			{reason: "After an outage, a failure doesn't count.", do: func(q *inquiry, _ chan<- error) { q.outdate() }, want: want{asked: 2, done: 1}},
		},
		"FailsAtLength": {
			asking,
			{
				reason: "Of a long failure, only the beginning is kept.", do: answer(errors.New(strings.Repeat("x", 60*kib))),
				want: want{known: true, err: strings.Repeat("x", kib) + "…", asked: 1, done: 1},
			},
		},
		"Outage": {
			asking,
			{
				reason: "A request that began before an outage is repeated.",
				do:     func(q *inquiry, may chan<- error) { q.outdate(); may <- failed; synctest.Wait() }, want: want{asked: 2},
			},
			{reason: "The second result counts.", do: answer(nil), want: want{known: true, asked: 2, done: 1}},
		},
		"Panics": {
			asking,
			{reason: "A panic is a failure.", do: answer(errPanic), want: want{known: true, err: "the response of the cluster is not valid", asked: 1, done: 1}},
		},
		"Closed": {
			asking,
			{
				reason: "A closed connection sends nothing.", do: func(q *inquiry, _ chan<- error) { q.stop() },
				want: want{known: true, err: transport.ErrClosed.Error(), asked: 1, done: 1},
			},
		},
	}
	for name, steps := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				asked, done, may := atomic.Int32{}, atomic.Int32{}, make(chan error)
				q := newInquiry(func(ctx context.Context) error {
					asked.Add(1)
					select {
					case err := <-may:
						if errors.Is(err, errPanic) {
							panic(err)
						}
						return err
					case <-ctx.Done():
						return ctx.Err()
					}
				}, func() { done.Add(1) })
				defer q.stop()
				for _, s := range steps {
					if s.do != nil {
						s.do(q, may)
					}
					known, err := q.result()
					synctest.Wait()
					got := want{known: known, asked: asked.Load(), done: done.Load()}
					if err != nil {
						got.err = err.Error()
					}
					if diff := cmp.Diff(s.want, got, cmp.AllowUnexported(want{})); diff != "" {
						t.Errorf("\n%s\nresult(): -want, +got:\n%s", s.reason, diff)
					}
				}
			})
		})
	}
}

var errPanic = errors.New("a bad response")

// TestLastUID checks that LastUID returns what UID returns, without sending a request itself, and how many requests the connection sends.
func TestLastUID(t *testing.T) {
	type want struct {
		uid, err string
		asked    int64
	}
	reconnect := func(s *movingServer, c *Cluster) {
		epoch := c.epoch()
		s.CloseClientConnections()
		await(t, "the client notices that the connection was closed", func() bool { return c.epoch() != epoch })
	}
	cases := map[string]struct {
		reason string
		do     func(s *movingServer, c *Cluster)
		want   want
	}{
		"Known":     {reason: "The UID is known.", do: func(*movingServer, *Cluster) {}, want: want{uid: "a", asked: 1}},
		"Forbidden": {reason: "The credentials don't allow reading it.", do: func(s *movingServer, _ *Cluster) { s.uid = "" }, want: want{asked: 1}},
		"Page": {
			reason: "Another server responds.", do: func(s *movingServer, _ *Cluster) { s.down = true },
			want: want{err: "cannot get the UID of namespace kube-system, which identifies the cluster: an error on the server (\"unknown\") has prevented the request from succeeding"},
		},
		"Asked": {
			reason: "Another caller has asked.", do: func(_ *movingServer, c *Cluster) { _, _ = c.UID(t.Context()) },
			want: want{uid: "a", asked: 1},
		},
		"Closes": {
			reason: "The result is kept for a moment, even if the network connection is closed after each response.",
			do: func(s *movingServer, c *Cluster) {
				await(t, "the UID is known", func() bool { _, known, _ := c.LastUID(); return known })
				reconnect(s, c)
			},
			want: want{uid: "a", asked: 1},
		},
		"Replaced": {
			reason: "Another caller has found out that a different cluster has appeared.",
			do: func(s *movingServer, c *Cluster) {
				_, _ = c.UID(t.Context())
				s.uid = "b"
				_, _ = c.ConfirmUID(t.Context())
			},
			want: want{err: "API server HOST now serves the cluster with UID b (previously a); opening a new connection", asked: 2},
		},
		"Stopped": {reason: "The connection was closed.", do: func(_ *movingServer, c *Cluster) { c.Close() }, want: want{err: transport.ErrClosed.Error()}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s, c := newMovingServer(t, true, nil)
			tc.do(s, c)
			uid, err := "", error(nil)
			await(t, "the UID is known", func() (known bool) { uid, known, err = c.LastUID(); return known })
			got := want{uid: uid, asked: s.asked.Load()}
			if err != nil {
				got.err = strings.ReplaceAll(err.Error(), s.URL, "HOST")
			}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("\n%s\nLastUID(): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
