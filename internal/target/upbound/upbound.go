// SPDX-License-Identifier: Apache-2.0

package upbound

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/oauth2"
	"k8s.io/client-go/rest"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

const (
	// exchangeURL is the endpoint for token exchange according to RFC 8693.
	exchangeURL = "https://auth.upbound.io/apis/tokenexchange.upbound.io/v1alpha1/orgscopedtokens"

	// maxAnswer is the maximum size of the response to an exchange, in bytes.
	maxAnswer = 64 << 10
)

// Wrap adds tokens to the requests of a REST config. The tokens are for the organization in the exec of the kubeconfig, and are
// exchanged for the token of a session or a robot. The client is used for the exchange. It must have a timeout, because a token
// source has no context, and it must not follow redirects, so that no other server receives the token.
func Wrap(rc *rest.Config, token string, client *http.Client) error {
	return wrap(rc, &exchange{client: client, url: exchangeURL, token: token})
}

func wrap(rc *rest.Config, e *exchange) (err error) {
	if e.organization, err = organizationOf(rc.ExecProvider); err != nil {
		return err
	}
	tokens := oauth2.ReuseTokenSource(nil, e)
	rc.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return &oauth2.Transport{Source: tokens, Base: next}
	})
	return nil
}

// organizationOf returns the organization of a kubeconfig that the command up wrote. Its exec is "up organization token
// [NAME]". The environment variable ORGANIZATION in exec takes precedence over the name.
func organizationOf(exec *clientcmdapi.ExecConfig) (string, error) {
	if exec == nil || exec.Command != "up" || len(exec.Args) < 2 || exec.Args[1] != "token" ||
		exec.Args[0] != "org" && exec.Args[0] != "organization" {
		return "", errors.New("exec in the kubeconfig must run 'up organization token'")
	}
	name := ""
	if len(exec.Args) > 2 {
		name = exec.Args[2]
	}
	for _, v := range exec.Env {
		if v.Name == "ORGANIZATION" {
			name = v.Value
			break
		}
	}
	if name == "" {
		return "", errors.New("exec in the kubeconfig has no organization: set the argument or the environment variable ORGANIZATION")
	}
	return name, nil
}

// An exchange is a source of tokens for an organization.
type exchange struct {
	client       *http.Client
	url          string
	token        string
	organization string
}

// Token implements oauth2.TokenSource.
func (e *exchange) Token() (*oauth2.Token, error) {
	form := url.Values{
		"audience":           {"upbound:spaces:api", "upbound:spaces:controlplanes"},
		"grant_type":         {"urn:ietf:params:oauth:grant-type:token-exchange"},
		"scope":              {"upbound:org:" + e.organization},
		"subject_token":      {e.token},
		"subject_token_type": {"urn:ietf:params:oauth:token-type:id_token"},
	}
	req, err := http.NewRequest(http.MethodPost, e.url, strings.NewReader(form.Encode())) //nolint:noctx // A token source has no context.
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Authorization", "Bearer "+e.token)
	resp, err := e.client.Do(req)
	if err != nil {
		return nil, errors.Wrap(err, "cannot get a token from Upbound")
	}
	defer resp.Body.Close()
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return nil, errors.Errorf("Upbound rejects the token for organization %q (%d %s)",
			e.organization, resp.StatusCode, http.StatusText(resp.StatusCode))
	}
	var answer struct {
		AccessToken string `json:"access_token"`
		ExpiresIn   int64  `json:"expires_in"`
	}
	if json.NewDecoder(io.LimitReader(resp.Body, maxAnswer)).Decode(&answer) != nil || answer.AccessToken == "" {
		return nil, errors.New("Upbound returned no token")
	}
	return &oauth2.Token{AccessToken: answer.AccessToken, Expiry: time.Now().Add(time.Duration(answer.ExpiresIn) * time.Second)}, nil
}
