// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/client-go/rest"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/decoding"
)

// TestDetachedWatch checks what ends a watch whose request has a detached context.
func TestDetachedWatch(t *testing.T) {
	const query = "/api/v1/secrets?watch=true"
	cases := map[string]struct {
		reason string
		plain  bool
		query  string
		detach func(context.Context) context.Context
		// end is called after the first event, and before the server sends the next one.
		end      func(cancel context.CancelFunc, body io.Closer)
		want     string
		detached bool
	}{
		"Canceled": {
			reason: "A detached watch does not end with the context.", query: query, detach: Detach, want: "{2}\n", detached: true,
			end: func(cancel context.CancelFunc, _ io.Closer) { cancel() },
		},
		"Closed": {
			reason: "A detached watch ends when it is closed.", query: query, detach: Detach, detached: true,
			end: func(_ context.CancelFunc, body io.Closer) { _ = body.Close() },
		},
		"Attached": {
			reason: "Other watches end with the context.", query: query, detach: func(ctx context.Context) context.Context { return ctx },
			end: func(cancel context.CancelFunc, _ io.Closer) { cancel() },
		},
		"NoWatch": {
			reason: "Other responses end with the context.", query: "/api/v1/secrets", detach: Detach,
			end: func(cancel context.CancelFunc, _ io.Closer) { cancel() },
		},
		"Plain": {
			reason: "A watch that cannot be idle ends with the context.", plain: true, query: query, detach: Detach,
			end: func(cancel context.CancelFunc, _ io.Closer) { cancel() },
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			next := make(chan struct{})
			handler := func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				_, _ = io.WriteString(w, "{1}\n")
				_ = http.NewResponseController(w).Flush()
				select {
				case <-next:
				case <-r.Context().Done():
					return
				}
				_, _ = io.WriteString(w, "{2}\n")
			}
			_, rc := newTLS(t, handler)
			if tc.plain {
				s := httptest.NewServer(http.HandlerFunc(handler))
				t.Cleanup(s.Close)
				rc = &rest.Config{Host: s.URL}
			}
			tr := newTransport(t, rc, Options{Monitored: true})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			req, err := http.NewRequestWithContext(tc.detach(ctx), http.MethodGet, tr.URL()+tc.query, nil)
			if err != nil {
				t.Fatal(err)
			}
			resp, err := tr.RoundTrip(req)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			if detached := resp.Body.(*body).Detached() != nil; detached != tc.detached {
				t.Errorf("%s\nwant a detached body: %t, got %t", tc.reason, tc.detached, detached)
			}
			// Other responses are read as a whole.
			if first := make([]byte, 4); isWatch(req.URL) {
				if _, err := io.ReadFull(resp.Body, first); err != nil || string(first) != "{1}\n" {
					t.Fatalf("want the first event, got %q and %v", first, err)
				}
			}
			tc.end(cancel, resp.Body)
			if tc.want != "" {
				close(next)
			}
			got, err := io.ReadAll(resp.Body)
			if string(got) != tc.want || (err != nil) != (tc.want == "") {
				t.Errorf("%s\nwant %q, got %q and %v", tc.reason, tc.want, got, err)
			}
		})
	}
}

// A detachable body never has anything to read after its content, and ends when it is closed.
type detachable struct {
	io.Reader

	until  time.Time
	closed chan struct{}
}

func (d *detachable) Detach(until time.Time) bool {
	d.until = until
	return true
}

func (d *detachable) Read(b []byte) (int, error) {
	if n, _ := d.Reader.Read(b); n > 0 {
		return n, nil
	}
	<-d.closed
	return 0, errors.New("closed")
}

func (d *detachable) Close() error {
	select {
	case <-d.closed:
	default:
		close(d.closed)
	}
	return nil
}

// RoundTrip returns a response with the body.
func (d *detachable) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: d}, nil
}

