// SPDX-License-Identifier: Apache-2.0

package store

import (
	"strconv"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// IsDamaged says whether err is that content is not what its digest says.
func IsDamaged(err error) bool {
	var d *DigestError
	return errors.As(err, &d)
}

// A NotFoundError says that something is not there.
type NotFoundError struct {
	What  string // Such as manifest "1.0.0".
	Store string
}

// Error is one line.
func (e *NotFoundError) Error() string { return e.Store + " has no " + e.What }

// An ExistsError says that a tag names other content already, or that another
// one has written it at the same time.
type ExistsError struct {
	Store string
	Tag   string
	Have  string // The digest that the tag has, sha256:….
	Want  string // The digest that it was to get.
	Raced bool   // Another one has written the tag after we did, or while we did.
}

// Error is one line that says what to do.
func (e *ExistsError) Error() string {
	if e.Raced {
		return e.Store + ":" + e.Tag + " was changed by another client at the same time: it is " + e.Have + " now, and not " + e.Want
	}
	return e.Store + ":" + e.Tag + " exists with different content, " + e.Have + ", and not " + e.Want +
		": use another version, or --overwrite to replace it"
}

// A DigestError says that content is not what its name says.
type DigestError struct{ Want, Got string }

// Error is one line.
func (e *DigestError) Error() string {
	return "digest does not match: want " + e.Want + ", got " + e.Got
}

// A TooLargeError says that something is larger than allowed.
type TooLargeError struct {
	Limit int64 // In bytes.
}

// Error is one line.
func (e *TooLargeError) Error() string {
	return "it is larger than the limit of " + strconv.FormatInt(e.Limit, 10) + " bytes"
}
