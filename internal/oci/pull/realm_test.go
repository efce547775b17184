// SPDX-License-Identifier: Apache-2.0

package pull

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/internal/netguard"
	"github.com/crossplane-contrib/provider-kyma/internal/netguard/netguardtest"
	"github.com/crossplane-contrib/provider-kyma/internal/oci"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/ocitest"
)

// TestRealm checks to which token services the credentials of a registry are sent.
func TestRealm(t *testing.T) {
	basic := "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))
	identity := func(host string) []byte { return fmt.Appendf(nil, `{"auths":{%q:{"identitytoken":"canary"}}}`, host) }
	cases := map[string]struct {
		reason string
		// own is true if the registry is its own token service.
		own    bool
		listed bool
		// identity is true if the credentials are a refresh token instead of a password.
		identity bool
		// public is true if the token service needs no credentials.
		public bool
		// asked lists what the token service receives: credentials, or the form of a request.
		asked []string
		err   string
	}{
		"Own":            {reason: "The registry itself gets its credentials.", own: true, asked: []string{basic}},
		"Other":          {reason: "Only the registry says that this host is its token service.", asked: []string{""}, err: "add it to tokenHosts for the registry in spec.registries of the ProviderConfig"},
		"OtherPublic":    {reason: "Without credentials, an unknown token service may be used.", public: true, asked: []string{""}},
		"Listed":         {reason: "An entry with the host allows a token service.", listed: true, asked: []string{basic}},
		"Identity":       {reason: "A token service of the registry gets the token of an identity.", own: true, identity: true, asked: []string{"canary"}},
		"IdentityOther":  {reason: "The token of an identity is not sent to an unknown token service.", identity: true, asked: []string{""}, err: "add it to tokenHosts for the registry in spec.registries of the ProviderConfig"},
		"IdentityListed": {reason: "An entry with the host allows a token service with an identity.", identity: true, listed: true, asked: []string{"canary"}},
		"IdentityPublic": {reason: "Without the token of an identity, an unknown token service may be used.", identity: true, public: true, asked: []string{""}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var asked []string
			tokens := func(w http.ResponseWriter, r *http.Request) bool {
				if r.URL.Path != "/token" {
					return false
				}
				got := r.Header.Get("Authorization") + r.PostFormValue("refresh_token")
				asked = append(asked, got)
				if got == "" && !tc.public {
					w.WriteHeader(http.StatusUnauthorized)
					return true
				}
				fmt.Fprint(w, `{"token":"t0ken"}`)
				return true
			}
			s, other := ocitest.NewRegistry(t), ocitest.NewRegistry(t)
			other.Misbehave(tokens)
			_, port, _ := strings.Cut(other.Host(), ":")
			realm := "http://tokens.example.test:" + port
			if tc.own {
				realm = s.URL
			}
			data := ocitest.Chart(t, "realm")
			digest := s.Push(t, repo, data)
			s.Misbehave(func(w http.ResponseWriter, r *http.Request) bool {
				if tokens(w, r) || r.Header.Get("Authorization") == "Bearer t0ken" {
					return r.URL.Path == "/token"
				}
				w.Header().Set("WWW-Authenticate", fmt.Sprintf(`Bearer realm="%s/token",service="x"`, realm))
				w.WriteHeader(http.StatusUnauthorized)
				return true
			})
			entry := oci.Registry{Host: s.Host(), PlainHTTP: true, Username: user, Password: password}
			if tc.identity {
				entry = oci.Registry{Host: s.Host(), PlainHTTP: true, DockerConfig: identity(s.Host())}
			}
			if tc.listed {
				entry.TokenHosts = []string{"tokens.example.test:" + port}
			}
			guard := netguard.New(netguard.Options{
				Allow:    []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")},
				Resolver: netguardtest.Names{"tokens.example.test": {"127.0.0.1"}}.Resolver(nil),
			})
			got, err := newClient(t, WithGuard(guard)).Blob(t.Context(), oci.Registries{entry}, s.Host()+"/"+repo, digest)
			if (err == nil) != (tc.err == "") || !strings.Contains(text(err), tc.err) || err == nil && !cmp.Equal(data, got) {
				t.Errorf("%s\nBlob(...): %d bytes, error %q does not contain %q", tc.reason, len(got), text(err), tc.err)
			}
			if diff := cmp.Diff(tc.asked, asked); diff != "" {
				t.Errorf("%s\nthe token service got: -want, +got:\n%s", tc.reason, diff)
			}
			if strings.Contains(text(err), "canary") || strings.Contains(text(err), password) {
				t.Errorf("%s\nthe error shows credentials: %q", tc.reason, text(err))
			}
		})
	}
}
