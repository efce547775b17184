// SPDX-License-Identifier: Apache-2.0

package panics

import (
	"fmt"
	"reflect"
	"runtime"
	"runtime/debug"

	"k8s.io/klog/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// An Error is the error of a function that panicked.
type Error struct {
	// Subject is the subject of the function, such as an object.
	Subject string
	// Cause describes the panic. It contains no foreign text, because this could be confidential.
	Cause string
}

// Error returns a message that describes what failed and what to do.
func (e *Error) Error() string {
	return fmt.Sprintf("cannot process %s because of a bug (%s); report the bug with the stack trace from the log", e.Subject, e.Cause)
}

// Is reports whether an error is or wraps an *Error.
func Is(err error) bool {
	e := (*Error)(nil)
	return errors.As(err, &e)
}

// Into sets err to an *Error if the function that defers Into panics.
func Into(err *error, subject string) {
	if r := recover(); r != nil {
		*err = caught(subject, r)
	}
}

// Do calls f. If f panics, Do returns an *Error.
func Do(subject string, f func() error) (err error) {
	defer Into(&err, subject)
	return f()
}

// Value is like Do, for a function with a result.
func Value[T any](subject string, f func() (T, error)) (out T, err error) {
	defer func() {
		if r := recover(); r != nil {
			out, err = *new(T), caught(subject, r)
		}
	}()
	return f()
}

// Log calls f. If f panics, Log only logs the panic.
func Log(subject string, f func()) {
	defer func() {
		if r := recover(); r != nil {
			log(subject, r)
		}
	}()
	f()
}

// caught logs a panic and returns its error.
func caught(subject string, r any) *Error {
	log(subject, r)
	return errorOf(subject, r)
}

// log logs a panic with the stack of its goroutine, so call it in the goroutine that recovered.
func log(subject string, r any) {
	klog.Background().Error(errorOf(subject, r), "Recovered from a panic", "stack", string(debug.Stack()))
}

func errorOf(subject string, r any) *Error {
	return &Error{Subject: subject, Cause: describe(r)}
}

// describe returns the text of an error of the Go runtime. For any other value, it returns only the type, because the text can
// be foreign.
func describe(r any) string {
	switch v := r.(type) {
	case runtime.Error:
		return v.Error()
	case *reflect.ValueError:
		return v.Error()
	}
	return fmt.Sprintf("a panic of type %T", r)
}
