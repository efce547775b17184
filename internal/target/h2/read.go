// SPDX-License-Identifier: Apache-2.0

package h2

import (
	"io"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/crossplane-contrib/provider-kyma/internal/panics"
)

// run reads frames until the connection ends.
func (c *conn) run() {
	if c.write(nil, func(*http2.Framer) error { return nil }) != nil {
		return
	}
	c.checkLater()
	c.fail(panics.Do("the frames of a server", c.read))
}

// newReader returns a reader of frames. The table of the decoder is empty between frames.
func (c *conn) newReader(d *hpack.Decoder) *http2.Framer {
	r := http2.NewFramer(nil, c.net)
	r.SetReuseFrames()
	r.SetMaxReadFrameSize(maxFrame)
	r.ReadMetaHeaders, r.MaxHeaderListSize = d, maxHeaders
	return r
}

// read reads frames until one of them cannot be read, or must not be sent.
func (c *conn) read() error {
	d := hpack.NewDecoder(0, nil)
	r := c.newReader(d)
	for {
		f, err := r.ReadFrame()
		if e := (http2.StreamError{}); errors.As(err, &e) {
			c.reset(e.StreamID, e.Code, e)
			continue
		}
		if err != nil {
			c.explain(err)
			return err
		}
		c.mu.Lock()
		c.frame, c.pinged = time.Now(), time.Time{}
		c.wakeHeard()
		c.mu.Unlock()
		size := f.Header().Length
		if err := c.handle(f); err != nil {
			c.explain(err)
			return err
		}
		if size > keptFrame && size < maxFrame {
			r = c.newReader(d)
		}
	}
}

// explain sends a reason to the server before the connection is closed because of a violation of the protocol.
func (c *conn) explain(err error) {
	if code := http2.ConnectionError(0); errors.As(err, &code) {
		_ = c.write(nil, func(w *http2.Framer) error { return w.WriteGoAway(0, http2.ErrCode(code), nil) }) // The connection is closed anyway.
	}
}

// handle handles a frame. It returns an error if the connection must be closed.
func (c *conn) handle(f http2.Frame) error {
	if err := c.demand(f); err != nil {
		return err
	}
	switch f := f.(type) {
	case *http2.DataFrame:
		return c.data(f)
	case *http2.MetaHeadersFrame:
		return c.headers(f)
	case *http2.RSTStreamFrame:
		c.resetByServer(f)
	case *http2.SettingsFrame:
		return c.settings(f)
	case *http2.WindowUpdateFrame:
		return c.increase(f)
	case *http2.PingFrame:
		if !f.IsAck() {
			return c.write(nil, func(w *http2.Framer) error { return w.WritePing(true, f.Data) })
		}
	case *http2.GoAwayFrame:
		c.leave(f.LastStreamID)
	case *http2.PushPromiseFrame:
		return http2.ConnectionError(http2.ErrCodeProtocol)
	}
	return nil
}

// data adds data to a stream. What the stream does not keep counts as read.
func (c *conn) data(f *http2.DataFrame) error {
	size := int64(f.Length)
	c.mu.Lock()
	s := c.streams[f.StreamID]
	if s == nil && f.StreamID >= c.next {
		c.mu.Unlock()
		return http2.ConnectionError(http2.ErrCodeProtocol)
	}
	if c.receivable -= size; c.receivable < 0 {
		c.mu.Unlock()
		return http2.ConnectionError(http2.ErrCodeFlowControl)
	}
	kept, code := 0, http2.ErrCodeNo
	if s != nil {
		before := s.data.Len()
		code = s.add(f.Data(), size, f.StreamEnded())
		kept = s.data.Len() - before
	}
	increase := c.free(size - int64(kept))
	c.mu.Unlock()
	if code != http2.ErrCodeNo {
		c.reset(f.StreamID, code, http2.StreamError{StreamID: f.StreamID, Code: code})
	}
	return c.permit(increase, 0, 0)
}

// free counts bytes that were read or dropped. It returns the number of bytes that the server must be permitted to send, or 0. The caller
// holds mu.
func (c *conn) free(n int64) int64 {
	if c.freed += n; c.freed < updateAt {
		return 0
	}
	increase := c.freed
	c.receivable, c.freed = c.receivable+increase, 0
	return increase
}

// permit permits the server to send more bytes on all streams together, and on one of them. Both numbers can be 0.
func (c *conn) permit(all int64, id uint32, one int64) error {
	if all == 0 && one == 0 {
		return nil
	}
	return c.write(nil, func(w *http2.Framer) error { return errors.Join(writeUpdate(w, 0, all), writeUpdate(w, id, one)) })
}

