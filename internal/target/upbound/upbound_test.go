// SPDX-License-Identifier: Apache-2.0

package upbound

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/rest"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/crossplane-contrib/provider-kyma/internal/netguard"
)

func TestOrganizationOf(t *testing.T) {
	env := []clientcmdapi.ExecEnvVar{{Name: "OTHER", Value: "x"}, {Name: "ORGANIZATION", Value: "env"}}
	cases := map[string]struct {
		reason string
		exec   *clientcmdapi.ExecConfig
		want   string
		err    string
	}{
		"Argument": {reason: "The third argument is the organization.", exec: &clientcmdapi.ExecConfig{Command: "up", Args: []string{"organization", "token", "acme"}}, want: "acme"},
		"Short":    {reason: "The command has a short form.", exec: &clientcmdapi.ExecConfig{Command: "up", Args: []string{"org", "token", "acme"}}, want: "acme"},
		"Variable": {reason: "The variable comes first.", exec: &clientcmdapi.ExecConfig{Command: "up", Args: []string{"org", "token", "acme"}, Env: env}, want: "env"},
		"Nothing":  {reason: "Either an argument or the variable must name the organization.", exec: &clientcmdapi.ExecConfig{Command: "up", Args: []string{"org", "token"}}, err: "has no organization"},
		"NoExec":   {reason: "A kubeconfig without a command is refused.", err: "must run 'up organization token'"},
		"Command":  {reason: "Another program is refused.", exec: &clientcmdapi.ExecConfig{Command: "aws", Args: []string{"org", "token", "acme"}}, err: "must run 'up organization token'"},
		"Action":   {reason: "Another subcommand of organization is refused.", exec: &clientcmdapi.ExecConfig{Command: "up", Args: []string{"org", "list", "acme"}}, err: "must run 'up organization token'"},
		"Noun":     {reason: "A subcommand of another kind of object is refused.", exec: &clientcmdapi.ExecConfig{Command: "up", Args: []string{"robot", "token", "acme"}}, err: "must run 'up organization token'"},
		"Few":      {reason: "Too few arguments are not the expected command.", exec: &clientcmdapi.ExecConfig{Command: "up", Args: []string{"org"}}, err: "must run 'up organization token'"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := organizationOf(tc.exec)
			if got != tc.want || (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
				t.Errorf("\n%s\norganizationOf(...): %q, %v; want %q, %q", tc.reason, got, err, tc.want, tc.err)
			}
		})
	}
}

func TestWrap(t *testing.T) {
	cases := map[string]struct {
		reason string
		code   int
		answer string
		want   string
		err    string
		asked  int
	}{
		"Good":     {reason: "A token is used until it expires.", code: 200, answer: `{"access_token":"scoped","expires_in":3600}`, want: "Bearer scoped", asked: 1},
		"Expired":  {reason: "An expired token is replaced by another one.", code: 200, answer: `{"access_token":"scoped","expires_in":1}`, want: "Bearer scoped", asked: 2},
		"Refused":  {reason: "The error does not contain the response of the server.", code: 401, answer: "canary", err: `Upbound rejects the token for organization "acme" (401 Unauthorized)`, asked: 2},
		"Redirect": {reason: "The token is not sent elsewhere.", code: 307, err: `Upbound rejects the token for organization "acme" (307 Temporary Redirect)`, asked: 2},
		"Nothing":  {reason: "A response without a token is an error, because an empty token would be sent.", code: 200, answer: `{}`, err: "Upbound returned no token", asked: 2},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			asked := 0
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked++
				if err := r.ParseForm(); err != nil {
					t.Error(err)
				}
				want := url.Values{
					"audience": {"upbound:spaces:api", "upbound:spaces:controlplanes"}, "scope": {"upbound:org:acme"},
					"grant_type":    {"urn:ietf:params:oauth:grant-type:token-exchange"},
					"subject_token": {"robot"}, "subject_token_type": {"urn:ietf:params:oauth:token-type:id_token"},
				}
				if diff := cmp.Diff(want, r.PostForm); diff != "" || r.Header.Get("Authorization") != "Bearer robot" {
					t.Errorf("\n%s\nexchange with %q: -want, +got:\n%s", tc.reason, r.Header.Get("Authorization"), diff)
				}
				w.Header().Set("Location", "/elsewhere")
				w.WriteHeader(tc.code)
				_, _ = io.WriteString(w, tc.answer)
			}))
			defer s.Close()
			rc := &rest.Config{ExecProvider: &clientcmdapi.ExecConfig{Command: "up", Args: []string{"org", "token", "acme"}}}
			if err := wrap(rc, &exchange{client: netguard.New(netguard.Options{}).Dialer(netguard.Platform).Client(time.Minute), url: s.URL, token: "robot"}); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				got, err := authorization(t, rc)
				text := ""
				if err != nil {
					text = fmt.Sprint(err)
				}
				if got != tc.want || text != tc.err {
					t.Errorf("\n%s\nRoundTrip(...): %q, want %q; error %q, want %q", tc.reason, got, tc.want, text, tc.err)
				}
			}
			if asked != tc.asked {
				t.Errorf("\n%s\n%d exchanges for two requests, want %d", tc.reason, asked, tc.asked)
			}
		})
	}
}

// authorization returns the Authorization header of a request that is sent through a REST config.
func authorization(t *testing.T, rc *rest.Config) (got string, err error) {
	t.Helper()
	rt := rc.WrapTransport(roundTripper(func(r *http.Request) (*http.Response, error) {
		got = r.Header.Get("Authorization")
		return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, nil
	}))
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://cluster.example.org/", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := rt.RoundTrip(r)
	if err != nil {
		return "", err
	}
	return got, resp.Body.Close()
}

type roundTripper func(r *http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
