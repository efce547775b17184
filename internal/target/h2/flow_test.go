// SPDX-License-Identifier: Apache-2.0

package h2

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/net/http2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// TestWindow checks that a server cannot send more than the window before it is read, and that other streams continue.
func TestWindow(t *testing.T) {
	s, c := newPeer(t, &Pool{}, true)
	send := func() io.ReadCloser {
		result := make(chan io.ReadCloser, 1)
		go func() {
			req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://example.org/", nil)
			resp, err := c.RoundTrip(req) //nolint:bodyclose // It is closed below.
			if err != nil {
				t.Error(err)
			}
			result <- resp.Body
		}()
		if err := s.respond(<-s.opened, false, ":status", "200"); err != nil {
			t.Fatal(err)
		}
		return <-result
	}
	first, second := send(), send()
	defer first.Close()
	defer second.Close()
	data := make([]byte, maxFrame)
	for range streamWindow / maxFrame {
		if err := s.WriteData(1, false, data); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(s.WriteData(3, true, []byte("x"))); err != nil {
		t.Fatal(err)
	}
	if b, err := io.ReadAll(second); string(b) != "x" || err != nil {
		t.Errorf("the other stream: got %q and %v", b, err)
	}
	if err := s.WriteData(1, false, []byte("x")); err != nil {
		t.Fatal(err)
	}
	if end := <-s.ends; end != http2.ErrCodeFlowControl {
		t.Errorf("want the client to send %s, got %s", http2.ErrCodeFlowControl, end)
	}
	_, err := io.Copy(io.Discard, first)
	if e := (http2.StreamError{}); !errors.As(err, &e) || e.Code != http2.ErrCodeFlowControl {
		t.Errorf("want %s, got %v", http2.ErrCodeFlowControl, err)
	}
}

// TestStalled checks that requests end with their contexts if the server doesn't read, and that the body of a request is closed.
func TestStalled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		defer far.Close()
		c := newConn(&Pool{}, near, nil)
		go c.run()
		send := func(what string) *closing {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			start, body := time.Now(), &closing{Reader: strings.NewReader("x")}
			req, _ := http.NewRequestWithContext(ctx, http.MethodPost, "https://example.org/", body)
			resp, err := c.RoundTrip(req)
			if err == nil {
				_ = resp.Body.Close()
			}
			if !errors.Is(err, context.DeadlineExceeded) || time.Since(start) > time.Second {
				t.Errorf("%s: want the request to end after a second, got %v after %s", what, err, time.Since(start))
			}
			return body
		}
		synctest.Wait()
		if body := send("nothing is read"); !body.closed {
			t.Error("want the body to be closed")
		}
		go func() {
			// The server reads one request without its body.
			r := http2.NewFramer(nil, far)
			_, _ = io.ReadFull(far, make([]byte, len(http2.ClientPreface)))
			for f, err := r.ReadFrame(); err == nil && f.Header().Type != http2.FrameHeaders; f, err = r.ReadFrame() {
			}
		}()
		send("the headers are read")
		c.fail(errClosed)
	})
}

// A closing reader remembers that it was closed.
type closing struct {
	io.Reader

	closed bool
}

func (c *closing) Close() error {
	c.closed = true
	return nil
}

// TestUpload checks that requests are sent as the windows permit, which the server can change at any time, and that a request that waits
// does not delay others.
func TestUpload(t *testing.T) {
	const size = 100_000
	synctest.Test(t, func(t *testing.T) {
		s, c := newPeer(t, &Pool{}, true)
		ends := make(chan error, 2)
		send := func() uint32 {
			go func() {
				req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://example.org/", strings.NewReader(strings.Repeat("x", size)))
				resp, err := c.RoundTrip(req)
				if err == nil {
					_, err = io.Copy(io.Discard, resp.Body)
					_ = resp.Body.Close()
				}
				ends <- err
			}()
			return <-s.opened
		}
		received := func(id uint32, want int) {
			t.Helper()
			synctest.Wait()
			s.mu.Lock()
			defer s.mu.Unlock()
			if s.received[id] != want {
				t.Errorf("stream %d: want %d bytes, got %d", id, want, s.received[id])
			}
		}
		do := func(errs ...error) {
			t.Helper()
			if err := errors.Join(errs...); err != nil {
				t.Fatal(err)
			}
		}
		// A stream that waits for its own window leaves that of the connection to others.
		do(s.WriteWindowUpdate(0, 10*size), s.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 10}))
		synctest.Wait()
		first, second := send(), send()
		received(first, 10)
		received(second, 10)
		do(s.WriteWindowUpdate(second, size))
		received(second, size)
		do(s.respond(second, true, ":status", "200"), <-ends)
		// The window can become negative.
		do(s.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0}), s.WriteWindowUpdate(first, 5))
		received(first, 10)
		do(s.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 20}))
		received(first, 25)
		// A server that leaves still accepts the rest.
		do(s.WriteGoAway(second, http2.ErrCodeNo, nil), s.WriteWindowUpdate(first, size))
		received(first, size)
		do(s.respond(first, true, ":status", "200"), <-ends)
		synctest.Wait()
		if !errors.Is(c.err, errGoAway) {
			t.Errorf("want the connection to be closed after its last stream, got %v", c.err)
		}
	})
}
