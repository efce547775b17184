// SPDX-License-Identifier: Apache-2.0

package oci

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/google/go-containerregistry/pkg/authn"

	"github.com/crossplane-contrib/provider-kyma/internal/panics"
)

// isHelper matches the name of a credential helper in the error of running it.
var isHelper = regexp.MustCompile(`docker-credential-[A-Za-z0-9._-]+`)

// authenticator returns the credentials for target, which is the host of the endpoint or a repository on that host.
func (e *endpoint) authenticator(ctx context.Context, target authn.Resource) (authn.Authenticator, error) {
	if e.auth != nil {
		return e.auth, nil
	}
	type result struct {
		auth authn.Authenticator
		err  error
	}
	done := make(chan result, 1)
	// A credential helper may wait for user input and cannot be interrupted.
	go func() {
		auth, err := panics.Value("the docker configuration", func() (authn.Authenticator, error) {
			return authn.Resolve(ctx, authn.DefaultKeychain, target)
		})
		done <- result{auth, err}
	}()
	select {
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case r := <-done:
		return r.auth, explainAmbient(r.err, e.host)
	}
}

// A credentialsError explains why there are no credentials. No request has failed.
type credentialsError struct{ message string }

func (e *credentialsError) Error() string { return e.message }

// explainAmbient rewrites an error of reading the docker configuration. It omits the output of credential helpers,
// which may contain a secret.
func explainAmbient(err error, host string) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case isHelper.MatchString(err.Error()):
		return &credentialsError{message: fmt.Sprintf("cannot run credential helper %[2]s, which the Docker configuration "+
			"names for host %[1]q: install it, or remove it from the configuration", host, isHelper.FindString(err.Error()))}
	case strings.Contains(err.Error(), "error getting credentials"):
		return &credentialsError{message: fmt.Sprintf("the credential helper in the Docker configuration failed for host %q", host)}
	}
	return &credentialsError{message: "cannot read the Docker configuration: " + OneLine(err.Error())}
}
