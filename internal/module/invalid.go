// SPDX-License-Identifier: Apache-2.0

package module

import (
	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/decoding"
)

// An InvalidError reports that a ModuleTemplate, or the component descriptor that it names, cannot be used, so that a
// retry does not help. Other errors are failures to fetch, which may be temporary.
type InvalidError struct {
	err error
}

// Error returns the message, which is one line and names the field.
func (e *InvalidError) Error() string { return e.err.Error() }

// Unwrap returns the cause.
func (e *InvalidError) Unwrap() error { return e.err }

func invalidf(format string, args ...any) error {
	return &InvalidError{err: errors.Errorf(format, args...)}
}

// classify adds the field to an error of reading components. Unless a fetch failed, or there was no memory, it returns an InvalidError.
func classify(err error, field string) error {
	if err == nil {
		return nil
	}
	var f *fetchError
	var i *InvalidError
	if errors.As(err, &f) || errors.As(err, &i) || errors.Is(err, decoding.ErrArchivesBusy) {
		return errors.Wrap(err, field)
	}
	return &InvalidError{err: errors.Wrap(err, field)}
}
