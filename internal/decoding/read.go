// SPDX-License-Identifier: Apache-2.0

package decoding

import (
	"context"
	"io"
)

// free is the number of bytes of a response that do not count while it is read.
const free = 64 << 10

// first is the size of the first buffer.
const first = 512

// A Source is a response, or an event of one, that is read as a whole.
type Source struct {
	io.Reader

	ContentType string
	// Expected is the number of bytes that the sender announced, if any, and Most the maximum, which is not larger than Response.
	Expected, Most int64
	// Skip is the number of bytes at the beginning that are not part of the content.
	Skip int
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
	if err := p.complete(); err != nil {
		return nil, nil, err
	}
	release, err = b.acquire(ctx, s.ContentType, content[min(s.Skip, len(content)):])
	return content, release, err
}

// readAll reads a source into a buffer, whose growth it takes from the budget.
func readAll(ctx context.Context, s Source, p *part) ([]byte, error) {
	buffer := make([]byte, 0, min(max(s.Expected+1, first), free))
	for {
		if len(buffer) == cap(buffer) {
			grown := min(2*cap(buffer), int(s.Most)+1)
			if more := int64(grown - max(cap(buffer), free)); more > 0 {
				if err := p.take(ctx, more); err != nil {
					return nil, err
				}
			}
			buffer = append(make([]byte, 0, grown), buffer...)
		}
		n, err := s.Reader.Read(buffer[len(buffer):cap(buffer)])
		buffer = buffer[:len(buffer)+n]
		switch {
		case int64(len(buffer)) > s.Most:
			return nil, ErrTooLarge
		case err == io.EOF:
			return buffer, nil
		case err != nil:
			return nil, err
		}
	}
}
