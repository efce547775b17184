// SPDX-License-Identifier: Apache-2.0

package module

import "github.com/crossplane/crossplane-runtime/v2/pkg/errors"

// An InvalidError says that a ModuleTemplate, or the component descriptor that it names, cannot be used. Another try
// would not help; other errors are failures to fetch, where it may.
type InvalidError struct {
	err error
}

// Error is one line that names the field.
func (e *InvalidError) Error() string { return e.err.Error() }

// Unwrap returns the cause.
func (e *InvalidError) Unwrap() error { return e.err }

func invalidf(format string, args ...any) error {
	return &InvalidError{err: errors.Errorf(format, args...)}
}

// classify an error of reading components: it is the component's own unless the registry failed.
func classify(err error, field string) error {
	if err == nil {
		return nil
	}
	var f *fetchError
	var i *InvalidError
	if errors.As(err, &f) || errors.As(err, &i) {
		return errors.Wrap(err, field)
	}
	return &InvalidError{err: errors.Wrap(err, field)}
}
