// SPDX-License-Identifier: Apache-2.0

package oci

import (
	"context"
	"net/http"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/google/go-containerregistry/pkg/authn"
)

// An Identity gets credentials for the registries of a cloud.
type Identity interface {
	// Name returns the name of the identity. Equal names stand for equal identities.
	Name() string
	// Credentials returns the credentials for the registry at host. It is called for each request, so implementations
	// keep credentials until they expire. Errors are one line without secrets that does not differ between attempts.
	Credentials(ctx context.Context, host string) (user, password string, err error)
	// Forget is called after the registry at host has rejected the credentials. Unless they are new, the next call of
	// Credentials requests new ones.
	Forget(host string)
}

// forget drops the credentials if err means that the server has rejected them.
func forget(e *endpoint, err error) {
	if a, ok := e.auth.(*identityAuth); ok && Status(err) == http.StatusUnauthorized {
		a.identity.Forget(a.host)
	}
}

// identityAuth authenticates at a host with an Identity.
type identityAuth struct {
	identity Identity
	host     string
}

// Authorization implements authn.Authenticator.
func (a *identityAuth) Authorization() (*authn.AuthConfig, error) {
	return a.AuthorizationContext(context.Background())
}

// AuthorizationContext implements authn.ContextAuthenticator.
func (a *identityAuth) AuthorizationContext(ctx context.Context) (*authn.AuthConfig, error) {
	user, password, err := a.identity.Credentials(ctx, a.host)
	switch {
	case err == nil:
		return &authn.AuthConfig{Username: user, Password: password}, nil
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return nil, err
	}
	return nil, &credentialsError{message: err.Error()}
}
