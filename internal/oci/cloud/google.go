// SPDX-License-Identifier: Apache-2.0

package cloud

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/google"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

const (
	hostsOfGoogle = `^(?:[a-z0-9-]+\.)?gcr\.io$|^[a-z0-9-]+\.pkg\.dev$`

	scopeOfGoogle = "https://www.googleapis.com/auth/cloud-platform"

	// userOfGoogle is the user name that goes with an access token.
	userOfGoogle = "oauth2accesstoken"
)

func newGoogle() *identity { return newIdentity("gcp", hostsOfGoogle, loginToGoogle, explainGoogle) }

// loginToGoogle gets an access token from the application default credentials.
func loginToGoogle(ctx context.Context, _ string) (login, error) {
	c, err := google.FindDefaultCredentials(ctx, scopeOfGoogle)
	if err != nil {
		return login{}, err
	}
	t, err := c.TokenSource.Token()
	if err != nil {
		return login{}, err
	}
	return login{user: userOfGoogle, password: t.AccessToken, expires: t.Expiry}, nil
}

func explainGoogle(err error) string {
	var refused *oauth2.RetrieveError
	if errors.As(err, &refused) && refused.Response != nil {
		code := refused.Response.StatusCode
		return fmt.Sprintf("Google rejects the identity (%d %s)", code, http.StatusText(code))
	}
	return explainURL(err)
}

// explainURL omits the request URL from an error, because its query may contain a secret.
func explainURL(err error) string {
	var u *url.Error
	for errors.As(err, &u) {
		err = u.Err
	}
	// Local ports differ between connections.
	var connection *net.OpError
	if errors.As(err, &connection) {
		err = connection.Err
	}
	return err.Error()
}
