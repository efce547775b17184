// SPDX-License-Identifier: Apache-2.0

package h2

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"sync/atomic"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"golang.org/x/net/http2"

	"github.com/crossplane-contrib/provider-kyma/internal/sendcheck"
)

// A checkedConn runs a check before each write. Encryption takes some microseconds, so this is later than before TLS.
type checkedConn struct {
	net.Conn

	check atomic.Pointer[func() error]
}

// Write writes to the connection, unless the check fails.
func (c *checkedConn) Write(b []byte) (int, error) {
	if check := c.check.Load(); check != nil {
		if err := (*check)(); err != nil {
			return 0, err
		}
	}
	return c.Conn.Write(b) //nolint:wrapcheck // It is the error of the connection.
}

// sendRest sends the rest of the body of a request, of which some bytes were sent if the whole body is known.
func (s *stream) sendRest(req *http.Request, whole []byte, sent int) {
	switch {
	case whole == nil:
		// The response can begin before the request ends.
		go s.send(req, req.Body, req.ContentLength)
	case sent < len(whole):
		go s.send(req, bytes.NewReader(whole[sent:]), int64(len(whole)-sent))
	default:
		_ = req.Body.Close() // It was read.
	}
}

// send sends the rest of a request, which has some bytes, or 0 or a negative number if that is unknown, and closes its body. It stops when the
// stream ends, which may be before the request is complete.
func (s *stream) send(req *http.Request, rest io.Reader, left int64) {
	defer req.Body.Close()
	size := int64(maxFrame)
	if left > 0 {
		// One more byte shows the end of the body.
		size = min(size, left+1)
	}
	part := make([]byte, size)
	sum, last := int64(0), false
	for !last {
		n, err := s.readPart(rest, part)
		sum += int64(n)
		last = errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		if err != nil && !last {
			s.cancel(errors.Wrap(err, errBody))
			return
		}
		if left > 0 && (sum > left || last && sum < left) {
			s.cancel(errLength)
			return
		}
		if !s.sendChunk(req.Context(), part[:n], last) {
			s.abandon()
			return
		}
	}
	s.conn.mu.Lock()
	defer s.conn.mu.Unlock()
	s.sent = true
	if s.err != nil {
		s.conn.forget(s)
	}
}

// readPart reads a part of the body of a request. It reads nothing after the end of the stream, after which nothing is sent.
func (s *stream) readPart(body io.Reader, part []byte) (int, error) {
	s.reading.Lock()
	defer s.reading.Unlock()
	s.conn.mu.Lock()
	ended := s.err != nil
	s.conn.mu.Unlock()
	if ended {
		return 0, errClosed
	}
	return io.ReadFull(body, part)
}

// abandon informs the server that the rest of a request is not sent, because the response is complete.
func (s *stream) abandon() {
	c := s.conn
	c.mu.Lock()
	open := c.streams[s.id] == s && c.err == nil
	c.forget(s)
	c.mu.Unlock()
	if open {
		// If it fails, the connection is closed.
		_ = c.write(nil, func(w *http2.Framer) error { return w.WriteRSTStream(s.id, http2.ErrCodeCancel) })
	}
}

// sendChunk sends a part of the body of a request, as the windows permit. It returns false if the stream has ended, which it does if the
// check in the context of the request fails.
func (s *stream) sendChunk(ctx context.Context, chunk []byte, last bool) bool {
	check := s.checkOf(ctx)
	for {
		n, ended := 0, !s.waitForWindow(len(chunk))
		if ended {
			return false
		}
		// The end of a stream is announced in a frame. No data may follow it.
		err := s.conn.write(check, func(w *http2.Framer) error {
			if n, ended = s.reserve(len(chunk)); ended || n == 0 && len(chunk) > 0 {
				return nil
			}
			return w.WriteData(s.id, last && n == len(chunk), chunk[:n])
		})
		if err != nil {
			s.cancel(err) // Unless the connection failed, which ended the stream.
		}
		if ended || err != nil {
			return false
		}
		if chunk = chunk[n:]; len(chunk) == 0 {
			return true
		}
	}
}

// checkOf returns the check of the context of a request, which ends the stream if it fails, or nil. Its caller must not hold the mutex.
func (s *stream) checkOf(ctx context.Context) func() error {
	check := sendcheck.Of(ctx)
	if check == nil {
		return nil
	}
	return func() error {
		err := check()
		if err != nil {
			// If the check fails after the encryption, the connection is closed with another error.
			s.conn.mu.Lock()
			defer s.conn.mu.Unlock()
			s.end(err)
		}
		return err
	}
}

// waitForWindow waits until a part of some bytes can be sent. It returns false if the stream has ended.
func (s *stream) waitForWindow(size int) bool {
	s.conn.mu.Lock()
	defer s.conn.mu.Unlock()
	for s.err == nil && size > 0 && min(s.sendable, s.conn.sendable) <= 0 {
		s.changed.Wait()
	}
	return s.err == nil
}

// reserve is like take. It also returns whether the stream has ended.
func (s *stream) reserve(size int) (n int, ended bool) {
	s.conn.mu.Lock()
	defer s.conn.mu.Unlock()
	if s.err != nil {
		return 0, true
	}
	return s.take(size), false
}

// take returns the number of bytes that can be sent in a frame, and subtracts it from the windows. The caller holds the mutex.
func (s *stream) take(size int) int {
	c := s.conn
	most := max(min(int64(size), s.sendable, c.sendable, int64(c.mostFrame)), 0)
	s.sendable -= most
	c.sendable -= most
	return int(most)
}
