// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"io"
)

// Limit ends reads from stdin when ctx ends. Without it, a pipe or a terminal could block a command forever.
func (e *Environment) Limit(ctx context.Context) {
	if e.In != nil {
		e.In = &limitedReader{stop: ctx, in: e.In}
	}
}

type limitedReader struct {
	stop context.Context //nolint:containedctx // io.Reader has no parameter for it.
	in   io.Reader
}

type chunk struct {
	data []byte
	err  error
}

// Read implements io.Reader. If it returns because the context ended, the blocked read continues in the background until the
// process ends.
func (l *limitedReader) Read(p []byte) (int, error) {
	if err := l.stop.Err(); err != nil {
		return 0, err
	}
	// Don't read into p: the caller may have returned before the read ends.
	got := make(chan chunk, 1)
	go func() {
		data := make([]byte, len(p))
		n, err := l.in.Read(data)
		got <- chunk{data[:n], err}
	}()
	select {
	case <-l.stop.Done():
		return 0, l.stop.Err()
	case c := <-got:
		return copy(p, c.data), c.err
	}
}
