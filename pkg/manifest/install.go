// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/text"
)

// With Wait, a call checks again after lookEvery. Each consecutive error doubles the interval, up to lookRarely.
const (
	lookEvery  = 500 * time.Millisecond
	lookRarely = 10 * time.Second
)

// Install installs or upgrades a bundle. It performs the next step, if anything is left to do, and returns the resulting
// observation. Without Wait, it does not block: a controller calls it in each reconciliation until the observation is Ready and
// UpToDate, and after that whenever something changes. A call that has nothing to do sends no request. An error of one part
// does not stop the other parts, and is also contained in the observation.
func (e *Engine) Install(ctx context.Context, c cluster.Cluster, b *Bundle, o ...CallOption) (Observation, error) {
	return e.until(ctx, c, b, o, func() (Observation, error) {
		seen, err := e.Observe(ctx, c, b, o...)
		if err != nil || (seen.Exists && seen.UpToDate) {
			return seen, err
		}
		_, failed := e.Apply(ctx, c, b, o...)
		seen, err = e.Observe(ctx, c, b, o...)
		return seen, errors.Join(failed, err)
	})
}

// Check reports whether a bundle is installed as specified and works. It changes nothing. It is like Observe, but supports Wait.
func (e *Engine) Check(ctx context.Context, c cluster.Cluster, b *Bundle, o ...CallOption) (Observation, error) {
	return e.until(ctx, c, b, o, func() (Observation, error) { return e.Observe(ctx, c, b, o...) })
}

// Uninstall performs the next step of removing a bundle. It is like Remove, but supports Wait. Without Wait, it does not block.
func (e *Engine) Uninstall(ctx context.Context, c cluster.Cluster, b *Bundle, o ...CallOption) (Removal, error) {
	if err := e.accepts(c); err != nil {
		return Removal{}, err
	}
	var left Removal
	err := retry(ctx, o, func() (done bool, waiting string, err error) {
		left, err = e.Remove(ctx, c, b, o...)
		return left.Gone, left.Message, err
	})
	return left, err
}

// until observes a bundle with look. With Wait, it repeats that until the bundle is Ready.
func (e *Engine) until(
	ctx context.Context, c cluster.Cluster, b *Bundle, o []CallOption, look func() (Observation, error),
) (Observation, error) {
	if err := e.accepts(c); err != nil {
		return Observation{}, err
	}
	if err := b.Validate(); err != nil {
		return Observation{}, err
	}
	var seen Observation
	err := retry(ctx, o, func() (done bool, waiting string, err error) {
		seen, err = look()
		return seen.Exists && seen.UpToDate && seen.State == Ready, seen.Message, err
	})
	return seen, err
}

// retry calls try. With Wait, it repeats the call until the work is done or the context ends.
func retry(ctx context.Context, o []CallOption, try func() (done bool, waiting string, err error)) error {
	wait := CallOptionsOf(o...).Wait
	pause, last := lookEvery, "not started"
	for {
		done, waiting, err := try()
		if (done && err == nil) || !wait {
			return err
		}
		if pause = min(2*pause, lookRarely); err == nil {
			pause = lookEvery
		} else {
			waiting = text.OneLine(err.Error())
		}
		// A try that the end of the context interrupted reports less than the previous one.
		if ctx.Err() == nil {
			last = waiting
		}
		select {
		case <-ctx.Done():
			return errors.Wrapf(ctx.Err(), "stopped waiting: %s", last)
		case <-time.After(pause):
		}
	}
}
