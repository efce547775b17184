// SPDX-License-Identifier: Apache-2.0

package oci

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

type fakeIdentity struct {
	name string
	err  error
}

func (i fakeIdentity) Name() string { return i.name }

func (i fakeIdentity) Forget(string) {}

func (i fakeIdentity) Credentials(_ context.Context, host string) (user, password string, err error) {
	// A colon would end the user name.
	return "user of " + strings.ReplaceAll(host, ":", " "), "password", i.err
}

// TestIdentity checks that an identity grants access, and that its errors are returned unchanged.
func TestIdentity(t *testing.T) {
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		if user != "user of "+strings.ReplaceAll(r.Host, ":", " ") || password != "password" {
			w.Header().Set("WWW-Authenticate", `Basic realm="test"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		_, _ = w.Write([]byte("content"))
	}))
	defer s.Close()
	u, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		reason string
		i      Identity
		want   string
		err    string
	}{
		"Good":     {reason: "The request has the credentials of the identity for the host.", i: fakeIdentity{}, want: "content"},
		"None":     {reason: "The error has the reason, and does not mention the Docker configuration.", i: fakeIdentity{err: errors.New("no role")}, err: "no role"},
		"GaveUp":   {reason: "The caller canceled the request.", i: fakeIdentity{err: context.Canceled}, err: `the request to host "` + u.Host + `" was canceled: context canceled`},
		"Password": {reason: "Without an identity it is refused.", err: `host "` + u.Host + `" requires valid credentials (401 Unauthorized): check pullSecretRef for the host in spec.registries of the ProviderConfig`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			p := NewPool("test", 1<<10, nil)
			p.Pauses = []time.Duration{}
			defer p.Close()
			r, err := Registries{{Host: u.Host, Identity: tc.i, SkipTLSVerify: true}}.Repository(u.Host + "/x")
			if err != nil {
				t.Fatal(err)
			}
			data, err := p.Get(t.Context(), r, Blobs, DigestOf([]byte("content")), 1<<10)
			if got := text(Explain(err, u.Host)); string(data) != tc.want || got != tc.err {
				t.Errorf("\n%s\nGet(...): %q, want %q; want error %q, got %q", tc.reason, data, tc.want, tc.err, got)
			}
		})
	}
}
