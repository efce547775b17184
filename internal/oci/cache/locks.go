// SPDX-License-Identifier: Apache-2.0

package cache

import (
	"context"
	"sync"
)

// locks holds mutexes by name; a caller can stop waiting for one. The zero value is ready for use.
type locks struct {
	mu   sync.Mutex
	held map[string]*namedLock
}

type namedLock struct {
	slot  chan struct{}
	users int
}

// lock waits until no other caller holds name, and returns the function that unlocks it.
func (l *locks) lock(ctx context.Context, name string) (unlock func(), err error) {
	l.mu.Lock()
	if l.held == nil {
		l.held = map[string]*namedLock{}
	}
	n, ok := l.held[name]
	if !ok {
		n = &namedLock{slot: make(chan struct{}, 1)}
		l.held[name] = n
	}
	n.users++
	l.mu.Unlock()

	select {
	case n.slot <- struct{}{}:
		return func() {
			<-n.slot
			l.release(name, n)
		}, nil
	case <-ctx.Done():
		l.release(name, n)
		return nil, context.Cause(ctx)
	}
}

func (l *locks) release(name string, n *namedLock) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n.users--
	if n.users == 0 {
		delete(l.held, name)
	}
}
