// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/crossplane-contrib/provider-kyma/internal/decoding"
)

// longestPause is the maximum time between two parts of an event. After that, the server has stalled.
const longestPause = time.Minute

// events returns the events of a watch, one at a time. In JSON, each of them ends with a line break, and otherwise begins with its
// length.
func events(s decoding.Source) (in *stream, next func() (decoding.Source, error)) {
	in = &stream{in: s.Reader, abort: s.Abort}
	return in, func() (decoding.Source, error) {
		in.begun = false
		if len(in.rest) == 0 && in.err != nil {
			return s, in.err
		}
		s.Reader = &line{stream: in}
		if s.IsProtobuf() {
			s.Reader, s.Skip = &message{stream: in, most: s.Most}, prefix
		}
		return s, nil
	}
}

// A stream contains the data that an API server sends for a watch.
type stream struct {
	in    io.Reader
	abort context.CancelFunc
	// begun is true if a part of the current event was read.
	begun bool
	// rest contains the bytes that were read beyond the end of an event, and err is the error at the end of the stream.
	rest []byte
	err  error
}

func (s *stream) Read(p []byte) (int, error) {
	if len(s.rest) > 0 {
		n := copy(p, s.rest)
		s.rest, s.begun = s.rest[n:], true
		return n, nil
	}
	if s.err != nil {
		return 0, s.err
	}
	n, err := s.receive(p)
	s.begun, s.err = s.begun || n > 0, err
	return n, err
}

// receive waits for data. Within an event, it waits for a limited time, and then aborts the request as if the connection was lost.
func (s *stream) receive(p []byte) (int, error) {
	if !s.begun {
		return s.in.Read(p)
	}
	stalled := time.AfterFunc(longestPause, s.abort)
	n, err := s.in.Read(p)
	if !stalled.Stop() {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// A line reads from a stream up to the next line break.
type line struct {
	*stream

	ended bool
}

func (l *line) Read(p []byte) (int, error) {
	if l.ended {
		return 0, io.EOF
	}
	n, err := l.stream.Read(p)
	if i := bytes.IndexByte(p[:n], '\n'); i >= 0 {
		l.ended, l.rest = true, append(bytes.Clone(p[i+1:n]), l.rest...)
		return i + 1, nil
	}
	return n, err
}

// isEndOfList reports whether an event is the bookmark at the end of a streamed list. The type is at the beginning of each event.
func isEndOfList(event []byte) bool {
	const most = len(`{"type":"BOOKMARK"`)
	return bytes.Contains(event[:min(len(event), most)], []byte(watch.Bookmark)) && bytes.Contains(event, []byte(metav1.InitialEventsAnnotationKey))
}

// prefix is the number of bytes of the length of a message.
const prefix = 4

// A message reads from a stream up to the end of a message that begins with its length.
type message struct {
	*stream

	most int64
	head []byte
	left int64
}

func (m *message) Read(p []byte) (int, error) {
	if len(m.head) < prefix {
		n, err := m.stream.Read(p[:min(len(p), prefix-len(m.head))])
		if m.head = append(m.head, p[:n]...); len(m.head) == prefix {
			m.left = int64(binary.BigEndian.Uint32(m.head))
		}
		if m.left > m.most {
			return n, decoding.ErrTooLarge
		}
		return n, err
	}
	if m.left == 0 {
		return 0, io.EOF
	}
	n, err := m.stream.Read(p[:min(int64(len(p)), m.left)])
	m.left -= int64(n)
	return n, err
}
