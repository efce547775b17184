// SPDX-License-Identifier: Apache-2.0

package h2

import (
	"context"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"testing"
	"testing/synctest"

	"golang.org/x/net/http2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// A sender is a server that sends data as the windows permit. Its test runs in a bubble of synctest.
type sender struct {
	*peer

	t      *testing.T
	client *conn
	// sent is the number of bytes that were sent on each stream, and on the connection.
	sent map[uint32]int
}

// newSender returns a server, and a connection to it.
func newSender(t *testing.T) *sender {
	t.Helper()
	p, c := newPeer(t, &Pool{}, true)
	go func() {
		for range p.ends { // Nothing is left to do.
		}
	}()
	return &sender{peer: p, t: t, client: c, sent: map[uint32]int{}}
}

// A reply is the response to a request that the client can cancel.
type reply struct {
	*stream

	abort context.CancelFunc
}

// reply returns the response to a new request, without data.
func (s *sender) reply(fields ...string) *reply {
	s.t.Helper()
	ctx, abort := context.WithCancel(s.t.Context())
	result := make(chan *stream, 1)
	go func() {
		req, _ := http.NewRequestWithContext(ctx, http.MethodGet, "https://example.org/", nil)
		resp, err := s.client.RoundTrip(req) //nolint:bodyclose // The test closes it.
		if err != nil {
			s.t.Error(err)
		}
		result <- resp.Body.(*stream)
	}()
	s.do(s.respond(<-s.opened, false, append([]string{":status", "200"}, fields...)...))
	return &reply{stream: <-result, abort: abort}
}

func (s *sender) do(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
	synctest.Wait()
}

// left returns the number of bytes that the client still permits to send on a stream, or on the connection if the ID is 0.
func (s *sender) left(id uint32) int {
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	if id == 0 {
		return 65535 + s.increased[id] - s.sent[id]
	}
	return streamWindow + s.increased[id] - s.sent[id]
}

// send sends data with padding. It returns false, and sends nothing, if the windows don't permit it.
func (s *sender) send(id uint32, size int, padding []byte) bool {
	s.t.Helper()
	all := size + len(padding)
	if padding != nil {
		all++
	}
	if all > min(s.left(0), s.left(id)) {
		return false
	}
	s.sent[0], s.sent[id] = s.sent[0]+all, s.sent[id]+all
	s.do(s.WriteDataPadded(id, false, make([]byte, size), padding))
	return true
}

// must is like send, but the windows must permit it.
func (s *sender) must(id uint32, size int, padding []byte) {
	s.t.Helper()
	if !s.send(id, size, padding) {
		s.t.Fatal("want the window to be returned")
	}
}

// TestUnread checks that a connection holds at most its window of unread data, however many streams there are, and that a server must
// not send more.
func TestUnread(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSender(t)
		var all []*reply
		for range 100 {
			all = append(all, s.reply())
		}
		for more := true; more; {
			more = false
			for _, r := range all {
				more = s.send(r.id, maxFrame, nil) || more
			}
		}
		unread := 0
		for _, r := range all {
			unread += r.data.Len()
		}
		if unread != connWindow {
			t.Errorf("want %d bytes that are not read, got %d", connWindow, unread)
		}
		s.do(s.WriteData(all[0].id, false, []byte("x")))
		if want := http2.ConnectionError(http2.ErrCodeFlowControl); !errors.Is(s.client.err, want) {
			t.Errorf("want the connection to end with %v, got %v", want, s.client.err)
		}
	})
}

// TestSlowReaders checks that a few streams that are not read do not delay others, and can be read later.
func TestSlowReaders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSender(t)
		var slow []*reply
		for range connWindow/streamWindow - 1 {
			r := s.reply()
			slow = append(slow, r)
			for s.send(r.id, maxFrame, nil) { // It is sent as long as the windows permit it.
			}
		}
		for _, r := range append([]*reply{s.reply()}, slow...) {
			p := make([]byte, maxFrame)
			for range 3 * connWindow / maxFrame {
				if r.data.Len() == 0 && !s.send(r.id, maxFrame, nil) {
					t.Fatal("want the server to be able to continue")
				}
				if _, err := io.ReadFull(r, p); err != nil {
					t.Fatal(err)
				}
			}
		}
		s.client.fail(errClosed)
	})
}

