// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

const (
	// defaultStill is long enough for what servers do between two signs of life on a
	// busy machine.
	defaultStill = 2 * time.Minute
	// stillsInAll bounds a wait for something that moves and never arrives.
	stillsInAll = 5
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
	still, every := w.Still, w.Every
	if still == 0 {
		still = defaultStill
	}
	if every == 0 {
		every = 200 * time.Millisecond
	}
	begin := time.Now()
	moved, last := begin, ""
	for {
		done, seen, err := look(ctx)
		if done && err == nil {
			w.changed(last, seen)
			return nil
		}
		if err != nil {
			seen = err.Error()
		}
		if ctx.Err() != nil {
			return errors.Wrapf(context.Cause(ctx), "%s: last seen: %s", w.What, last)
		}
		if w.changed(last, seen) {
			last, moved = seen, time.Now()
		}
		if w.Broken != nil {
			if err := w.Broken(); err != nil {
				return err
			}
		}
		switch {
		case time.Since(moved) > still:
			return errors.Errorf("%s: nothing has moved for %s, last seen: %s", w.What, still, last)
		case time.Since(begin) > stillsInAll*still:
			return errors.Errorf("%s: not within %s, last seen: %s", w.What, stillsInAll*still, last)
		}
		select {
		case <-ctx.Done():
		case <-time.After(every):
		}
	}
}

// changed says whether what is seen has changed, and passes it on.
func (w Wait) changed(last, seen string) bool {
	if seen == last {
		return false
	}
	if w.OnChange != nil {
		w.OnChange(seen)
	}
	return true
}
