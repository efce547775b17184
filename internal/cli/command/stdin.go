// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"io"
)

// Limit what is read from stdin to the time of a command. A pipe, or a person,
// may never end it.
func (e *Environment) Limit(ctx context.Context) {
	if e.In != nil {
		e.In = &limitedReader{stop: ctx, in: e.In}
	}
}

type limitedReader struct {
	stop context.Context //nolint:containedctx // A reader has no other way to know when to stop.
	in   io.Reader
}

type chunk struct {
	data []byte
	err  error
}

// Read implements io.Reader. A read that nothing answers goes on without its
// reader, until the process ends.
func (l *limitedReader) Read(p []byte) (int, error) {
	if err := l.stop.Err(); err != nil {
		return 0, err
	}
	// The buffer is not that of the caller, who may be gone.
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
