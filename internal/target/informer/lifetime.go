// SPDX-License-Identifier: Apache-2.0

package informer

import "context"

// A lifetime is that of a watcher and of its current attempt. Most watches are idle most of the time, and have no context then. The mutex of the kind
// guards its fields.
type lifetime struct {
	// ended is true if the watcher must end. attempting is true during an attempt, and aborted is true if it must end. Only the watcher changes
	// attempting.
	ended, attempting, aborted bool
	// ctx is the context of the requests and the pauses of the current attempt, or of the time between two attempts, and cancel cancels it. They are
	// nil while nothing needs them.
	ctx    context.Context //nolint:containedctx // It is the context of what the watcher does.
	cancel context.CancelFunc
	// stop ends the current watch. It is nil if there is none, or if that ends with ctx.
	stop func()
}

// end ends the watcher, unless it is nil or has ended. The caller holds the lock.
func (l *lifetime) end() {
	if l != nil && !l.ended {
		l.ended = true
		l.interrupt()
	}
}

// abort ends the current attempt, if any. The caller holds the lock.
func (l *lifetime) abort() {
	if l != nil && l.attempting && !l.aborted {
		l.aborted = true
		l.interrupt()
	}
}

// interrupt ends requests, pauses and the current watch, so that the watcher continues and notices that it must end. The caller holds the lock.
func (l *lifetime) interrupt() {
	if l.cancel != nil {
		l.cancel()
	}
	if l.stop != nil {
		l.stop()
	}
}

// context returns the context of what the watcher does. It is canceled if the attempt must end.
func (w *watcher) context() context.Context {
	k, l := w.kind, &w.life
	k.mu.Lock()
	defer k.mu.Unlock()
	if l.ctx == nil {
		l.ctx, l.cancel = context.WithCancel(k.cache.root)
	}
	if l.ended || l.aborted {
		l.cancel()
	}
	return l.ctx
}

// over returns an error if the current attempt must end.
func (w *watcher) over() error {
	w.kind.mu.Lock()
	defer w.kind.mu.Unlock()
	return w.overLocked()
}

// overLocked is like over for a caller that holds the lock.
func (w *watcher) overLocked() error {
	if w.life.ended || w.life.aborted {
		return context.Canceled
	}
	return w.kind.cache.root.Err()
}

// isEnded reports whether the watcher must end.
func (w *watcher) isEnded() bool {
	w.kind.mu.Lock()
	defer w.kind.mu.Unlock()
	return w.life.ended || w.kind.cache.root.Err() != nil
}

// turn begins or ends an attempt. Each attempt, and the time between two of them, has a context of its own.
func (w *watcher) turn(attempting bool) {
	w.kind.mu.Lock()
	defer w.kind.mu.Unlock()
	w.life.attempting, w.life.aborted = attempting, false
	w.life.drop()
}

// drop ends the context. The caller holds the lock.
func (l *lifetime) drop() {
	if l.cancel != nil {
		l.cancel()
		l.ctx, l.cancel = nil, nil
	}
}

// follow makes a stream the current watch, or ends it if the attempt must end. If the watch does not depend on the context of the watcher, follow
// cancels the context, because an idle watcher does not need it.
func (w *watcher) follow(s Stream) {
	stop := s.Detached()
	w.kind.mu.Lock()
	defer w.kind.mu.Unlock()
	w.stream, w.life.stop = s, stop
	if stop == nil {
		return
	}
	w.life.drop()
	if w.overLocked() != nil {
		stop()
	}
}

// endWatch ends the current watch, if any.
func (w *watcher) endWatch() {
	if w.stream == nil {
		return
	}
	w.kind.mu.Lock()
	w.life.stop = nil
	w.kind.mu.Unlock()
	w.stream.Stop()
	w.stream = nil
}
