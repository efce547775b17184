// SPDX-License-Identifier: Apache-2.0

package cloud

import (
	"crypto/rand"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/internal/netguard"
)

// toServer is a transport that sends the requests for a registry to a server.
type toServer struct {
	t      *testing.T
	server string
}

func (s toServer) RoundTrip(r *http.Request) (*http.Response, error) {
	if want := "https://" + hostOfACR + "/oauth2/exchange"; r.URL.String() != want {
		s.t.Errorf("the token was sent to %s, want %s", r.URL, want)
	}
	out := r.Clone(r.Context())
	u, err := url.Parse(s.server + r.URL.Path)
	if err != nil {
		return nil, err
	}
	out.URL, out.Host = u, ""
	return http.DefaultTransport.RoundTrip(out)
}

func TestAzure(t *testing.T) {
	cases := map[string]struct {
		reason   string
		token    int
		exchange int
		want     got
		asked    []string
	}{
		"Machine": {
			reason: "The managed identity gets a token of the registry, which is cached.", token: 200, exchange: 200,
			want: got{User: userOfACR, Password: "refresh"}, asked: []string{"GET /token", "POST /oauth2/exchange"},
		},
		"NoIdentity": {
			reason: "The machine does not have this identity.", token: 400, exchange: 200,
			want:  got{Err: `azure did not return credentials for host "example.azurecr.io": Microsoft Entra ID rejects the identity (400 Bad Request)`},
			asked: []string{"GET /token"},
		},
		"NoRole": {
			reason: "The identity has no permission to pull.", token: 200, exchange: 401,
			want:  got{Err: `azure did not return credentials for host "example.azurecr.io": the registry rejects the identity (401 Unauthorized)`},
			asked: []string{"GET /token", "POST /oauth2/exchange"},
		},
		"Redirect": {
			reason: "The token is not sent to another host.", token: 200, exchange: 307,
			want:  got{Err: `azure did not return credentials for host "example.azurecr.io": the registry rejects the identity (307 Temporary Redirect)`},
			asked: []string{"GET /token", "POST /oauth2/exchange"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			isolate(t)
			s := newServer(t, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Location", "https://elsewhere.example.org/")
				w.Header().Set("Content-Type", "application/json")
				if r.URL.Path == "/token" {
					w.WriteHeader(tc.token)
					_, _ = fmt.Fprintf(w, `{"access_token":"entra","token_type":"Bearer","expires_on":"%d"}`, time.Now().Add(time.Hour).Unix())
					return
				}
				if diff := cmp.Diff(url.Values{"grant_type": {"access_token"}, "service": {hostOfACR}, "access_token": {"entra"}}, r.PostForm); diff != "" {
					t.Errorf("exchange: -want, +got:\n%s", diff)
				}
				w.WriteHeader(tc.exchange)
				_, _ = io.WriteString(w, `{"refresh_token":"refresh"}`)
			})
			// The library caches the tokens of each identity for the whole process.
			t.Setenv("AZURE_CLIENT_ID", t.Name()+rand.Text())
			t.Setenv("IDENTITY_ENDPOINT", s.URL+"/token")
			t.Setenv("IDENTITY_HEADER", "header")
			i := newAzure()
			client := netguard.New(netguard.Options{}).Dialer(netguard.Platform).Client(loginTimeout)
			client.Transport = toServer{t, s.URL}
			i.source = (&azure{
				client:     client,
				credential: credentialOfAzure,
			}).login
			if diff := cmp.Diff(tc.want, credentials(t, i, hostOfACR)); diff != "" {
				t.Errorf("\n%s\nCredentials(...): -want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.asked, s.asked); diff != "" {
				t.Errorf("\n%s\nrequests: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
