// SPDX-License-Identifier: Apache-2.0

package h2

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/fuzztest"
)

// A peer is a server that sends single frames. It records the frames of the client that end a stream or the connection.
type peer struct {
	*http2.Framer

	conn  net.Conn
	pings bool
	// opened receives the ID of each stream, and ends the last frame that ends something.
	opened chan uint32
	ends   chan http2.ErrCode
	// received is the number of bytes of each request.
	mu       sync.Mutex
	received map[uint32]int
}

// newPeer returns a server and a connection to it. The server responds to pings if pings is true.
func newPeer(t *testing.T, p *pool, pings bool) (*peer, *conn) {
	t.Helper()
	near, far := net.Pipe()
	t.Cleanup(func() { _ = near.Close(); _ = far.Close() })
	s := &peer{Framer: http2.NewFramer(far, far), conn: far, pings: pings, opened: make(chan uint32, 10), ends: make(chan http2.ErrCode, 10), received: map[uint32]int{}}
	c := newConn(p, near, nil)
	p.conns = append(p.conns, c)
	go c.run()
	go s.read()
	return s, c
}

func (s *peer) read() {
	defer close(s.ends)
	_, _ = io.ReadFull(s.conn, make([]byte, len(http2.ClientPreface)))
	for {
		f, err := s.ReadFrame()
		if err != nil {
			return
		}
		switch f := f.(type) {
		case *http2.HeadersFrame:
			s.opened <- f.StreamID
		case *http2.DataFrame:
			s.mu.Lock()
			s.received[f.StreamID] += len(f.Data())
			s.mu.Unlock()
		case *http2.RSTStreamFrame:
			s.ends <- f.ErrCode
		case *http2.GoAwayFrame:
			s.ends <- f.ErrCode
		case *http2.PingFrame:
			if s.pings {
				_ = s.WritePing(true, f.Data)
			}
		}
	}
}

// respond sends the headers of a response.
func (s *peer) respond(id uint32, end bool, fields ...string) error {
	var block bytes.Buffer
	e := hpack.NewEncoder(&block)
	for i := 0; i+1 < len(fields); i += 2 {
		_ = e.WriteField(hpack.HeaderField{Name: fields[i], Value: fields[i+1]})
	}
	return s.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: block.Bytes(), EndHeaders: true, EndStream: end})
}

