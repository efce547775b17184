// SPDX-License-Identifier: Apache-2.0

package sendcheck

import "context"

// An Error reports that a check refused to send a request, or the rest of it. The server did not process the request.
type Error struct{ Err error }

// Error returns the text of the error of the check.
func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the error of the check.
func (e *Error) Unwrap() error { return e.Err }

type contextKey struct{}

// With returns a context for a request. A transport that supports it calls the check immediately before it sends each part of the
// request. The check must be quick, and must not send requests, because other requests wait for it.
func With(ctx context.Context, check func() error) context.Context {
	return context.WithValue(ctx, contextKey{}, check)
}

// Of returns the check of the context of a request, which returns an *Error if it fails, or nil if there is none.
func Of(ctx context.Context) func() error {
	check, ok := ctx.Value(contextKey{}).(func() error)
	if !ok {
		return nil
	}
	return func() error {
		if err := check(); err != nil {
			return &Error{Err: err}
		}
		return nil
	}
}

// Run runs the check of the context of a request. It returns an *Error if the check fails, and nil if there is none.
func Run(ctx context.Context) error {
	if check := Of(ctx); check != nil {
		return check()
	}
	return nil
}
