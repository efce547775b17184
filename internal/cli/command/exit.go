// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	kerrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/cosign"
	"github.com/crossplane-contrib/provider-kyma/internal/notfound"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/store"
	"github.com/crossplane-contrib/provider-kyma/internal/ocm"
)

// An ExitCode is what kymactl exits with. Scripts rely on them, so that they
// never change.
type ExitCode int

// The exit codes.
const (
	ExitOK         ExitCode = 0
	ExitFailure    ExitCode = 1 // Anything else.
	ExitUsage      ExitCode = 2 // The command line is wrong; nothing was done.
	ExitNotFound   ExitCode = 3 // What was named does not exist.
	ExitUnverified ExitCode = 4 // Not signed, not by that key, or changed since.
	ExitExists     ExitCode = 5 // Exists with other content.
	ExitTimeout    ExitCode = 6 // The time was over.
	ExitChanges    ExitCode = 7 // There is something to change, and somebody asked for a code for that.
)

// String says what the code means.
func (c ExitCode) String() string {
	switch c {
	case ExitOK:
		return "It worked, or there was nothing to do."
	case ExitFailure:
		return "It failed; the line on stderr says why."
	case ExitUsage:
		return "The command line is wrong, and nothing was done."
	case ExitNotFound:
		return "What was named does not exist."
	case ExitUnverified:
		return "Verification failed: not signed, not by that key, or changed since."
	case ExitExists:
		return "It exists with other content."
	case ExitTimeout:
		return "The time of `--timeout` was over."
	case ExitChanges:
		return "There is something to change, with `--exit-code` of `kymactl plan`."
	}
	return "unknown"
}

// An exitError gives an error a code of its own.
type exitError struct {
	error

	code ExitCode
}

// Unwrap returns the cause.
func (e *exitError) Unwrap() error { return e.error }

// WithCode gives an error an exit code, whatever its cause. Nil stays nil.
func WithCode(code ExitCode, err error) error {
	if err == nil {
		return nil
	}
	return &exitError{error: err, code: code}
}

// Usagef says what is wrong with a command line.
func Usagef(format string, args ...any) error {
	return WithCode(ExitUsage, errors.Errorf(format, args...))
}

// NotFoundf says what does not exist.
func NotFoundf(format string, args ...any) error {
	return WithCode(ExitNotFound, errors.Errorf(format, args...))
}

// CodeOf an error that a command ended with.
func CodeOf(err error) ExitCode {
	var (
		own        *exitError
		exists     *store.ExistsError
		unverified *ocm.VerificationError
		unsigned   *cosign.NotSignedError
		missing    *store.NotFoundError
	)
	switch {
	case err == nil:
		return ExitOK
	case errors.As(err, &own):
		// A command line is not wrong because stdin did not end in time.
		if own.code == ExitUsage && errors.Is(err, context.DeadlineExceeded) {
			return ExitTimeout
		}
		return own.code
	case errors.As(err, &exists):
		return ExitExists
	case errors.As(err, &unverified), errors.As(err, &unsigned):
		return ExitUnverified
	case errors.Is(err, context.DeadlineExceeded):
		return ExitTimeout
	case errors.As(err, &missing), notfound.Is(err):
		return ExitNotFound
	}
	return ExitFailure
}

// Refused reports whether an API server has refused a request for good: to wait, or to try again, does not help.
func Refused(err error) bool {
	return kerrors.IsForbidden(err) || kerrors.IsUnauthorized(err) || kerrors.IsInvalid(err) || kerrors.IsBadRequest(err)
}

// Ended returns the error of a command: ExitTimeout where err has no code of its own and the time is over, that of the context
// where the command was interrupted, and else err as it is.
func Ended(ctx context.Context, err error) error {
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded) && CodeOf(err) == ExitFailure:
		return WithCode(ExitTimeout, err)
	case errors.Is(ctx.Err(), context.Canceled):
		return ctx.Err()
	}
	return err
}
