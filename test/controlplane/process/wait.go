// SPDX-License-Identifier: Apache-2.0

package process

import (
	"cmp"
	"context"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

const (
	// defaultStill is longer than servers on a busy machine take between two changes.
	defaultStill = 2 * time.Minute
	// stillsInAll limits a wait for something that changes but is never done, as a multiple of Still.
	stillsInAll  = 5
	defaultEvery = 200 * time.Millisecond
)

// A Look returns the observed state, and whether the wait is done. An error is a state, too, and does not end the wait.
type Look func(ctx context.Context) (done bool, seen string, err error)

// A Wait ends when it is done, when nothing has changed for the time Still, or after five times as long in total.
type Wait struct {
	// What is the description of the awaited state in errors.
	What string
	// Still is how long the state may stay unchanged. The default is two minutes.
	Still time.Duration
	// Every is the pause between two observations. The default is 200 ms.
	Every time.Duration
	// OnChange is called with each new state.
	OnChange func(seen string)
	// Broken returns an error if the wait can never succeed, and nil otherwise.
	Broken func() error
}

// Until calls look until it is done. The error contains the last state.
func (w Wait) Until(ctx context.Context, look Look) error {
	w.Still, w.Every = cmp.Or(w.Still, defaultStill), cmp.Or(w.Every, defaultEvery)
	begin := time.Now()
	moved, last := begin, ""
	for {
		done, seen, err := look(ctx)
		if err != nil {
			seen = err.Error()
		}
		// Ignore errors that result from the end of the context.
		if ctx.Err() == nil && seen != last {
			last, moved = seen, time.Now()
			if w.OnChange != nil {
				w.OnChange(seen)
			}
		}
		if done && err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return errors.Wrapf(context.Cause(ctx), "%s: last state: %s", w.What, last)
		}
		if err := w.over(begin, moved, last); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
		case <-time.After(w.Every):
		}
	}
}

// over returns why the wait must end, or nil.
func (w Wait) over(begin, moved time.Time, last string) error {
	if w.Broken != nil {
		if err := w.Broken(); err != nil {
			return err
		}
	}
	switch {
	case time.Since(moved) > w.Still:
		return errors.Errorf("%s: timed out because nothing changed for %s; last state: %s", w.What, w.Still, last)
	case time.Since(begin) > stillsInAll*w.Still:
		return errors.Errorf("%s: timed out after %s; last state: %s", w.What, stillsInAll*w.Still, last)
	}
	return nil
}
