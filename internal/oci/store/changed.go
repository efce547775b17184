// SPDX-License-Identifier: Apache-2.0

package store

import "github.com/crossplane/crossplane-runtime/v2/pkg/errors"

// Changed says whether an error is that what was read has not the digest by
// which it was asked for.
func Changed(err error) bool {
	var d *digestError
	return errors.As(err, &d)
}
