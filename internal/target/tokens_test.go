// SPDX-License-Identifier: Apache-2.0

package target

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// serviceAccount returns a Google key with a token server.
func serviceAccount(t *testing.T, tokenURI string) []byte {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	private := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
	data, err := json.Marshal(map[string]string{
		"type": "service_account", "client_email": "x@example.org", "private_key": string(private), "token_uri": tokenURI,
	})
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestTokenServer checks that token requests go through the guard, and follow no redirects. Resolve already rejects token
// servers that don't belong to Google.
func TestTokenServer(t *testing.T) {
	cases := map[string]struct {
		reason   string
		platform bool
		path     string
		asked    []string
		tokens   map[string]bool
		want     string
	}{
		"Tenant":   {reason: "A tenant reaches no program of the node.", path: "/token", want: ": refusing to connect to a loopback address"},
		"Platform": {reason: "An administrator does.", platform: true, path: "/token", asked: []string{"/token"}, tokens: map[string]bool{"Bearer t0ken": true}},
		"Redirect": {reason: "The answer of another server isn't a token.", platform: true, path: "/elsewhere", asked: []string{"/elsewhere"}, want: "the identity cannot get a token: the token server returned Temporary Redirect"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var mu sync.Mutex
			var asked []string
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				mu.Lock()
				asked = append(asked, r.URL.Path)
				mu.Unlock()
				if r.URL.Path == "/elsewhere" {
					http.Redirect(w, r, "/token", http.StatusTemporaryRedirect)
					return
				}
				w.Header().Set("Content-Type", "application/json")
				fmt.Fprint(w, `{"access_token":"t0ken","token_type":"Bearer","expires_in":3600}`)
			}))
			defer server.Close()
			s := newAPIServer(t)
			c := s.credentials("", "")
			c.platform = tc.platform
			c.identity = &identity{kind: v1alpha1.IdentityTypeGoogleApplicationCredentials, data: serviceAccount(t, server.URL+tc.path)}
			c.Digest = digest(c)
			p := NewPool(fakeInterpreter{})
			_, err := must[*Cluster](t)(p.Get("x", c)).Version(t.Context())
			p.Close()
			server.Close()
			s.Close()
			if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s\nVersion(...): want error %q, got %v", tc.reason, tc.want, err)
			}
			if diff := cmp.Diff(tc.asked, slices.Compact(asked)); diff != "" {
				t.Errorf("%s\nrequests for tokens: -want, +got:\n%s", tc.reason, diff)
			}
			if tc.tokens == nil {
				tc.tokens = map[string]bool{}
			}
			if diff := cmp.Diff(tc.tokens, s.tokens); diff != "" {
				t.Errorf("%s\ntokens that the API server got: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
