// SPDX-License-Identifier: Apache-2.0

package h2

import (
	"bytes"
	"compress/gzip"
	"io"
	"time"

	"golang.org/x/net/http2"
)

// Read reads from the body of the response.
func (s *stream) Read(p []byte) (int, error) {
	c := s.conn
	c.mu.Lock()
	for s.data.Len() == 0 && s.err == nil {
		s.changed.Wait()
	}
	if s.data.Len() == 0 {
		defer c.mu.Unlock()
		return 0, s.err
	}
	n, _ := s.data.Read(p) // It has data.
	if s.data.Len() == 0 {
		// The buffer of a stream that waits for data needs no memory.
		s.data = bytes.Buffer{}
	}
	all, one := c.free(int64(n)), int64(0)
	if s.read += int64(n); s.err == nil && s.read >= updateAt {
		one, s.read = s.read, 0
		s.window += one
	}
	c.mu.Unlock()
	_ = c.permit(all, s.id, one) // If it fails, the connection is closed, and the next Read returns the error.
	return n, nil
}

// A Waiter waits until a body can be read.
type Waiter interface {
	// Wake is called once, in a new goroutine, when Read would return immediately.
	Wake()
	// Take is called with data that arrives before that. If it returns true, the data is dropped, and the body stays idle. The connection
	// is locked meanwhile, so Take must return soon, must not use the connection or panic, and must not keep the data.
	Take(data []byte) bool
	// Patience returns how long a body may be idle without data that Take takes, or 0 for any time. After that, the body ends with
	// io.ErrUnexpectedEOF, if the connection has pings. What applies to Take applies to Patience.
	Patience() time.Duration
}

// Idle returns false if Read would return immediately. Otherwise, it wakes the waiter when this changes.
func (s *stream) Idle(w Waiter) bool {
	s.conn.mu.Lock()
	defer s.conn.mu.Unlock()
	if s.data.Len() > 0 || s.err != nil {
		return false
	}
	s.waiter, s.heard = w, time.Now()
	return true
}

// Detach makes the body independent of the context of its request, which then needs no memory. From then on, the body ends when it is closed, when
// the connection ends, or after the given time, at most as much later as pings are apart. Detach returns false if the body still depends on the
// context: if it has ended, or if the connection has no pings.
func (s *stream) Detach(until time.Time) bool {
	s.conn.mu.Lock()
	defer s.conn.mu.Unlock()
	if s.conn.pool.ping == 0 || s.stop == nil || !s.stop() {
		return false
	}
	s.stop, s.until = nil, until
	return true
}

// Close ends the stream.
func (s *stream) Close() error {
	s.cancel(errClosed)
	return nil
}

// cancel ends the stream with an error, and informs the server if it is not complete.
func (s *stream) cancel(err error) {
	c := s.conn
	c.mu.Lock()
	open := c.streams[s.id] == s && c.err == nil
	s.end(err)
	increase := int64(0)
	if err == errClosed { //nolint:errorlint // It is not wrapped.
		increase = c.free(int64(s.data.Len()))
		s.err, s.data = err, bytes.Buffer{}
		s.changed.Broadcast()
	}
	c.forget(s)
	c.mu.Unlock()
	// If a write fails, the connection is closed.
	_ = c.permit(increase, 0, 0) // If it fails, the connection is closed.
	if open {
		_ = c.write(nil, func(w *http2.Framer) error { return w.WriteRSTStream(s.id, http2.ErrCodeCancel) })
	}
}

// A compressed body decompresses another one.
type compressed struct {
	io.ReadCloser

	zip *gzip.Reader
	err error
}

// Read reads decompressed data.
func (b *compressed) Read(p []byte) (int, error) {
	if b.zip == nil && b.err == nil {
		b.zip, b.err = gzip.NewReader(b.ReadCloser)
	}
	if b.err != nil {
		return 0, b.err
	}
	return b.zip.Read(p)
}
