// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"context"
	"sync/atomic"
	"time"
)

// rest parks the watcher for the duration of a pause, or until the kind is requested or the current attempt ends.
func (w *watcher) rest(pause time.Duration) progress {
	k, ctx := w.kind, w.context()
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.requested {
		k.requested = false
		return working
	}
	r := &rest{watcher: w}
	r.timer, r.stop = time.AfterFunc(pause, r.end), context.AfterFunc(ctx, r.end)
	k.resting = r
	return parked
}

// A rest is a pause of a watcher.
type rest struct {
	watcher *watcher
	ended   atomic.Bool
	timer   *time.Timer
	stop    func() bool
}

// end ends the pause and continues to work, unless it has ended already.
func (r *rest) end() {
	if !r.ended.CompareAndSwap(false, true) {
		return
	}
	k := r.watcher.kind
	// The lock ensures that all fields are set.
	k.mu.Lock()
	if k.resting == r {
		k.resting = nil
	}
	r.timer.Stop()
	r.stop()
	k.mu.Unlock()
	r.watcher.run()
}
