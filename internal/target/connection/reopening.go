// SPDX-License-Identifier: Apache-2.0

package connection

import (
	"context"
	"math"
	"sync"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/target/slots"
	"github.com/crossplane-contrib/provider-kyma/internal/target/transport"
)

// A reopening lets the watches of a cluster open another network connection after theirs has ended: first one of them, and only in few clusters at the
// same time. When thousands of clusters become unreachable at once, all their watches would otherwise do so together, and everything else would have to
// wait for the processor.
type reopening struct {
	// line has the lowest priority, unless a Manifest that needs the watches sets another one.
	line *slots.Line
	// allow returns the error of a request that would not be sent. The requests of thousands of unreachable clusters are not even allocated then.
	allow func() error
	// isOpen reports whether a request needs no new network connection.
	isOpen func() bool

	mu sync.Mutex
	// current is the attempt in progress, or nil. mu protects it.
	current *attempt
}

// An attempt is the first request without a network connection.
type attempt struct {
	// begun is closed when the attempt sends its request, and done at its end.
	begun, done chan struct{}
	// skip ends the wait for a slot, because a network connection is open.
	skip context.CancelFunc
	// err is the error if no network connection could be opened. It is set before done is closed.
	err error
}

// errGaveUp means that the first call ended with its context.
var errGaveUp = errors.New("the caller of the first request gave up")

// do calls f, which sends a request. Without a network connection, the first call waits for a slot. The others wait for its result: if it could not open a
// network connection, they return its error. If the result takes too long, they call f too, which waits for the same network connection.
func (r *reopening) do(ctx context.Context, f func() error) error {
	for {
		if err := r.allow(); err != nil {
			return err
		}
		if r.isOpen() {
			return f()
		}
		a, first := r.join()
		if first {
			return r.try(ctx, a, f)
		}
		switch err := a.wait(ctx); {
		case errors.Is(err, errGaveUp):
			continue
		case err != nil:
			return err
		}
		if err := r.allow(); err != nil {
			return err
		}
		return f()
	}
}

// opened ends the wait of the first call for a slot if a network connection is open, because another request has opened it. The next one is opened with the
// lowest priority again.
func (r *reopening) opened() {
	if !r.isOpen() {
		return
	}
	r.mu.Lock()
	if r.current != nil {
		r.current.skip()
	}
	r.mu.Unlock()
	r.line.SetPriority(math.MinInt)
}

// prioritize sets the priority, unless a network connection is open.
func (r *reopening) prioritize(priority int) {
	if !r.isOpen() {
		r.line.SetPriority(priority)
	}
}

// take waits for a slot. From then on, the priority is the lowest one again.
func (r *reopening) take(ctx context.Context) (release func(), ok bool) {
	release, ok = r.line.Take(ctx, openingTime)
	r.line.SetPriority(math.MinInt)
	return release, ok
}

// join returns the current attempt, or a new one and true.
func (r *reopening) join() (a *attempt, first bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.current != nil {
		return r.current, false
	}
	r.current = &attempt{begun: make(chan struct{}), done: make(chan struct{}), skip: func() {}}
	return r.current, true
}

// try calls f when there is a slot, or a network connection is open.
func (r *reopening) try(ctx context.Context, a *attempt, f func() error) error {
	wait, skip := context.WithCancel(ctx)
	r.mu.Lock()
	a.skip = skip
	r.mu.Unlock()
	r.opened() // A network connection can have been opened before this.
	defer func() {
		skip()
		r.mu.Lock()
		defer r.mu.Unlock()
		r.current = nil
		close(a.done)
	}()
	release, ok := r.take(wait)
	switch {
	case ok:
		defer release()
	case ctx.Err() != nil:
		a.err = errGaveUp
		return context.Cause(ctx)
	}
	close(a.begun)
	if err := r.allow(); err != nil {
		return err
	}
	err := f()
	// Other errors, such as one that denies access to a kind, say nothing about other requests.
	switch u := (*transport.UnreachableError)(nil); {
	case r.isOpen():
	case errors.As(err, &u) && !u.TooLarge && !u.Stopped:
		a.err = err
	case ctx.Err() != nil:
		a.err = errGaveUp
	}
	return err
}

// wait waits for the end of an attempt, or until it has taken long, and returns its error.
func (a *attempt) wait(ctx context.Context) error {
	select {
	case <-a.begun:
	case <-a.done:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	late := time.NewTimer(openingTime)
	defer late.Stop()
	select {
	case <-a.done:
		return a.err
	case <-late.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
