// SPDX-License-Identifier: Apache-2.0

package process

import (
	"cmp"
	"context"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

const (
	// defaultStill is long enough for what servers do between two signs of life on a
	// busy machine.
	defaultStill = 2 * time.Minute
	// stillsInAll bounds a wait for something that moves and never arrives.
	stillsInAll  = 5
	defaultEvery = 200 * time.Millisecond
)

// A Look says what is seen, and whether that is what is waited for. An error is seen
// like anything else, and does not end the wait.
type Look func(ctx context.Context) (done bool, seen string, err error)

// A Wait ends when what it waits for is there, or when nothing has moved for some
// time: what is slow and moves has five times as long in all.
type Wait struct {
	// What is waited for, for the error.
	What string
	// Still is how long what is seen may stay the same. Default two minutes.
	Still time.Duration
	// Every is the pause between two looks. Default 200 ms.
	Every time.Duration
	// OnChange is called with what is seen each time that changes.
	OnChange func(seen string)
	// Broken returns why what is waited for can never come, or nil.
	Broken func() error
}

// Until looks until there is what is waited for. The error says what was seen last.
func (w Wait) Until(ctx context.Context, look Look) error {
	w.Still, w.Every = cmp.Or(w.Still, defaultStill), cmp.Or(w.Every, defaultEvery)
	begin := time.Now()
	moved, last := begin, ""
	for {
		done, seen, err := look(ctx)
		if err != nil {
			seen = err.Error()
		}
		// The end of a context makes errors that no one has to see.
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
			return errors.Wrapf(context.Cause(ctx), "%s: last seen: %s", w.What, last)
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

// over says why a wait is given up, or nil.
func (w Wait) over(begin, moved time.Time, last string) error {
	if w.Broken != nil {
		if err := w.Broken(); err != nil {
			return err
		}
	}
	switch {
	case time.Since(moved) > w.Still:
		return errors.Errorf("%s: nothing has moved for %s, last seen: %s", w.What, w.Still, last)
	case time.Since(begin) > stillsInAll*w.Still:
		return errors.Errorf("%s: not within %s, last seen: %s", w.What, stillsInAll*w.Still, last)
	}
	return nil
}
