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

// An ExitCode is an exit code of kymactl. Scripts rely on the codes, so they never change.
type ExitCode int

// Exit codes of kymactl.
const (
	ExitOK         ExitCode = 0
	ExitFailure    ExitCode = 1 // Any other error.
	ExitUsage      ExitCode = 2 // The command line is wrong. Nothing was changed.
	ExitNotFound   ExitCode = 3 // A named object does not exist.
	ExitUnverified ExitCode = 4 // A module is not signed, signed with another key, or changed after signing.
	ExitExists     ExitCode = 5 // Something else exists at the destination, or belongs to another owner.
	ExitTimeout    ExitCode = 6 // --timeout has expired.
	ExitChanges    ExitCode = 7 // There are changes, and --exit-code is set.
	ExitRollout    ExitCode = 8 // A rollout has failed, and --watch is set.
)

// String returns the meaning of the code, for documentation.
func (c ExitCode) String() string {
	switch c {
	case ExitOK:
		return "Success, or nothing to do."
	case ExitFailure:
		return "Failure. The last line on stderr states the reason."
	case ExitUsage:
		return "Usage error. Nothing was changed."
	case ExitNotFound:
		return "A specified object or file does not exist."
	case ExitUnverified:
		return "Verification failed: the module is not signed, was signed with another key, or was changed after it was signed."
	case ExitExists:
		return "Conflict: an object, artifact, file or directory already exists with different content, or belongs to another owner."
	case ExitTimeout:
		return "Timeout: the duration of `--timeout` has expired."
	case ExitChanges:
		return "The plan contains changes. Returned only by `kymactl plan --exit-code`."
	case ExitRollout:
		return "The rollout has failed. Returned only by `kymactl rollout status --watch`."
	}
	return "unknown"
}

// An exitError is an error with an exit code.
type exitError struct {
	error

	code ExitCode
}

// Unwrap returns the wrapped error.
func (e *exitError) Unwrap() error { return e.error }

// WithCode returns err with an exit code, which replaces any exit code of err. It returns nil if err is nil.
func WithCode(code ExitCode, err error) error {
	if err == nil {
		return nil
	}
	return &exitError{error: err, code: code}
}

// Usagef returns an error about the command line, with ExitUsage.
func Usagef(format string, args ...any) error {
	return WithCode(ExitUsage, errors.Errorf(format, args...))
}

// NotFoundf returns an error about something that does not exist, with ExitNotFound.
func NotFoundf(format string, args ...any) error {
	return WithCode(ExitNotFound, errors.Errorf(format, args...))
}

// CodeOf returns the exit code for the error of a command: the code set by WithCode, or one that fits the cause. It returns
// ExitOK for nil.
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
		// Reading stdin has timed out, which doesn't mean that the command line is wrong.
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

// Refused reports whether an API server has refused a request permanently, so that retrying it is useless.
func Refused(err error) bool {
	return kerrors.IsForbidden(err) || kerrors.IsUnauthorized(err) || kerrors.IsInvalid(err) || kerrors.IsBadRequest(err)
}

// Ended returns the final error of a command. If ctx has expired and err has no exit code, it adds ExitTimeout. If the command
// was interrupted, it returns the error of ctx. Otherwise it returns err.
func Ended(ctx context.Context, err error) error {
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded) && CodeOf(err) == ExitFailure:
		return WithCode(ExitTimeout, err)
	case errors.Is(ctx.Err(), context.Canceled):
		return ctx.Err()
	}
	return err
}
