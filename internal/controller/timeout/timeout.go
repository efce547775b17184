// SPDX-License-Identifier: Apache-2.0

package timeout

import (
	"context"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"

	"github.com/crossplane-contrib/provider-kyma/internal/panics"
)

// flagTimeout is the flag that sets how long a pass may take.
const flagTimeout = "--timeout"

// An Error reports which limit was exceeded, and which flag sets it. It is a context.DeadlineExceeded. Its text contains the
// limit, and not the elapsed time, so that equal causes have equal texts.
type Error struct {
	Limit time.Duration
	Flag  string
}

// Error returns one line that can follow a description of the operation.
func (e *Error) Error() string {
	return "timed out after " + e.TimeLimit() + " (" + e.Flag + ")"
}

// TimeLimit returns the limit in a readable form, such as 2m.
func (e *Error) TimeLimit() string {
	s := e.Limit.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// Is reports whether target is context.DeadlineExceeded.
func (e *Error) Is(target error) bool { return target == context.DeadlineExceeded }

// Timeout returns true, as in the interface net.Error.
func (e *Error) Timeout() bool { return true }

// With returns a context that ends after the limit, with an Error as its cause.
func With(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, limit, &Error{Limit: limit, Flag: flagTimeout})
}

// Explain adds the cause of the context to an error about a deadline, unless the error already has a cause.
func Explain(ctx context.Context, err error) error {
	var why, said *Error
	if !errors.Is(err, context.DeadlineExceeded) || errors.As(err, &said) || !errors.As(context.Cause(ctx), &why) {
		return err
	}
	return &explained{error: err, why: why}
}

// explained is an error together with the timeout that caused it.
type explained struct {
	error

	why *Error
}

func (e *explained) Error() string   { return e.error.Error() + "; " + e.why.Error() }
func (e *explained) Unwrap() []error { return []error{e.error, e.why} }

// before is the time by which the deadline of Limited, which has a cause, precedes that of the managed reconciler, which has
// none.
const before = 10 * time.Millisecond

// Limited returns a connector whose contexts end with an Error just before those of the managed reconciler end. Panics become errors,
// which the managed reconciler reports in the conditions.
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
		return With(ctx, l.timeout)
	}
	return context.WithDeadlineCause(ctx, d.Add(-before), &Error{Limit: l.timeout, Flag: flagTimeout})
}

// Connect calls the connector within the limit.
func (l *limited[T]) Connect(ctx context.Context, mg T) (_ managed.TypedExternalClient[T], err error) {
	defer panics.Into(&err, "this object")
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

// Observe calls the client within the limit.
func (l *limitedClient[T]) Observe(ctx context.Context, mg T) (_ managed.ExternalObservation, err error) {
	defer panics.Into(&err, "this object")
	ctx, cancel := l.limit(ctx)
	defer cancel()
	o, err := l.client.Observe(ctx, mg)
	return o, Explain(ctx, err)
}

// Create calls the client within the limit.
func (l *limitedClient[T]) Create(ctx context.Context, mg T) (_ managed.ExternalCreation, err error) {
	defer panics.Into(&err, "this object")
	ctx, cancel := l.limit(ctx)
	defer cancel()
	o, err := l.client.Create(ctx, mg)
	return o, Explain(ctx, err)
}

// Update calls the client within the limit.
func (l *limitedClient[T]) Update(ctx context.Context, mg T) (_ managed.ExternalUpdate, err error) {
	defer panics.Into(&err, "this object")
	ctx, cancel := l.limit(ctx)
	defer cancel()
	o, err := l.client.Update(ctx, mg)
	return o, Explain(ctx, err)
}

// Delete calls the client within the limit.
func (l *limitedClient[T]) Delete(ctx context.Context, mg T) (_ managed.ExternalDelete, err error) {
	defer panics.Into(&err, "this object")
	ctx, cancel := l.limit(ctx)
	defer cancel()
	o, err := l.client.Delete(ctx, mg)
	return o, Explain(ctx, err)
}

// Disconnect calls the client without a limit.
func (l *limitedClient[T]) Disconnect(ctx context.Context) error { return l.client.Disconnect(ctx) }
