// SPDX-License-Identifier: Apache-2.0

package ready

import (
	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/ocm"
	engine "github.com/crossplane-contrib/provider-kyma/pkg/manifest"
)

// A finalError is an error that retries alone cannot resolve.
type finalError struct{ error }

// Unwrap returns the error.
func (e *finalError) Unwrap() error { return e.error }

// Final marks an error that persists until someone changes something, such as an invalid field of the Manifest. If err is nil,
// it returns nil.
func Final(err error) error {
	if err == nil {
		return nil
	}
	return &finalError{err}
}

// IsFinal reports whether an error persists until someone changes something: it is marked with Final, a signature is missing or
// invalid, or the inventory belongs to another owner. Other errors can disappear without a change to the Manifest, for example
// when a ProviderConfig or a Secret is created, or when a registry or a cluster is reachable again.
func IsFinal(err error) bool {
	final, unsigned, owned := (*finalError)(nil), (*ocm.VerificationError)(nil), (*engine.OwnedError)(nil)
	return errors.As(err, &final) || errors.As(err, &unsigned) || errors.As(err, &owned)
}
