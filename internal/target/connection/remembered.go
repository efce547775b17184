// SPDX-License-Identifier: Apache-2.0

package connection

import (
	"context"
	"time"
)

// A remembered value is requested again after some time, by one caller at a time.
type remembered[T any] struct {
	// asking is held while the value is read or written. Unlike with a mutex, a caller can stop waiting when its context
	// ends.
	asking chan struct{}
	value  T
	asked  time.Time
}

func newRemembered[T any]() *remembered[T] {
	return &remembered[T]{asking: make(chan struct{}, 1)}
}

func (r *remembered[T]) get(ctx context.Context, ttl time.Duration, ask func(context.Context) (T, error)) (T, error) {
	select {
	case r.asking <- struct{}{}:
		defer func() { <-r.asking }()
	case <-ctx.Done():
		return *new(T), context.Cause(ctx)
	}
	if !r.asked.IsZero() && time.Since(r.asked) < ttl {
		return r.value, nil
	}
	v, err := ask(ctx)
	if err == nil {
		r.value, r.asked = v, time.Now()
	}
	return v, err
}
