// SPDX-License-Identifier: Apache-2.0

package h2

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"

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
	// received is the number of bytes of each request. complete receives it at the end of a request with a body. increased is what the
	// client has added to the window of each stream, and to that of the connection.
	complete  chan int
	mu        sync.Mutex
	received  map[uint32]int
	increased map[uint32]int
}

// newPeer returns a server and a connection to it. The server responds to pings if pings is true.
func newPeer(t *testing.T, p *Pool, pings bool) (*peer, *conn) {
	t.Helper()
	near, far := net.Pipe()
	t.Cleanup(func() { _ = near.Close(); _ = far.Close() })
	s := peerOf(far)
	s.pings = pings
	c := newConn(p, near, nil)
	p.conns = append(p.conns, c)
	go c.run()
	return s, c
}

// peerOf returns a server for a connection.
func peerOf(c net.Conn) *peer {
	s := &peer{
		Framer: http2.NewFramer(c, c), conn: c, opened: make(chan uint32, 10), ends: make(chan http2.ErrCode, 10), complete: make(chan int, 10),
		received: map[uint32]int{}, increased: map[uint32]int{},
	}
	go s.read()
	return s
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
			n := s.received[f.StreamID]
			s.mu.Unlock()
			if f.StreamEnded() {
				s.complete <- n
			}
		case *http2.WindowUpdateFrame:
			s.mu.Lock()
			s.increased[f.StreamID] += int(f.Increment)
			s.mu.Unlock()
		case *http2.RSTStreamFrame:
			s.ends <- f.ErrCode
		case *http2.GoAwayFrame:
			s.ends <- f.ErrCode
		case *http2.PingFrame:
			if s.pings && !f.IsAck() {
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

// many calls a function that sends frames more often than a client answers, until the client closes the connection.
func many(send func() error) {
	for range mostDemands + 1 {
		if send() != nil {
			return
		}
	}
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
		"Padded": {reason: "The padding of a frame is not part of the data.", open: true, server: func(s *peer, id uint32) error {
			return errors.Join(begun(s, id, "content-length", "1"), s.WriteDataPadded(id, true, []byte("x"), make([]byte, 100)))
		}},
		"Refused": {reason: "A refused request is sent again, on another connection.", later: true, want: errUnused, server: func(s *peer, id uint32) error {
			return s.WriteRSTStream(id, http2.ErrCodeRefusedStream)
		}},
		"RefusedFirst": {reason: "A request that a new connection refuses is not sent again.", want: &resetError{http2.ErrCodeRefusedStream}, open: true,
			server: func(s *peer, id uint32) error { return s.WriteRSTStream(id, http2.ErrCodeRefusedStream) }},
		"RefusedLate": {reason: "A request that is refused after its response began is not sent again.", want: &resetError{http2.ErrCodeRefusedStream}, open: true,
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
		"NoStatus": {reason: "A response without a status violates the protocol.", want: violation, end: violation.Code, open: true, server: func(s *peer, id uint32) error {
			return s.respond(id, false, "x", "y")
		}},
		"NoHeaders": {reason: "Data before the headers of a response violates the protocol.", want: violation, end: violation.Code, open: true, server: func(s *peer, id uint32) error {
			return s.WriteData(id, false, []byte("x"))
		}},
		"Long": {reason: "A response that is longer than announced violates the protocol.", want: violation, end: violation.Code, open: true,
			server: func(s *peer, id uint32) error {
				return errors.Join(begun(s, id, "content-length", "1"), s.WriteData(id, false, []byte("xy")))
			}},
		"Short": {reason: "A response that is shorter than announced is incomplete.", want: io.ErrUnexpectedEOF, open: true, server: func(s *peer, id uint32) error {
			return errors.Join(begun(s, id, "content-length", "2"), s.WriteData(id, true, []byte("x")))
		}},
		"Unopened": {reason: "Data for a request that was never sent violates the protocol.", want: http2.ConnectionError(http2.ErrCodeProtocol), end: http2.ErrCodeProtocol,
			server: func(s *peer, id uint32) error {
				return errors.Join(begun(s, id), s.WriteData(id+98, true, []byte("x")))
			}},
		"Headers": {reason: "The size of headers is limited.", want: http2.ConnectionError(http2.ErrCodeCompression), end: http2.ErrCodeCompression,
			server: func(s *peer, id uint32) error {
				// A header without a value of some megabytes never ends.
				err := s.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: []byte{0x00, 0x7f, 0xff, 0xff, 0xff, 0x07}})
				for range 4 * maxHeaders / maxFrame {
					if err == nil && s.WriteContinuation(id, false, bytes.Repeat([]byte{'a'}, maxFrame)) != nil {
						break // The client has closed the connection.
					}
				}
				return err
			}},
		"Pings": {reason: "A server cannot demand answers without an end.", want: http2.ConnectionError(http2.ErrCodeEnhanceYourCalm),
			end: http2.ErrCodeEnhanceYourCalm, server: func(s *peer, id uint32) error {
				err := begun(s, id)
				many(func() error { return s.WritePing(false, [8]byte{}) })
				return err
			}},
		"Settings": {reason: "Each change of the settings has to be answered, too.", want: http2.ConnectionError(http2.ErrCodeEnhanceYourCalm),
			end: http2.ErrCodeEnhanceYourCalm, server: func(s *peer, id uint32) error {
				err := begun(s, id)
				many(func() error { return s.WriteSettings() })
				return err
			}},
		"Answers": {reason: "Answers demand nothing.", open: true, server: func(s *peer, id uint32) error {
			err := begun(s, id)
			many(func() error { return errors.Join(s.WritePing(true, [8]byte{}), s.WriteSettingsAck()) })
			return errors.Join(err, s.WriteData(id, true, []byte("x")))
		}},
		"Push": {reason: "A push violates the protocol, because pushes are disabled.", want: http2.ConnectionError(http2.ErrCodeProtocol), end: http2.ErrCodeProtocol,
			server: func(s *peer, id uint32) error {
				return errors.Join(begun(s, id), s.WritePushPromise(http2.PushPromiseParam{StreamID: id, PromiseID: 2, EndHeaders: true}))
			}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s, c := newPeer(t, &Pool{}, true)
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
						_ = resp.Body.Close()
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

// FuzzFrames checks that no frames of a server make a client panic or hang.
func FuzzFrames(f *testing.F) {
	f.Add([]byte{0, 0, 0, 4, 0, 0, 0, 0, 0})
	f.Add([]byte{0, 0, 1, 1, 5, 0, 0, 0, 1, 0x88, 0, 0, 1, 0, 1, 0, 0, 0, 1, 'x'})
	f.Fuzz(func(t *testing.T, data []byte) {
		defer fuzztest.Within(t, fuzztest.Limits{Base: 4 << 20, PerByte: 4 << 10}, len(data))()
		near, far := net.Pipe()
		p := &Pool{}
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