// TestProtocol checks what a client does when a server ends a request, or violates the protocol.
func TestProtocol(t *testing.T) {
	begun := func(s *peer, id uint32, more ...string) error {
		return s.respond(id, false, append([]string{":status", "200"}, more...)...)
	}
	violation := http2.StreamError{StreamID: firstID, Code: http2.ErrCodeProtocol}
	cases := map[string]struct {
		reason string
		server func(s *peer, id uint32) error
		// want is the error of the request or its body. end is the frame that the client sends, if any.
		want error
		end  http2.ErrCode
		open bool
		// later is true if the connection was used before.
		later bool
	}{
		"Complete": {reason: "A response can be complete.", open: true, server: func(s *peer, id uint32) error {
			return errors.Join(begun(s, id), s.WriteData(id, true, []byte("x")))
		}},
		"Padded": {reason: "Padding is not data.", open: true, server: func(s *peer, id uint32) error {
			return errors.Join(begun(s, id, "content-length", "1"), s.WriteDataPadded(id, true, []byte("x"), make([]byte, 100)))
		}},
		"Refused": {reason: "A refused request is sent again, on another connection.", later: true, want: errUnused, server: func(s *peer, id uint32) error {
			return s.WriteRSTStream(id, http2.ErrCodeRefusedStream)
		}},
		"RefusedFirst": {reason: "But not if a new connection refuses it.", want: &resetError{http2.ErrCodeRefusedStream}, open: true,
			server: func(s *peer, id uint32) error { return s.WriteRSTStream(id, http2.ErrCodeRefusedStream) }},
		"RefusedLate": {reason: "But not after its response began.", want: &resetError{http2.ErrCodeRefusedStream}, open: true,
			server: func(s *peer, id uint32) error {
				return errors.Join(begun(s, id), s.WriteRSTStream(id, http2.ErrCodeRefusedStream))
			}},
		"GoAwayFirst": {reason: "A server that accepts no request on a new connection does not get another one.", want: errGoAway,
			server: func(s *peer, _ uint32) error { return s.WriteGoAway(0, http2.ErrCodeNo, nil) }},
		"GoAway": {reason: "A request that a server did not process is sent again.", later: true, want: errUnused, server: func(s *peer, _ uint32) error {
			return s.WriteGoAway(0, http2.ErrCodeNo, nil)
		}},
		"GoAwayLater": {reason: "A server that shuts down still sends the responses of earlier requests.", server: func(s *peer, id uint32) error {
			return errors.Join(s.WriteGoAway(id, http2.ErrCodeNo, nil), begun(s, id), s.WriteData(id, true, []byte("x")))
		}},
		"Reset": {reason: "A response can be reset.", want: &resetError{http2.ErrCodeInternal}, open: true, server: func(s *peer, id uint32) error {
			return errors.Join(begun(s, id), s.WriteRSTStream(id, http2.ErrCodeInternal))
		}},
		"Closed": {reason: "A response is not complete when the connection is closed.", want: io.ErrUnexpectedEOF, server: func(s *peer, id uint32) error {
			return errors.Join(begun(s, id), s.conn.Close())
		}},
		"NoStatus": {reason: "A response has a status.", want: violation, end: violation.Code, open: true, server: func(s *peer, id uint32) error {
			return s.respond(id, false, "x", "y")
		}},
		"NoHeaders": {reason: "A response has headers.", want: violation, end: violation.Code, open: true, server: func(s *peer, id uint32) error {
			return s.WriteData(id, false, []byte("x"))
		}},
		"Long": {reason: "A response has at most the announced length.", want: violation, end: violation.Code, open: true,
			server: func(s *peer, id uint32) error {
				return errors.Join(begun(s, id, "content-length", "1"), s.WriteData(id, false, []byte("xy")))
			}},
		"Short": {reason: "It has at least the announced length.", want: io.ErrUnexpectedEOF, open: true, server: func(s *peer, id uint32) error {
			return errors.Join(begun(s, id, "content-length", "2"), s.WriteData(id, true, []byte("x")))
		}},
		"Unopened": {reason: "Data belongs to a request.", want: http2.ConnectionError(http2.ErrCodeProtocol), end: http2.ErrCodeProtocol,
			server: func(s *peer, id uint32) error {
				return errors.Join(begun(s, id), s.WriteData(id+98, true, []byte("x")))
			}},
		"Push": {reason: "Pushes are disabled.", want: http2.ConnectionError(http2.ErrCodeProtocol), end: http2.ErrCodeProtocol,
			server: func(s *peer, id uint32) error {
				return errors.Join(begun(s, id), s.WritePushPromise(http2.PushPromiseParam{StreamID: id, PromiseID: 2, EndHeaders: true}))
			}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s, c := newPeer(t, &pool{}, true)
			if tc.later {
				c.next += 2
			}
			result := make(chan error, 1)
			go func() {
				req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://example.org/", nil)
				if err == nil {
					var resp *http.Response
					if resp, err = c.RoundTrip(req); err == nil {
						_, err = io.ReadAll(resp.Body)
					}
				}
				result <- err
			}()
			if err := errors.Join(s.WriteSettings(), tc.server(s, <-s.opened)); err != nil {
				t.Fatal(err)
			}
			got := <-result
			if diff := cmp.Diff(tc.want, got, cmp.Comparer(func(a, b error) bool { return a.Error() == b.Error() })); diff != "" && !errors.Is(got, tc.want) {
				t.Errorf("\n%s\nerror: -want, +got:\n%s", tc.reason, diff)
			}
			if tc.end != http2.ErrCodeNo {
				if end := <-s.ends; end != tc.end {
					t.Errorf("%s\nwant the client to send %s, got %s", tc.reason, tc.end, end)
				}
			}
			if open := c.available(); open != tc.open {
				t.Errorf("%s\nwant the connection to be available: %t, got %t", tc.reason, tc.open, open)
			}
			c.mu.Lock()
			defer c.mu.Unlock()
			if len(c.streams) != 0 {
				t.Errorf("%s\nwant no stream to be left, got %d", tc.reason, len(c.streams))
			}
		})
	}
}

// TestWindow checks that a server cannot send more than the window before it is read, and that other streams continue.
func TestWindow(t *testing.T) {
	s, c := newPeer(t, &pool{}, true)
	send := func() *http.Response {
		result := make(chan *http.Response, 1)
		go func() {
			req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://example.org/", nil)
			resp, err := c.RoundTrip(req)
			if err != nil {
				t.Error(err)
			}
			result <- resp
		}()
		if err := s.respond(<-s.opened, false, ":status", "200"); err != nil {
			t.Fatal(err)
		}
		return <-result
	}
	first, second := send(), send()
	data := make([]byte, maxFrame)
	for range streamWindow / maxFrame {
		if err := s.WriteData(1, false, data); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(s.WriteData(3, true, []byte("x"))); err != nil {
		t.Fatal(err)
	}
	if b, err := io.ReadAll(second.Body); string(b) != "x" || err != nil {
		t.Errorf("the other stream: got %q and %v", b, err)
	}
	if err := s.WriteData(1, false, []byte("x")); err != nil {
		t.Fatal(err)
	}
	if end := <-s.ends; end != http2.ErrCodeFlowControl {
		t.Errorf("want the client to send %s, got %s", http2.ErrCodeFlowControl, end)
	}
	_, err := io.Copy(io.Discard, first.Body)
	if e := (http2.StreamError{}); !errors.As(err, &e) || e.Code != http2.ErrCodeFlowControl {
		t.Errorf("want %s, got %v", http2.ErrCodeFlowControl, err)
	}
}

// TestUnavailable checks that a connection that the server closes before it was used fails one request, and no more: an http.Transport
// tries the next one on another connection.
func TestUnavailable(t *testing.T) {
	cases := map[string]struct {
		reason string
		server func(s *peer) error
		want   error
	}{
		"Closed": {reason: "The server closes each new connection.", server: func(s *peer) error { return s.conn.Close() }, want: io.ErrUnexpectedEOF},
		"GoAway": {reason: "The server shuts down.", server: func(s *peer) error { return s.WriteGoAway(0, http2.ErrCodeNo, nil) }, want: errGoAway},
		"Full": {reason: "The server accepts no requests.", want: errGoAway, server: func(s *peer) error {
			return s.WriteSettings(http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: 0})
		}},
		"Idle": {reason: "A connection that this end closed fails no request.", server: func(*peer) error { time.Sleep(time.Hour); return nil }, want: errUnused},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, c := newPeer(t, &pool{idle: time.Minute}, true)
				synctest.Wait()
				if err := tc.server(s); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				for i, want := range []error{tc.want, errUnused, errUnused} {
					req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://example.org/", nil)
					if _, err := c.RoundTrip(req); !errors.Is(err, want) {
						t.Errorf("%s\nrequest %d: want %v, got %v", tc.reason, i, want, err)
					}
				}
				c.fail(errClosed)
			})
		})
	}
}

