// SPDX-License-Identifier: Apache-2.0

//go:build unix

package layout

import (
	"context"
	"os"
	"syscall"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// tryLock locks a file against other processes, and against other goroutines that opened it themselves, until it is
// closed. It returns false if the file is already locked.
func tryLock(f *os.File) (bool, error) {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}

// lock is like tryLock, but waits for the lock.
func lock(ctx context.Context, f *os.File) error {
	for d := time.Millisecond; ; d = min(2*d, 50*time.Millisecond) {
		if ok, err := tryLock(f); ok || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(d):
		}
	}
}
