// SPDX-License-Identifier: Apache-2.0

package decoding

import (
	"bytes"
	"context"
	"io"
)

// free is the number of bytes of a response that do not count while it is read.
const free = 64 << 10

// first is the size of the first chunk, and largest is the maximum size of a chunk. Each chunk is as large as those before it together, so
// that small responses need little memory, and a large one has few chunks.
const (
	first   = 512
	largest = 1 << 20
)

// A Source is a response, or an event of one, that is read as a whole.
type Source struct {
	io.Reader

	ContentType string
	// Expected is the number of bytes that the sender announced, if any, and Most the maximum, which is not larger than Response.
	Expected, Most int64
	// Skip is the number of bytes at the beginning that are not part of the content.
	Skip int
	// Failed is true if the response is an error. A Hold keeps it only until the next request, see ReleaseErrors.
	Failed bool
	// Abort ends the request, so that Read returns an error.
	Abort context.CancelFunc
}

// IsProtobuf reports whether the content is in the binary format of Kubernetes.
func (s *Source) IsProtobuf() bool { return isProtobuf(s.ContentType) }

// Read reads a source to its end, and waits until the budget has room for its decoded content. Release returns this memory to the
// budget if there is no Hold. Errors are those of the source, ErrTooLarge, ErrBusy, and the cause of the context.
func (b *Budget) Read(ctx context.Context, s Source) (content []byte, release func(), err error) {
	p := b.raw.begin(s.Abort)
	defer p.end()
	if content, err = readAll(ctx, s, p); err != nil {
		return nil, nil, p.reason(err)
	}
	if err := p.finish(); err != nil {
		return nil, nil, err
	}
	release, err = b.acquire(ctx, &s, content[min(s.Skip, len(content)):])
	return content, release, err
}

// readAll reads a source into chunks, whose memory it takes from the budget, and joins them. It reads nothing if the sender announced more
// than the maximum.
func readAll(ctx context.Context, s Source, p *part) ([]byte, error) {
	if s.Expected > s.Most {
		return nil, ErrTooLarge
	}
	var full [][]byte
	var size int64
	chunk := make([]byte, 0, min(max(s.Expected+1, first), free))
	for {
		if len(chunk) == cap(chunk) {
			full = append(full, chunk)
			next := min(size, largest, s.Most+1-size)
			if more := min(next, size+next-free); more > 0 {
				if err := p.take(ctx, more); err != nil {
					return nil, err
				}
			}
			chunk = make([]byte, 0, next)
		}
		n, err := s.Reader.Read(chunk[len(chunk):cap(chunk)])
		chunk, size = chunk[:len(chunk)+n], size+int64(n)
		switch {
		case size > s.Most:
			return nil, ErrTooLarge
		case err == io.EOF && full == nil:
			return chunk, nil
		case err == io.EOF:
			return bytes.Join(append(full, chunk), nil), nil
		case err != nil:
			return nil, err
		}
	}
}
