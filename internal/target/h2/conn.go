// SPDX-License-Identifier: Apache-2.0

package h2

import (
	"bytes"
	"crypto/tls"
	"maps"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/crossplane-contrib/provider-kyma/internal/sendcheck"
)

const (
	// streamWindow is the number of bytes that a server can send on a stream before they are read, and connWindow is that of all streams of
	// a connection together. It has room for a few streams whose readers wait, so that they do not delay the others.
	streamWindow = 1 << 20
	connWindow   = 4 << 20
	// updateAt is the number of bytes that are read before the server is permitted to send as many again. It is a small part of both windows,
	// because the server cannot use what it does not know of.
	updateAt = streamWindow / 4
	// maxFrame is the maximum size of a frame that is received. maxHeaders is that of the headers of a response.
	maxFrame   = 16 << 10
	maxHeaders = 1 << 20
	// keptFrame is the size of a frame after which a connection drops its buffer for frames, because connections are quiet most of the
	// time. It keeps the buffer after a frame of the maximum size, which usually is not the last one.
	keptFrame = 1 << 10
	// firstID is the ID of the first stream of a connection.
	firstID = 1
	// writeTime is the maximum duration of a write.
	writeTime = 30 * time.Second
	// mostDemands is the maximum number of PING and SETTINGS frames within demandTime. Each of them has to be answered, which takes more
	// time than to send it. A server needs a few per minute.
	mostDemands = 10_000
	demandTime  = time.Minute
)

// A conn is a connection to a server. It is an http.RoundTripper.
type conn struct {
	pool  *Pool
	net   net.Conn
	state *tls.ConnectionState
	// raw is the connection below TLS, or nil if it is not known.
	raw *checkedConn

	// demands counts the frames that had to be answered since a time. Only the goroutine that reads frames uses them.
	demands  int
	demanded time.Time

	// writing contains a value while frames are written. It guards the fields below, and is locked before mu. A write can take some time,
	// so those who wait for it can stop when their context ends.
	writing chan struct{}
	out     bytes.Buffer
	writer  *http2.Framer
	encoder *hpack.Encoder
	block   bytes.Buffer // The headers that the encoder encoded.

	// mu guards the fields below, and the streams.
	mu      sync.Mutex
	streams map[uint32]*stream
	// next is the ID of the next stream. The IDs of streams of clients are odd.
	next uint32
	// These are the settings of the server.
	mostStreams, mostFrame uint32
	window                 int64
	// sendable is the number of bytes that can be sent on all streams together, and receivable is the number of bytes that the server can
	// send. freed is the number of bytes that were read or dropped since the server was last permitted to send more.
	sendable, receivable, freed int64
	// goAway is true if the server accepts no more streams. err is not nil if the connection is closed.
	goAway bool
	err    error
	// reported is true after a request failed because the connection was closed before its first request.
	reported bool
	// frame is the time of the last frame, and pinged that of a ping after it, or zero. unused is the time since which there is no
	// stream.
	frame, pinged, unused time.Time
	// timer calls check, at the time due.
	timer *time.Timer
	due   time.Time
	// heard is closed when the next frame arrives. It is nil if nothing waits for this.
	heard chan struct{}
}

func newConn(p *Pool, c net.Conn, state *tls.ConnectionState) *conn {
	now := time.Now()
	out := &conn{
		pool: p, net: c, state: state, writing: make(chan struct{}, 1), streams: map[uint32]*stream{}, next: firstID, mostStreams: 100,
		mostFrame: 16 << 10, window: 65535, sendable: 65535, receivable: connWindow, frame: now, unused: now,
	}
	out.writer = http2.NewFramer(&out.out, nil)
	// Tables of header fields, for thousands of connections at rest, would need more memory than they save in requests.
	out.encoder = hpack.NewEncoder(&out.block)
	out.encoder.SetMaxDynamicTableSizeLimit(0)
	// The first write sends this, whatever else it sends.
	out.out.WriteString(http2.ClientPreface)
	_ = out.writer.WriteSettings( // A buffer returns no error.
		http2.Setting{ID: http2.SettingHeaderTableSize, Val: 0},
		http2.Setting{ID: http2.SettingEnablePush, Val: 0},
		http2.Setting{ID: http2.SettingInitialWindowSize, Val: streamWindow},
		http2.Setting{ID: http2.SettingMaxHeaderListSize, Val: maxHeaders},
	)
	_ = out.writer.WriteWindowUpdate(0, connWindow-65535)
	return out
}

