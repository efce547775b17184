// SPDX-License-Identifier: Apache-2.0

package h2

import (
	"context"
	"io"
	"net/http"
	"net/http/httptrace"
	"strconv"
	"strings"
	"sync"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// RoundTrip sends a request, and returns its response when its headers have been received.
func (c *conn) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx := req.Context()
	s, compression, err := c.open(req)
	if err != nil {
		if err != errUnused && hasBody(req) { //nolint:errorlint // It is not wrapped.
			_ = req.Body.Close() // It was not read.
		}
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { s.cancel(ctx.Err()) })
	c.mu.Lock()
	if s.stop = stop; s.err != nil {
		stop()
	}
	c.mu.Unlock()
	// The response can begin before the request ends.
	if hasBody(req) {
		go s.send(req)
	}
	<-s.answered
	c.mu.Lock()
	defer c.mu.Unlock()
	if !s.begun {
		err := s.err
		c.mu.Unlock()
		// The caller may send the body again. It is not read after the end of the stream, but its last part may still be sent.
		s.reading.Lock()
		c.mu.Lock()
		s.reading.Unlock()
		return nil, err
	}
	resp := s.response
	s.response = nil // Its headers and its request need not stay as long as a watch.
	resp.Request = req
	if compression && strings.EqualFold(resp.Header.Get("Content-Encoding"), "gzip") && s.left != 0 {
		resp.Header.Del("Content-Encoding")
		resp.Header.Del("Content-Length")
		resp.ContentLength, resp.Uncompressed, resp.Body = -1, true, &compressed{ReadCloser: s}
	}
	return resp, nil
}

// hasBody reports whether a request has a body.
func hasBody(req *http.Request) bool { return req.Body != nil && req.Body != http.NoBody }

// open opens a stream for a request, and sends its headers. It also returns whether the response may be compressed without the knowledge
// of the caller.
func (c *conn) open(req *http.Request) (*stream, bool, error) {
	select {
	case c.writing <- struct{}{}:
		defer func() { <-c.writing }()
	case <-req.Context().Done():
		return nil, false, req.Context().Err()
	}
	c.mu.Lock()
	if !c.isAvailable() {
		defer c.mu.Unlock()
		return nil, false, c.unavailable()
	}
	reused := c.next > firstID
	s := &stream{
		conn: c, id: c.next, changed: sync.Cond{L: &c.mu}, answered: make(chan struct{}), left: -1,
		sendable: c.window, window: streamWindow, sent: !hasBody(req),
	}
	c.next += 2
	c.streams[s.id] = s
	frame := c.mostFrame
	c.mu.Unlock()
	if t := httptrace.ContextClientTrace(req.Context()); t != nil && t.GotConn != nil {
		t.GotConn(httptrace.GotConnInfo{Conn: c.net, Reused: reused})
	}
	compression := c.pool.compression && req.Method != http.MethodHead && req.Header.Get("Accept-Encoding") == "" && req.Header.Get("Range") == ""
	if c.writeLocked(func(w *http2.Framer) error { return c.writeHeaders(w, s, fieldsOf(req, compression), int(frame)) }) != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		return nil, false, closedBy(c.err)
	}
	return s, compression, nil
}

// writeHeaders writes the headers of a request. The caller has locked writing.
func (c *conn) writeHeaders(w *http2.Framer, s *stream, fields []hpack.HeaderField, frame int) error {
	c.block.Reset()
	for _, f := range fields {
		if err := c.encoder.WriteField(f); err != nil {
			return err
		}
	}
	first := c.block.Next(frame)
	err := w.WriteHeaders(http2.HeadersFrameParam{StreamID: s.id, BlockFragment: first, EndStream: s.sent, EndHeaders: c.block.Len() == 0})
	for err == nil && c.block.Len() > 0 {
		next := c.block.Next(frame)
		err = w.WriteContinuation(s.id, c.block.Len() == 0, next)
	}
	return err
}

// fieldsOf returns the headers of a request.
func fieldsOf(req *http.Request, compression bool) []hpack.HeaderField {
	host := req.Host
	if host == "" {
		host = req.URL.Host
	}
	method := req.Method
	if method == "" {
		method = http.MethodGet
	}
	out := []hpack.HeaderField{
		{Name: ":authority", Value: host}, {Name: ":method", Value: method}, {Name: ":path", Value: req.URL.RequestURI()},
		{Name: ":scheme", Value: "https"},
	}
	for name, values := range req.Header {
		name = strings.ToLower(name)
		switch name {
		case "host", "connection", "proxy-connection", "transfer-encoding", "upgrade", "keep-alive", "content-length":
			continue // HTTP/2 has no such headers, or they are added below.
		}
		for _, v := range values {
			out = append(out, hpack.HeaderField{Name: name, Value: v})
		}
	}
	if compression {
		out = append(out, hpack.HeaderField{Name: "accept-encoding", Value: "gzip"})
	}
	if req.ContentLength > 0 || !hasBody(req) && (method == http.MethodPost || method == http.MethodPut || method == http.MethodPatch) {
		out = append(out, hpack.HeaderField{Name: "content-length", Value: strconv.FormatInt(max(req.ContentLength, 0), 10)})
	}
	return out
}

// send sends the body of a request, and closes it. It stops when the stream ends, which may be before the request is complete.
func (s *stream) send(req *http.Request) {
	defer req.Body.Close()
	size := int64(maxFrame)
	if req.ContentLength > 0 {
		// One more byte shows the end of the body.
		size = min(size, req.ContentLength+1)
	}
	part := make([]byte, size)
	sum, last := int64(0), false
	for !last {
		n, err := s.readPart(req.Body, part)
		sum += int64(n)
		last = errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		if err != nil && !last {
			s.cancel(errors.Wrap(err, "cannot read the body of the request"))
			return
		}
		if req.ContentLength > 0 && (sum > req.ContentLength || last && sum < req.ContentLength) {
			s.cancel(errors.New("the length of the body of the request is not the announced one"))
			return
		}
		if !s.sendChunk(part[:n], last) {
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
		_ = c.write(func(w *http2.Framer) error { return w.WriteRSTStream(s.id, http2.ErrCodeCancel) })
	}
}

// sendChunk sends a part of the body of a request, as the windows permit. It returns false if the stream has ended.
func (s *stream) sendChunk(chunk []byte, last bool) bool {
	for {
		n, ended := 0, !s.waitForWindow(len(chunk))
		if ended {
			return false
		}
		// The end of a stream is announced in a frame. No data may follow it.
		err := s.conn.write(func(w *http2.Framer) error {
			if n, ended = s.reserve(len(chunk)); ended || n == 0 && len(chunk) > 0 {
				return nil
			}
			return w.WriteData(s.id, last && n == len(chunk), chunk[:n])
		})
		if ended || err != nil {
			return false
		}
		if chunk = chunk[n:]; len(chunk) == 0 {
			return true
		}
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

// reserve returns the number of bytes that can be sent in a frame, and subtracts it from the windows. It also returns whether the stream
// has ended.
func (s *stream) reserve(size int) (n int, ended bool) {
	c := s.conn
	c.mu.Lock()
	defer c.mu.Unlock()
	if s.err != nil {
		return 0, true
	}
	most := max(min(int64(size), s.sendable, c.sendable, int64(c.mostFrame)), 0)
	s.sendable -= most
	c.sendable -= most
	return int(most), false
}