// TestEndOfDetached checks when the body of a detached watch ends.
func TestEndOfDetached(t *testing.T) {
	type want struct {
		Content string
		Took    time.Duration
		Err     error
	}
	cases := map[string]struct {
		reason  string
		content string
		// taken is true if other responses take all memory of the budget.
		taken bool
		// before is called before the body is read; optional.
		before func(b *body)
		// after is called in another goroutine, a second after the response; optional.
		after func(b *body)
		want  want
	}{
		"Aborted": {
			reason: "It can be ended while it is read.", content: "{1}\n", after: (*body).abort,
			want: want{Content: "{1}\n", Took: time.Second, Err: cmpopts.AnyError},
		},
		"Closed": {
			reason: "It can be closed while it is read.", content: "{1}\n", after: func(b *body) { _ = b.Close() },
			want: want{Content: "{1}\n", Took: time.Second, Err: cmpopts.AnyError},
		},
		"Stalled": {
			reason: "The rest of an event does not arrive.", content: "{1}\n{2",
			want: want{Content: "{1}\n", Took: longestPause, Err: io.ErrUnexpectedEOF},
		},
		"Waiting": {
			reason: "It can be ended while it waits for memory.", content: strings.Repeat("x", 2*mib) + "\n", taken: true, after: (*body).abort,
			want: want{Took: time.Second, Err: context.Canceled},
		},
		"Before": {
			reason: "It does not wait for memory if it has ended.", content: strings.Repeat("x", 2*mib) + "\n", taken: true, before: (*body).abort,
			want: want{Err: context.Canceled},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := &detachable{Reader: strings.NewReader(tc.content), closed: make(chan struct{})}
				budget := decoding.New(32 * mib)
				if tc.taken {
					take(t, budget)
				}
				g := &guard{next: d, host: "h", limits: Limits{}.withDefaults(8 * mib), budget: budget}
				req, err := http.NewRequestWithContext(Detach(t.Context()), http.MethodGet, "https://h/x?watch=true&timeoutSeconds=570", nil)
				if err != nil {
					t.Fatal(err)
				}
				start := time.Now()
				resp, err := g.RoundTrip(req)
				if err != nil {
					t.Fatal(err)
				}
				defer resp.Body.Close()
				if most := d.until.Sub(start); most != 10*time.Minute {
					t.Errorf("%s\nwant a limit of ten minutes, got %s", tc.reason, most)
				}
				b := resp.Body.(*body)
				if tc.before != nil {
					tc.before(b)
				}
				if tc.after != nil {
					time.AfterFunc(time.Second, func() { tc.after(b) })
				}
				content, err := io.ReadAll(b)
				got := want{Content: string(content), Took: time.Since(start), Err: err}
				if diff := cmp.Diff(tc.want, got, cmpopts.EquateErrors()); diff != "" {
					t.Errorf("\n%s\nReadAll(...): -want, +got:\n%s", tc.reason, diff)
				}
				if b.waiting.Load() != nil {
					t.Errorf("%s\nwant it to keep no context", tc.reason)
				}
			})
		})
	}
}

// take takes all memory for complete responses of a budget of 32 MiB.
func take(t *testing.T, b *decoding.Budget) {
	t.Helper()
	for range 3 {
		text := strings.NewReader(strings.Repeat("x", 2*mib)) // It becomes 8 MiB.
		if _, _, err := b.Read(t.Context(), decoding.Source{Reader: text, ContentType: "application/json", Most: 8 * mib, Abort: func() {}}); err != nil {
			t.Fatal(err)
		}
	}
}

// stuck is a detachable body whose end cannot be written to its connection.
type stuck struct{ detachable }

func (s *stuck) Close() error {
	<-s.closed
	return nil
}

// TestEndDoesNotBlock checks that a detached watch can be ended although its connection is stuck: callers hold locks.
func TestEndDoesNotBlock(t *testing.T) {
	ends := map[string]func(b *body){"Abort": (*body).abort, "Close": func(b *body) { _ = b.Close() }}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &stuck{detachable{Reader: strings.NewReader(""), closed: make(chan struct{})}}
				g := &guard{limits: Limits{}.withDefaults(mib), budget: decoding.New(16 * mib)}
				resp := &http.Response{StatusCode: http.StatusOK, Body: s}
				b := g.bodyOf(t.Context(), func() {}, &url.URL{RawQuery: "watch=true"}, resp, time.Now())
				b.detach(time.Now().Add(time.Minute))
				end(b) // The test would be blocked forever.
				end(b)
				close(s.closed)
			})
		})
	}
}