// available reports whether a stream can be opened.
func (c *conn) available() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.isAvailable()
}

// isAvailable reports whether a stream can be opened. The caller holds mu.
func (c *conn) isAvailable() bool {
	const mostID = 1 << 30
	return c.err == nil && !c.goAway && uint32(len(c.streams)) < c.mostStreams && c.next < mostID //nolint:gosec // There are not that many.
}

// unavailable returns the error of a request that needs another connection. If the server closed a connection that was never used, one
// request fails with the reason: otherwise, a server that closes each new connection would cause one after the other. The caller holds mu.
func (c *conn) unavailable() error {
	if c.next > firstID || c.reported || errors.Is(c.err, errIdle) {
		return errUnused
	}
	c.reported = true
	if c.err != nil {
		return closedBy(c.err)
	}
	return errGoAway
}

// write calls a function that writes frames, and sends them, unless a check fails immediately before. The check can be nil.
func (c *conn) write(check func() error, f func(w *http2.Framer) error) error {
	c.writing <- struct{}{}
	defer func() { <-c.writing }()
	if err := runCheck(check); err != nil {
		return err
	}
	return c.writeLocked(check, f)
}

// runCheck runs a check, which can be nil.
func runCheck(check func() error) error {
	if check == nil {
		return nil
	}
	return check()
}

// writeLocked is like write for a caller that has locked writing and has run the check. If the connection below TLS is known, the check runs
// again after the encryption. If it then fails, the connection is closed, because the next record would not follow the previous one.
func (c *conn) writeLocked(check func() error, f func(w *http2.Framer) error) error {
	err := f(c.writer)
	if err == nil && c.out.Len() > 0 {
		if c.raw != nil && check != nil {
			c.raw.check.Store(&check)
		}
		_ = c.net.SetWriteDeadline(time.Now().Add(writeTime)) // If it fails, so does the write.
		_, err = c.net.Write(c.out.Bytes())
		// TLS can write later, too.
		_ = c.net.SetWriteDeadline(time.Time{})
		if c.raw != nil {
			c.raw.check.Store(nil)
		}
	}
	// Connections are quiet most of the time, and must not keep buffers.
	c.out, c.block = bytes.Buffer{}, bytes.Buffer{}
	c.writer = http2.NewFramer(&c.out, nil)
	if refused := (*sendcheck.Error)(nil); errors.As(err, &refused) {
		// TLS would send an alert, and the server would miss the record before it.
		_ = c.raw.Close()
		c.fail(ErrStopped) // Others must not believe that their requests were refused.
	} else if err != nil {
		c.fail(err)
	}
	return err
}

// fail closes the connection, and ends all streams with an error.
func (c *conn) fail(err error) {
	c.mu.Lock()
	if c.err != nil {
		c.mu.Unlock()
		return
	}
	c.err = err
	c.wakeHeard()
	streams := slices.Collect(maps.Values(c.streams))
	for _, s := range streams {
		s.end(closedBy(err))
	}
	if c.timer != nil {
		c.timer.Stop()
	}
	c.mu.Unlock()
	c.pool.remove(c)
	_ = c.net.Close() // It is not used anymore.
}

// forget removes a stream that is not used anymore. The caller holds mu. It closes the connection if that was its last stream.
func (c *conn) forget(s *stream) {
	if c.streams[s.id] != s {
		return
	}
	delete(c.streams, s.id)
	if len(c.streams) > 0 {
		return
	}
	c.unused = time.Now()
	if c.goAway {
		go c.fail(errGoAway)
	}
}
