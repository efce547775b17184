// SPDX-License-Identifier: Apache-2.0

package h2

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"

	"golang.org/x/net/http2"
)

// A stream is a request with its response. It is the body of the response. The mutex of the connection guards it.
type stream struct {
	conn *conn
	id   uint32
	// stop ends the observation of the context of the request. It is nil if the stream is detached from it. until is the time at which a
	// detached stream ends, and otherwise zero.
	stop  func() bool
	until time.Time

	// changed is signaled when one of the fields below changes.
	changed sync.Cond
	// begun is true if the headers of the response were received. The response is nil after it was returned.
	begun    bool
	response *http.Response
	// data contains what was received and not read. left is the number of bytes that are missing, or negative if that is unknown.
	data bytes.Buffer
	left int64
	// err is the error after the data, which is io.EOF at the end of the response.
	err error
	// waiter is woken once when there is data or an error, or nil; see Idle.
	waiter Waiter
	// heard is the time at which the waiter began to wait or last took data.
	heard time.Time
	// sendable is the number of bytes that can be sent. window is the number of bytes that the server can send. read is the number of
	// bytes that were read since the server was last permitted to send more.
	sendable, window, read int64
	// sent is true if the request is complete. reading is held while its body is read. It is locked before the mutex of the connection.
	sent    bool
	reading sync.Mutex
}

// begin handles the headers or the trailers of a response. It returns the code of a violation of the protocol. The caller holds the mutex.
func (s *stream) begin(f *http2.MetaHeadersFrame) http2.ErrCode {
	if s.begun {
		if !f.StreamEnded() {
			return http2.ErrCodeProtocol
		}
		return s.complete()
	}
	code, err := strconv.Atoi(f.PseudoValue("status"))
	if err != nil || f.Truncated || code < 100 || code > 999 {
		return http2.ErrCodeProtocol
	}
	if code < http.StatusOK {
		if f.StreamEnded() {
			return http2.ErrCodeProtocol
		}
		return http2.ErrCodeNo // The headers of the response follow.
	}
	s.begun, s.response = true, s.responseOf(code, f) //nolint:bodyclose // The caller of RoundTrip closes it.
	if s.left = s.response.ContentLength; !f.StreamEnded() {
		s.changed.Broadcast()
		return http2.ErrCodeNo
	}
	// A response without a body can have any Content-Length, for example that to HEAD.
	s.left, s.response.ContentLength = 0, max(s.response.ContentLength, 0)
	s.end(io.EOF)
	return http2.ErrCodeNo
}

// responseOf returns a response with the code and the headers of a frame.
func (s *stream) responseOf(code int, f *http2.MetaHeadersFrame) *http.Response {
	r := &http.Response{
		Status: strconv.Itoa(code) + " " + http.StatusText(code), StatusCode: code, Proto: "HTTP/2.0", ProtoMajor: 2, TLS: s.conn.state,
		Header: http.Header{}, ContentLength: -1, Body: s,
	}
	for _, h := range f.RegularFields() {
		r.Header.Add(h.Name, h.Value)
	}
	r.Header.Del("Trailer") // Trailers are dropped.
	if n, err := strconv.ParseInt(r.Header.Get("Content-Length"), 10, 64); err == nil && n >= 0 {
		r.ContentLength = n
	}
	return r
}

// add adds received data, and returns the code of a violation of the protocol. The size includes the padding. The caller holds the mutex.
func (s *stream) add(data []byte, size int64, ended bool) http2.ErrCode {
	if s.window -= size; s.window < 0 {
		return http2.ErrCodeFlowControl
	}
	if !s.begun || s.err != nil {
		return http2.ErrCodeProtocol
	}
	s.read += size - int64(len(data))
	if s.left >= 0 {
		if s.left -= int64(len(data)); s.left < 0 {
			return http2.ErrCodeProtocol
		}
	}
	if !ended && s.consumed(data) {
		s.read += int64(len(data))
		return http2.ErrCodeNo
	}
	s.data.Write(data)
	if ended {
		return s.complete()
	}
	s.notify()
	return http2.ErrCodeNo
}

// complete ends the response. The caller holds the mutex.
func (s *stream) complete() http2.ErrCode {
	if s.left > 0 {
		s.end(io.ErrUnexpectedEOF)
		return http2.ErrCodeNo
	}
	s.end(io.EOF)
	return http2.ErrCodeNo
}

// end ends the stream with an error, unless it has ended. The caller holds the mutex.
func (s *stream) end(err error) {
	if s.err != nil {
		return
	}
	s.err = err
	if s.stop != nil {
		s.stop()
	}
	if s.sent {
		s.conn.forget(s)
	}
	s.notify()
}

// await waits until the response begins or the stream ends. The caller holds the mutex.
func (s *stream) await() {
	for !s.begun && s.err == nil {
		s.changed.Wait()
	}
}

// notify wakes those who wait for data. The caller holds the mutex.
func (s *stream) notify() {
	s.changed.Broadcast()
	if s.waiter != nil {
		go s.waiter.Wake()
		s.waiter = nil
	}
}

// consumed lets the waiter of an idle stream take data. It returns false if the data must be read: a read also permits the server to send more.
// The caller holds the mutex.
func (s *stream) consumed(data []byte) bool {
	if s.waiter == nil || s.read+int64(len(data)) >= updateAt || !s.waiter.Take(data) {
		return false
	}
	s.heard = time.Now()
	return true
}

// overdue returns the error with which the stream must end, or nil: a detached stream has a time limit, and a body can be idle for as long as
// its waiter waits. The caller holds the mutex.
func (s *stream) overdue(now time.Time) error {
	if !s.until.IsZero() && now.After(s.until) {
		return context.DeadlineExceeded
	}
	if s.waiter == nil {
		return nil
	}
	if most := s.waiter.Patience(); most > 0 && now.Sub(s.heard) > most {
		return io.ErrUnexpectedEOF
	}
	return nil
}
