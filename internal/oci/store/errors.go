// SPDX-License-Identifier: Apache-2.0

package store

import (
	"strconv"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// IsDamaged reports whether err is caused by content that does not match its digest.
func IsDamaged(err error) bool {
	var d *DigestError
	return errors.As(err, &d)
}

// A NotFoundError reports that something does not exist.
type NotFoundError struct {
	What  string // What is missing, such as manifest "1.0.0".
	Store string
}

// Error returns the message as one line.
func (e *NotFoundError) Error() string { return e.Store + " has no " + e.What }

// An ExistsError reports that a tag already refers to other content, or that another writer has written it at the
// same time.
type ExistsError struct {
	Store string
	Tag   string
	Have  string // The digest that the tag refers to, sha256:….
	Want  string // The digest that should be written.
	Raced bool   // Another writer has written the tag during or after our write.
	Fix   string // What the user can do; by default, to overwrite the tag.
}

// Error returns one line that includes the fix.
func (e *ExistsError) Error() string {
	if e.Raced {
		return e.Store + ":" + e.Tag + " was changed by another client at the same time: it now has digest " + e.Have +
			", not " + e.Want
	}
	fix := e.Fix
	if fix == "" {
		fix = "use another version, or --overwrite to replace it"
	}
	return e.Store + ":" + e.Tag + " already exists with different content (" + e.Have + " instead of " + e.Want + "): " + fix
}

// A DigestError reports that content does not match its digest.
type DigestError struct{ Want, Got string }

// Error returns the message as one line.
func (e *DigestError) Error() string {
	return "digest mismatch: expected " + e.Want + ", got " + e.Got
}

// A TooLargeError reports that something is larger than allowed.
type TooLargeError struct {
	Limit int64 // In bytes.
}

// Error returns the message as one line.
func (e *TooLargeError) Error() string {
	return "content is larger than the limit of " + strconv.FormatInt(e.Limit, 10) + " bytes"
}
