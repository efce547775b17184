// SPDX-License-Identifier: Apache-2.0

package settings

import (
	"context"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
)

// flagTimeout sets how long a pass may take.
const flagTimeout = "--timeout"

// A TimeoutError says which time is over, and which flag sets it. It is a context.DeadlineExceeded. Its text is that of the
// limit, and not of the time that went by, so that equal causes give equal texts.
type TimeoutError struct {
	Limit time.Duration
	Flag  string
}

// Error is one line, to follow what was being done.
func (e *TimeoutError) Error() string {
	return "gave up after the " + e.TimeLimit() + " that " + e.Flag + " allows"
}

// TimeLimit is the limit as people write it: 2m.
func (e *TimeoutError) TimeLimit() string {
	s := e.Limit.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// Is says that it is a deadline.
func (e *TimeoutError) Is(target error) bool { return target == context.DeadlineExceeded }

// Timeout says that it is one, as for a net.Error.
func (e *TimeoutError) Timeout() bool { return true }

// WithTimeout is a context whose cause says that the time for a pass is over.
func WithTimeout(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, limit, &TimeoutError{Limit: limit, Flag: flagTimeout})
}

// Explain adds to an error of a deadline which one it was, unless it says so.
func Explain(ctx context.Context, err error) error {
	var why, said *TimeoutError
	if !errors.Is(err, context.DeadlineExceeded) || errors.As(err, &said) || !errors.As(context.Cause(ctx), &why) {
		return err
	}
	return &explained{error: err, why: why}
}

// explained is an error with the time that ended it.
type explained struct {
	error

	why *TimeoutError
}

func (e *explained) Error() string   { return e.error.Error() + "; " + e.why.Error() }
func (e *explained) Unwrap() []error { return []error{e.error, e.why} }

// before the deadline of the managed reconciler, which has no cause, comes ours, which has one.
const before = 10 * time.Millisecond

// Limited is a connector whose contexts end with a TimeoutError where the managed reconciler's would end at its timeout.
func Limited[T resource.Managed](c managed.TypedExternalConnector[T], timeout time.Duration) managed.TypedExternalConnector[T] {
	return &limited[T]{connector: c, timeout: timeout}
}

type limited[T resource.Managed] struct {
	connector managed.TypedExternalConnector[T]
	timeout   time.Duration
}

func (l *limited[T]) limit(ctx context.Context) (context.Context, context.CancelFunc) {
	d, ok := ctx.Deadline()
	if !ok {
		return WithTimeout(ctx, l.timeout)
	}
	return context.WithDeadlineCause(ctx, d.Add(-before), &TimeoutError{Limit: l.timeout, Flag: flagTimeout})
}

// Connect within the limit.
func (l *limited[T]) Connect(ctx context.Context, mg T) (managed.TypedExternalClient[T], error) {
	ctx, cancel := l.limit(ctx)
	defer cancel()
	c, err := l.connector.Connect(ctx, mg)
	if err != nil {
		return nil, Explain(ctx, err)
	}
	return &limitedClient[T]{limited: l, client: c}, nil
}

type limitedClient[T resource.Managed] struct {
	*limited[T]

	client managed.TypedExternalClient[T]
}

// Observe within the limit.
func (l *limitedClient[T]) Observe(ctx context.Context, mg T) (managed.ExternalObservation, error) {
	ctx, cancel := l.limit(ctx)
	defer cancel()
	o, err := l.client.Observe(ctx, mg)
	return o, Explain(ctx, err)
}

// Create within the limit.
func (l *limitedClient[T]) Create(ctx context.Context, mg T) (managed.ExternalCreation, error) {
	ctx, cancel := l.limit(ctx)
	defer cancel()
	o, err := l.client.Create(ctx, mg)
	return o, Explain(ctx, err)
}

// Update within the limit.
func (l *limitedClient[T]) Update(ctx context.Context, mg T) (managed.ExternalUpdate, error) {
	ctx, cancel := l.limit(ctx)
	defer cancel()
	o, err := l.client.Update(ctx, mg)
	return o, Explain(ctx, err)
}

// Delete within the limit.
func (l *limitedClient[T]) Delete(ctx context.Context, mg T) (managed.ExternalDelete, error) {
	ctx, cancel := l.limit(ctx)
	defer cancel()
	o, err := l.client.Delete(ctx, mg)
	return o, Explain(ctx, err)
}

// Disconnect as it is.
func (l *limitedClient[T]) Disconnect(ctx context.Context) error { return l.client.Disconnect(ctx) }