// writeUpdate writes the number of bytes that the server can send in addition, unless it is 0.
func writeUpdate(w *http2.Framer, id uint32, n int64) error {
	if n == 0 {
		return nil
	}
	return w.WriteWindowUpdate(id, uint32(n)) //nolint:gosec // It is at most the window.
}

// headers begins the response of a stream, or ends it with trailers.
func (c *conn) headers(f *http2.MetaHeadersFrame) error {
	c.mu.Lock()
	s := c.streams[f.StreamID]
	if s == nil {
		defer c.mu.Unlock()
		if f.StreamID >= c.next {
			return http2.ConnectionError(http2.ErrCodeProtocol)
		}
		return nil
	}
	code := s.begin(f)
	c.mu.Unlock()
	if code != http2.ErrCodeNo {
		c.reset(f.StreamID, code, http2.StreamError{StreamID: f.StreamID, Code: code})
	}
	return nil
}

// reset ends a stream with an error, and informs the server.
func (c *conn) reset(id uint32, code http2.ErrCode, err error) {
	c.mu.Lock()
	s := c.streams[id]
	if s != nil {
		s.end(err)
		c.forget(s)
	}
	c.mu.Unlock()
	if s != nil {
		// If it fails, the connection is closed.
		_ = c.write(nil, func(w *http2.Framer) error { return w.WriteRSTStream(id, code) })
	}
}

// resetByServer ends a stream that the server reset. A server that has sent its response can use the code NO_ERROR to stop the request.
func (c *conn) resetByServer(f *http2.RSTStreamFrame) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.streams[f.StreamID]
	if s == nil {
		return
	}
	err := error(&resetError{f.ErrCode})
	if f.ErrCode == http2.ErrCodeRefusedStream && !s.begun && s.id > firstID {
		// The request is sent again, on another connection. If that one refuses it, too, it fails.
		err, c.goAway = errUnused, true
	}
	s.end(err)
	c.forget(s)
}

// settings applies and acknowledges the settings of the server.
func (c *conn) settings(f *http2.SettingsFrame) error {
	if f.IsAck() {
		return nil
	}
	return c.write(nil, func(w *http2.Framer) error {
		if err := f.ForeachSetting(c.set); err != nil {
			return err
		}
		return w.WriteSettingsAck()
	})
}

// set applies a setting. The caller has locked writing.
func (c *conn) set(s http2.Setting) error {
	if err := s.Valid(); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch s.ID {
	case http2.SettingMaxConcurrentStreams:
		if c.mostStreams = s.Val; s.Val == 0 {
			// Each request would need a new connection, while this one stays open.
			c.goAway = true
			if len(c.streams) == 0 {
				go c.fail(errGoAway)
			}
		}
	case http2.SettingMaxFrameSize:
		c.mostFrame = s.Val
	case http2.SettingHeaderTableSize:
		c.encoder.SetMaxDynamicTableSize(s.Val)
	case http2.SettingInitialWindowSize:
		for _, stream := range c.streams {
			stream.sendable += int64(s.Val) - c.window
			stream.changed.Broadcast()
		}
		c.window = int64(s.Val)
	case http2.SettingEnablePush, http2.SettingMaxHeaderListSize, http2.SettingEnableConnectProtocol, http2.SettingNoRFC7540Priorities:
		// These concern what this client does not do. A server rejects headers that are too large.
	}
	return nil
}

// increase increases the window of a stream, or of the connection.
func (c *conn) increase(f *http2.WindowUpdateFrame) error {
	const most = 1<<31 - 1
	c.mu.Lock()
	defer c.mu.Unlock()
	if f.StreamID != 0 {
		if s := c.streams[f.StreamID]; s != nil {
			// A window that is too large is harmless: this end only sends what a request contains.
			s.sendable = min(s.sendable+int64(f.Increment), most)
			s.changed.Broadcast()
		}
		return nil
	}
	if c.sendable += int64(f.Increment); c.sendable > most {
		return http2.ConnectionError(http2.ErrCodeFlowControl)
	}
	for _, s := range c.streams {
		s.changed.Broadcast()
	}
	return nil
}

// leave opens no more streams, and ends the streams that the server has not processed.
func (c *conn) leave(lastID uint32) {
	c.mu.Lock()
	c.goAway = true
	for _, s := range c.streams {
		if s.id <= lastID {
			continue
		}
		err := errUnused
		if s.id == firstID {
			err = errGoAway // As for a refused request, this ends the attempts.
		}
		s.end(err)
		c.forget(s)
	}
	unused := len(c.streams) == 0
	c.mu.Unlock()
	if unused {
		c.fail(errGoAway)
	}
}

// closedBy returns the error of a body whose connection was closed in the middle of a response.
func closedBy(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
