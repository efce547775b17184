// SPDX-License-Identifier: Apache-2.0

package decoding

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

const (
	// archivePatience is the time in which an archive must be pulled and unpacked, while others wait for its memory.
	archivePatience = 10 * time.Second

	// smallest is the size of the first buffer for content of unknown size.
	smallest = 4 << 10
)

// ErrArchivesBusy means that an archive was not pulled and unpacked in time while others waited for its memory, or that it waited
// too long for others.
var ErrArchivesBusy error = &busyError{}

type busyError struct{}

func (*busyError) Error() string {
	return "too many large archives are being pulled or unpacked at the same time; the provider tries again"
}

// Retryable returns true, because the others end.
func (*busyError) Retryable() bool { return true }

// An ArchiveError reports that an archive needs more memory than one can get.
type ArchiveError struct{ most int64 }

// Error returns a message that contains the maximum.
func (e *ArchiveError) Error() string {
	return fmt.Sprintf("the archive and its unpacked content are larger than %d bytes, the maximum for the memory limit of the provider; "+
		"increase this limit, --max-archive-size or --max-unpacked-size", e.most)
}

// Archives bounds the size of all archives that are pulled or unpacked at the same time. It is safe for concurrent use. If it is nil,
// there is no bound.
//
// An archive waits until there is memory for its next bytes. The oldest one always gets the memory that it needs, unless it takes too
// long while others wait. Therefore, they do not wait for each other, and servers that send slowly do not delay others for long.
type Archives struct{ raw *raw }

// NewArchives returns a bound of a number of bytes. A single archive can use three quarters of it.
func NewArchives(size int64) *Archives {
	return &Archives{raw: newRaw(size, size/4*3, archivePatience, ErrArchivesBusy)}
}

type archiveKey struct{}

// A heldArchive is the memory of one archive, which includes its unpacked content.
type heldArchive struct {
	cancel context.CancelCauseFunc

	mu   sync.Mutex
	part *part // nil until it has any
}

// HoldArchive returns a context for pulling and unpacking one archive, and a function to call when the archive and its content are no
// longer used. The context ends if the archive takes too long while others wait. Everything that is pulled with the context, or with a
// context from it, counts together. Nothing counts with other contexts.
func HoldArchive(ctx context.Context) (context.Context, func()) {
	if archiveOf(ctx) != nil {
		return ctx, func() {}
	}
	h := &heldArchive{}
	ctx, h.cancel = context.WithCancelCause(context.WithValue(ctx, archiveKey{}, h))
	return ctx, h.release
}

// TakeArchive reserves n bytes for content that is unpacked from the archive of a context, and waits until they are available. It does not
// wait if the archive was pulled without a bound.
func TakeArchive(ctx context.Context, n int64) error {
	p := archiveOf(ctx).get(nil)
	if p == nil {
		return nil
	}
	if !p.fits(n) {
		return &ArchiveError{most: p.raw.most}
	}
	err := p.take(ctx, n)
	if errors.Is(err, context.DeadlineExceeded) {
		return ErrArchivesBusy
	}
	return err
}

// FinishArchive means that the archive of a context needs no more memory. The context no longer ends because others wait.
func FinishArchive(ctx context.Context) error {
	if p := archiveOf(ctx).get(nil); p != nil {
		return p.finish()
	}
	return nil
}

func archiveOf(ctx context.Context) *heldArchive {
	h, _ := ctx.Value(archiveKey{}).(*heldArchive)
	return h
}

// get returns the memory of the archive, which begins in a raw memory unless that is nil.
func (h *heldArchive) get(r *raw) *part {
	if h == nil {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.part == nil && r != nil {
		h.part = r.begin(func() { h.cancel(ErrArchivesBusy) })
	}
	return h.part
}

func (h *heldArchive) release() {
	if p := h.get(nil); p != nil {
		p.end()
	}
	h.cancel(nil)
}

// Take waits until there is memory for more bytes of the archive of a context.
func (a *Archives) Take(ctx context.Context, n int64) error {
	if a == nil {
		return nil
	}
	archiveOf(ctx).get(a.raw)
	return TakeArchive(ctx, n)
}

// Give releases n bytes that were reserved for the archive of a context.
func (a *Archives) Give(ctx context.Context, n int64) {
	if h := archiveOf(ctx); a != nil && h != nil {
		h.get(a.raw).give(n)
	}
}

// Read reads the content of a server to its end, and takes the memory for it. Expected is the size that the server announced, or
// negative. The error is ErrTooLarge if the content has more than most bytes.
func (a *Archives) Read(ctx context.Context, in io.Reader, expected, most int64) ([]byte, error) {
	if expected > most {
		return nil, ErrTooLarge
	}
	// One more byte finds the end without a second buffer.
	next := min(expected, most) + 1
	if expected < 0 {
		next = min(smallest, most+1)
	}
	var b []byte
	for {
		if len(b) == cap(b) {
			if err := a.Take(ctx, next); err != nil {
				a.Give(ctx, int64(cap(b)))
				return nil, err
			}
			full := b
			b = append(make([]byte, 0, next), full...)
			a.Give(ctx, int64(cap(full)))
			next = min(2*next, most+1)
		}
		n, err := in.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		if int64(len(b)) > most {
			err = ErrTooLarge
		}
		switch {
		case err == io.EOF:
			return b, nil
		case err != nil:
			a.Give(ctx, int64(cap(b)))
			return nil, reason(ctx, err)
		}
	}
}

// reason returns ErrArchivesBusy if an error is the consequence of an archive that took too long.
func reason(ctx context.Context, err error) error {
	if errors.Is(context.Cause(ctx), ErrArchivesBusy) {
		return ErrArchivesBusy
	}
	return err
}
