// SPDX-License-Identifier: Apache-2.0

package h2

import (
	"cmp"
	"context"
	"io"
	"net/http"
	"net/http/httptrace"
	"strconv"
	"strings"
	"sync"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"golang.org/x/net/http/httpguts"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/crossplane-contrib/provider-kyma/internal/sendcheck"
)

// RoundTrip sends a request, and returns its response when its headers have been received. It returns a *sendcheck.Error if the check in
// the context of the request fails before the whole request has been sent.
func (c *conn) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx, compression := req.Context(), c.pool.compresses(req)
	whole, err := wholeBody(req)
	if err != nil {
		return nil, err
	}
	s, sent, err := c.open(req, fieldsOf(req, compression), whole)
	if err != nil {
		if err != errUnused && hasBody(req) { //nolint:errorlint // It is not wrapped.
			_ = req.Body.Close() // It is not needed.
		}
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { s.cancel(ctx.Err()) })
	c.mu.Lock()
	if s.stop = stop; s.err != nil {
		stop()
	}
	c.mu.Unlock()
	if hasBody(req) {
		s.sendRest(req, whole, sent)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if s.await(); !s.begun {
		err := s.err
		c.mu.Unlock()
		// The caller may send the body again. It is not read after the end of the stream, but its last part may still be sent.
		s.reading.Lock()
		if hasBody(req) {
			_ = req.Body.Close() // Otherwise, the goroutine that sends it would close it after this returns.
		}
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

// wholeBody returns the body of a request if it is in memory and fits into a frame, and nil otherwise. It reads the body in this case.
func wholeBody(req *http.Request) ([]byte, error) {
	if !hasBody(req) || req.GetBody == nil || req.ContentLength <= 0 || req.ContentLength > maxFrame {
		return nil, nil
	}
	// One more byte shows the end of the body.
	b := make([]byte, req.ContentLength+1)
	n, err := io.ReadFull(req.Body, b)
	if int64(n) == req.ContentLength && errors.Is(err, io.ErrUnexpectedEOF) {
		return b[:n], nil
	}
	_ = req.Body.Close() // It cannot be sent.
	if err == nil || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, errLength
	}
	return nil, errors.Wrap(err, errBody)
}

// compresses reports whether the response to a request may be compressed without the knowledge of the caller.
func (p *Pool) compresses(req *http.Request) bool {
	return p.compression && req.Method != http.MethodHead && req.Header.Get("Accept-Encoding") == "" && req.Header.Get("Range") == ""
}

// open opens a stream for a request, and sends its headers. If its whole body is known, it sends as much of it as the windows permit
// at the same time, and returns the number of bytes that it sent.
func (c *conn) open(req *http.Request, fields []hpack.HeaderField, whole []byte) (*stream, int, error) {
	select {
	case c.writing <- struct{}{}:
		defer func() { <-c.writing }()
	case <-req.Context().Done():
		return nil, 0, req.Context().Err()
	}
	check := sendcheck.Of(req.Context())
	if err := runCheck(check); err != nil {
		return nil, 0, err
	}
	s, n, frame, err := c.newStream(req, whole)
	if err != nil {
		return nil, 0, err
	}
	if t := httptrace.ContextClientTrace(req.Context()); t != nil && t.GotConn != nil {
		t.GotConn(httptrace.GotConnInfo{Conn: c.net, Reused: s.id > firstID})
	}
	last := !hasBody(req) || whole != nil && n == len(whole)
	err = c.writeLocked(check, func(w *http2.Framer) error {
		return errors.Join(c.writeHeaders(w, s.id, fields, frame, last && n == 0), writeData(w, s.id, last, whole[:n]))
	})
	if err != nil {
		return nil, 0, c.unsent(check, err)
	}
	return s, n, nil
}

// unsent returns the error of a request whose check, which can be nil, or whose write failed.
func (c *conn) unsent(check func() error, err error) error {
	if refused := (*sendcheck.Error)(nil); check != nil && errors.As(err, &refused) {
		return refused
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return closedBy(c.err)
}

// newStream returns a stream for a request, the number of bytes of its whole body that the windows permit, and the maximum size of a frame.
func (c *conn) newStream(req *http.Request, whole []byte) (s *stream, n, frame int, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.isAvailable() {
		return nil, 0, 0, c.unavailable()
	}
	s = &stream{
		conn: c, id: c.next, changed: sync.Cond{L: &c.mu}, left: -1,
		sendable: c.window, window: streamWindow,
	}
	n = s.take(len(whole))
	s.sent = !hasBody(req) || whole != nil && n == len(whole)
	c.next += 2
	c.streams[s.id] = s
	return s, n, int(c.mostFrame), nil
}

// writeData writes the beginning of the body of a request, unless it is empty.
func writeData(w *http2.Framer, id uint32, last bool, data []byte) error {
	if len(data) == 0 {
		return nil
	}
	return w.WriteData(id, last, data)
}

// writeHeaders writes the headers of a request in frames of a maximum size. The caller has locked writing.
func (c *conn) writeHeaders(w *http2.Framer, id uint32, fields []hpack.HeaderField, frame int, last bool) error {
	c.block.Reset()
	for _, f := range fields {
		if err := c.encoder.WriteField(f); err != nil {
			return err
		}
	}
	first := c.block.Next(frame)
	err := w.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: first, EndStream: last, EndHeaders: c.block.Len() == 0})
	for err == nil && c.block.Len() > 0 {
		next := c.block.Next(frame)
		err = w.WriteContinuation(id, c.block.Len() == 0, next)
	}
	return err
}

// authorityOf returns the host of a request. If it is not ASCII, it is in Punycode.
func authorityOf(req *http.Request) string {
	host := cmp.Or(req.Host, req.URL.Host)
	if ascii, err := httpguts.PunycodeHostPort(host); err == nil {
		return ascii
	}
	return host
}

// fieldsOf returns the headers of a request.
func fieldsOf(req *http.Request, compression bool) []hpack.HeaderField {
	method := req.Method
	if method == "" {
		method = http.MethodGet
	}
	out := []hpack.HeaderField{
		{Name: ":authority", Value: authorityOf(req)}, {Name: ":method", Value: method}, {Name: ":path", Value: req.URL.RequestURI()},
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
