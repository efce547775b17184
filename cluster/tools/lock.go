// SPDX-License-Identifier: Apache-2.0

package tools

import (
	"context"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// lock locks a file and returns a function that unlocks it. If another process holds the lock, it waits until ctx is
// done. The lock ends with the process.
func lock(ctx context.Context, path string) (func(), error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644) //nolint:gosec // An empty file.
	if err != nil {
		return nil, errors.Wrap(err, "cannot open the lock file")
	}
	waiting := false
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return func() { _ = f.Close() }, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			_ = f.Close()
			return nil, errors.Wrapf(err, "cannot lock %q", path)
		}
		if !waiting {
			waiting = true
			_, _ = fmt.Fprint(os.Stderr, " (waiting for a build in another process)")
		}
		select {
		case <-ctx.Done():
			_ = f.Close()
			return nil, errors.Wrapf(ctx.Err(), "another process holds the lock %q", path)
		case <-time.After(200 * time.Millisecond):
		}
	}
}
