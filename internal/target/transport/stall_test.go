// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/crossplane-contrib/provider-kyma/internal/decoding"
)

// A part is what a server sends after a pause.
type part struct {
	after time.Duration
	text  string
}

// parts is a server that sends the headers of a response after a pause, then some parts, and then nothing.
type parts struct {
	headers     time.Duration
	contentType string
	parts       []part
}

// RoundTrip returns the response.
func (s *parts) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := pause(req.Context(), s.headers); err != nil {
		return nil, err
	}
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {s.contentType}}, ContentLength: -1, Body: &partsBody{left: s.parts, ctx: req.Context()},
	}, nil
}

// pause waits until the context ends.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

type partsBody struct {
	unread strings.Reader
	left   []part
	ctx    context.Context
}

func (b *partsBody) Read(p []byte) (int, error) {
	if b.unread.Len() == 0 {
		next := part{after: 24 * time.Hour}
		if len(b.left) > 0 {
			next, b.left = b.left[0], b.left[1:]
		}
		if err := pause(b.ctx, next.after); err != nil {
			return 0, err
		}
		b.unread.Reset(next.text)
	}
	return b.unread.Read(p)
}

func (*partsBody) Close() error { return nil }

// TestStalledServer checks when a request ends because its server has stalled. The limit of a request is 10 seconds.
func TestStalledServer(t *testing.T) {
	const watch, binaryType = "watch=true&timeoutSeconds=570", "application/vnd.kubernetes.protobuf;stream=watch"
	slow := &UnreachableError{Host: "h", Reason: "timed out", Down: true, Slow: true}
	type args struct {
		server parts
		query  string
		// limit is a limit for this request, or 0 for the usual one.
		limit time.Duration
	}
	type want struct {
		Content string
		Took    time.Duration
		Err     error
	}
	// A watch that does not stall lasts ten minutes.
	lasts := func(content string) want {
		return want{Content: content, Took: 10 * time.Minute, Err: context.DeadlineExceeded}
	}
	cases := map[string]struct {
		reason string
		args   args
		want   want
	}{
		"Headers": {
			reason: "A watch lasts longer than other requests.",
			args:   args{query: watch, server: parts{headers: 9 * time.Second}},
			want:   lasts(""),
		},
		"NoHeaders": {
			reason: "The headers of a watch must arrive in time.",
			args:   args{query: watch, server: parts{headers: time.Hour}},
			want:   want{Took: 10 * time.Second, Err: slow},
		},
		"Limit": {
			reason: "The caller can choose the limit.",
			args:   args{query: watch, limit: time.Minute, server: parts{headers: time.Hour}},
			want:   want{Took: time.Minute, Err: slow},
		},
		"Request": {
			reason: "Other requests end with their limit.",
			args:   args{server: parts{headers: 9 * time.Second}},
			want:   want{Took: 10 * time.Second, Err: context.DeadlineExceeded},
		},
		"Quiet": {
			reason: "A watch is quiet between two events.",
			args:   args{query: watch, server: parts{parts: []part{{text: "{1}\n"}, {5 * time.Minute, "{2}\n"}}}},
			want:   lasts("{1}\n{2}\n"),
		},
		"Slow": {
			reason: "The parts of an event arrive slowly.",
			args:   args{query: watch, server: parts{parts: []part{{text: "{1}\n{"}, {59 * time.Second, "2"}, {59 * time.Second, "}\n"}}}},
			want:   lasts("{1}\n{2}\n"),
		},
		"Stalled": {
			reason: "The rest of an event does not arrive.",
			args:   args{query: watch, server: parts{parts: []part{{5 * time.Minute, "{1}\n{2"}}}},
			want:   want{Content: "{1}\n", Took: 6 * time.Minute, Err: io.ErrUnexpectedEOF},
		},
		"StalledMessage": {
			reason: "The rest of a message does not arrive.",
			args:   args{query: watch, server: parts{contentType: binaryType, parts: []part{{text: frame("one") + frame("two")[:5]}}}},
			want:   want{Content: frame("one"), Took: time.Minute, Err: io.ErrUnexpectedEOF},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := &guard{next: &tc.args.server, host: "h", limits: Limits{Request: 10 * time.Second}.withDefaults(mib), budget: decoding.New(16 * mib)}
				ctx := t.Context()
				if tc.args.limit > 0 {
					ctx = WithLimit(ctx, tc.args.limit)
				}
				req, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://h/x?"+tc.args.query, nil)
				if err != nil {
					t.Fatal(err)
				}
				start, content := time.Now(), strings.Builder{}
				resp, err := g.RoundTrip(req)
				if err == nil {
					_, err = io.Copy(&content, resp.Body)
					_ = resp.Body.Close()
				}
				got := want{Content: content.String(), Took: time.Since(start), Err: err}
				if diff := cmp.Diff(tc.want, got, cmp.FilterValues(isNoStruct, cmpopts.EquateErrors())); diff != "" {
					t.Errorf("\n%s\nRoundTrip(...): -want, +got:\n%s", tc.reason, diff)
				}
			})
		})
	}
}

// isNoStruct reports whether errors have no fields to compare.
func isNoStruct(a, _ error) bool {
	_, isStruct := a.(*UnreachableError) //nolint:errorlint // It is not wrapped.
	return !isStruct
}

// TestBusyEvent checks that a server has not stalled while the provider waits for memory for the rest of an event.
func TestBusyEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const size = mib / 4
		budget := decoding.New(8 * mib)
		for range 150 {
			go func() {
				// Each of these stalls, and makes room after two seconds.
				ctx, abort := context.WithCancel(t.Context())
				defer abort()
				slow := &partsBody{left: []part{{text: strings.Repeat("x", size)}}, ctx: ctx}
				_, _, _ = budget.Read(ctx, decoding.Source{Reader: slow, Most: mib / 2, Abort: abort})
			}()
		}
		synctest.Wait()
		event := strings.Repeat("x", size) + "\n"
		g := &guard{next: &parts{parts: []part{{text: event[:100]}, {time.Second, event[100:]}}}, limits: Limits{}.withDefaults(mib / 2), budget: budget}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://h/x?watch=true", nil)
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		resp, err := g.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(resp.Body, make([]byte, len(event))); err != nil {
			t.Errorf("want the event, got %v after %s", err, time.Since(start))
		}
		if waited := time.Since(start); waited < longestPause {
			t.Errorf("want the event to wait for longer than %s, got %s", longestPause, waited)
		}
		_ = resp.Body.Close()
	})
}