// TestStalled checks that a request ends with its context if the server doesn't read, and that its body is closed.
func TestStalled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		defer far.Close()
		c := newConn(&pool{}, near, nil)
		go c.run()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start, body := time.Now(), &closing{Reader: strings.NewReader("x")}
		req, _ := http.NewRequestWithContext(ctx, http.MethodPost, "https://example.org/", body)
		if _, err := c.RoundTrip(req); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) > time.Second {
			t.Errorf("want the request to end after a second, got %v after %s", err, time.Since(start))
		}
		if !body.closed {
			t.Error("want the body to be closed")
		}
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
		s, c := newPeer(t, &pool{}, true)
		ends := make(chan error, 2)
		send := func() uint32 {
			go func() {
				req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://example.org/", strings.NewReader(strings.Repeat("x", size)))
				resp, err := c.RoundTrip(req)
				if err == nil {
					_, err = io.Copy(io.Discard, resp.Body)
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

// TestHealth checks when a quiet connection is closed.
func TestHealth(t *testing.T) {
	cases := map[string]struct {
		reason string
		pings  bool
		stream bool
		want   error
		after  time.Duration
	}{
		"Answers": {reason: "A server that responds to pings keeps its connection.", pings: true, stream: true},
		"Silent":  {reason: "A server that does not is gone.", stream: true, want: errLost, after: 45 * time.Second},
		"Unused":  {reason: "A connection without streams is closed.", pings: true, want: errIdle, after: 90 * time.Second},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &pool{idle: 90 * time.Second, ping: 30 * time.Second, lost: 15 * time.Second}
				s, c := newPeer(t, p, tc.pings)
				if tc.stream {
					go func() {
						req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://example.org/", nil)
						_, _ = c.RoundTrip(req)
					}()
					<-s.opened
				}
				synctest.Wait()
				if tc.want != nil {
					time.Sleep(tc.after - time.Second)
				} else {
					time.Sleep(time.Hour)
				}
				if !c.available() {
					t.Errorf("%s\nwant the connection to be open, got %v", tc.reason, c.err)
				}
				time.Sleep(2 * time.Second)
				synctest.Wait()
				c.mu.Lock()
				err := c.err
				c.mu.Unlock()
				if !errors.Is(err, tc.want) {
					t.Errorf("%s\nwant %v, got %v", tc.reason, tc.want, err)
				}
				c.fail(errClosed)
			})
		})
	}
}

// FuzzFrames checks that no frames of a server make a client panic or hang.
func FuzzFrames(f *testing.F) {
	f.Add([]byte{0, 0, 0, 4, 0, 0, 0, 0, 0})
	f.Add([]byte{0, 0, 1, 1, 5, 0, 0, 0, 1, 0x88, 0, 0, 1, 0, 1, 0, 0, 0, 1, 'x'})
	f.Fuzz(func(t *testing.T, data []byte) {
		defer fuzztest.Within(t, fuzztest.Limits{Base: 4 << 20, PerByte: 4 << 10}, len(data))()
		near, far := net.Pipe()
		p := &pool{}
		c := newConn(p, near, nil)
		done := make(chan struct{})
		go func() {
			defer close(done)
			req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://example.org/", nil)
			if resp, err := c.RoundTrip(req); err == nil {
				_, _ = io.Copy(io.Discard, resp.Body)
				_ = resp.Body.Close()
			}
		}()
		go func() { _, _ = io.Copy(io.Discard, far) }()
		go func() {
			_, _ = far.Write(data)
			_ = far.Close()
		}()
		c.run()
		<-done
	})
}