// TestWindowReturned checks that each byte of the window of a connection is returned exactly once, however the responses end.
func TestWindowReturned(t *testing.T) {
	const length = 100_000
	read := func(r *reply) { _, _ = io.Copy(io.Discard, r.stream) } // It ends with or without an error.
	cases := map[string]struct {
		reason string
		// end ends a response whose data was not read.
		end func(s *sender, r *reply)
	}{
		"Read": {reason: "The data is read to its end.", end: func(s *sender, r *reply) {
			s.do(s.WriteData(r.id, true, nil))
			read(r)
		}},
		"ReadLater": {reason: "The data is read before its end arrives.", end: func(s *sender, r *reply) {
			go read(r)
			s.must(r.id, 100, nil)
			s.do(s.WriteData(r.id, true, nil))
		}},
		"Unread": {reason: "The body is closed after the end of the response.", end: func(s *sender, r *reply) {
			s.do(s.WriteData(r.id, true, nil))
		}},
		"Partly": {reason: "The body is closed in the middle of the response.", end: func(_ *sender, r *reply) {
			_, _ = io.CopyN(io.Discard, r, int64(rand.IntN(r.data.Len()+1)))
		}},
		"Late": {reason: "The server sends more until it notices that the body is closed.", end: func(s *sender, r *reply) {
			_ = r.Close()
			s.must(r.id, 1000, make([]byte, 100))
		}},
		"Canceled": {reason: "The context of the request ends.", end: func(s *sender, r *reply) {
			r.abort()
			synctest.Wait()
			s.must(r.id, 1000, nil)
		}},
		"CanceledRead": {reason: "The data is read although the context of the request has ended.", end: func(_ *sender, r *reply) {
			r.abort()
			synctest.Wait()
			read(r)
		}},
		"Reset": {reason: "The server resets the stream.", end: func(s *sender, r *reply) {
			s.do(s.WriteRSTStream(r.id, http2.ErrCodeInternal))
		}},
		"ResetRead": {reason: "The data is read although the server has reset the stream.", end: func(s *sender, r *reply) {
			s.do(s.WriteRSTStream(r.id, http2.ErrCodeInternal))
			read(r)
		}},
		"Violation": {reason: "The server violates the protocol with its headers, and does not notice the reset.", end: func(s *sender, r *reply) {
			s.do(s.respond(r.id, false, "x", "y"))
			s.must(r.id, 1000, nil)
		}},
		"Long": {reason: "The response is longer than announced.", end: func(s *sender, r *reply) {
			for range length/maxFrame + 1 {
				s.must(r.id, maxFrame, nil)
			}
			read(r)
		}},
		"Idle": {reason: "The waiter of an idle stream takes data.", end: func(s *sender, r *reply) {
			_, _ = io.CopyN(io.Discard, r, int64(r.data.Len()))
			if !r.Idle(patient{waiter: make(waiter, 1)}) {
				s.t.Error("want it to be idle")
			}
			for range 3 {
				s.must(r.id, 1000, make([]byte, 10))
			}
		}},
	}
	check := func(t *testing.T, reason string, end func() func(s *sender, r *reply)) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			s := newSender(t)
			var begun []*reply
			for s.sent[0] < 3*connWindow || len(begun) > 0 {
				if len(begun) < 10 && s.sent[0] < 3*connWindow {
					r := s.reply("content-length", strconv.Itoa(length))
					for range rand.IntN(6) {
						s.must(r.id, rand.IntN(maxFrame-256), make([]byte, rand.IntN(256)))
					}
					begun = append(begun, r)
					continue
				}
				i := rand.IntN(len(begun))
				r := begun[i]
				begun = append(begun[:i], begun[i+1:]...)
				end()(s, r)
				_, _ = r.Close(), r.Close()
			}
			left, c := s.left(0), s.client
			if c.err != nil || len(c.streams) > 0 {
				t.Errorf("%s\nwant an open connection without streams, got %d and %v", reason, len(c.streams), c.err)
			}
			if int64(left) != c.receivable || c.receivable+c.freed != connWindow {
				t.Errorf("%s\nwant the whole window, got %d and %d; the server has %d", reason, c.receivable, c.freed, left)
			}
			c.fail(errClosed)
		})
	}
	var all []func(s *sender, r *reply)
	for name, tc := range cases {
		all = append(all, tc.end)
		t.Run(name, func(t *testing.T) { check(t, tc.reason, func() func(s *sender, r *reply) { return tc.end }) })
	}
	t.Run("Mixed", func(t *testing.T) {
		check(t, "Responses end in different ways.", func() func(s *sender, r *reply) { return all[rand.IntN(len(all))] })
	})
}
