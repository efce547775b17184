// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/rest"
)

// TestSetToken checks which token and which body the server gets when the token is replaced before or during a request.
func TestSetToken(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(rc *rest.Config)
		// during is true if the token is replaced while the server processes the request, which it rejects then.
		during bool
		body   io.Reader
		header string
		set    bool
		want   []string
		code   int
	}{
		"Before": {reason: "Requests have the new token.", set: true, want: []string{"Bearer new "}, code: http.StatusOK},
		"Body":   {reason: "Requests have the new token.", body: strings.NewReader("x"), set: true, want: []string{"Bearer new x"}, code: http.StatusOK},
		"During": {
			reason: "A request whose token was replaced is repeated.", during: true, body: strings.NewReader("x"), set: true,
			want: []string{"Bearer t x", "Bearer new x"}, code: http.StatusOK,
		},
		"Stream": {
			reason: "A body that can't be read again isn't sent again.", during: true, body: io.MultiReader(strings.NewReader("x")), set: true,
			want: []string{"Bearer t x"}, code: http.StatusUnauthorized,
		},
		"Own":      {reason: "A request can have its own credentials.", header: "Bearer own", set: true, want: []string{"Bearer own "}, code: http.StatusOK},
		"Password": {reason: "There is no token.", change: func(rc *rest.Config) { rc.BearerToken, rc.Username = "", "u" }, want: []string{"Basic dTo= "}, code: http.StatusOK},
		"Wrapped": {
			reason: "Something else adds a token.", want: []string{"Bearer t "}, code: http.StatusOK,
			change: func(rc *rest.Config) { rc.WrapTransport = func(rt http.RoundTripper) http.RoundTripper { return rt } },
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var mu sync.Mutex
			var got []string
			replace := func() {}
			s, rc := newTLS(t, func(w http.ResponseWriter, r *http.Request) {
				body, err := io.ReadAll(r.Body)
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				got = append(got, r.Header.Get("Authorization")+" "+string(body))
				mu.Unlock()
				if tc.during && r.Header.Get("Authorization") == "Bearer t" {
					replace()
					w.WriteHeader(http.StatusUnauthorized)
				}
			})
			if tc.change != nil {
				tc.change(rc)
			}
			tr := newTransport(t, rc, Options{})
			if printed := fmt.Sprintf("%+v %#v", tr.bearer, tr.bearer); strings.Contains(printed, `"t"`) {
				t.Errorf("a bearer prints its token: %s", printed)
			}
			replace = func() {
				if set := tr.SetToken("new"); set != tc.set {
					t.Errorf("\n%s\nSetToken(...): want %t, got %t", tc.reason, tc.set, set)
				}
			}
			if !tc.during {
				replace()
			}
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL, tc.body)
			if err != nil {
				t.Fatal(err)
			}
			if tc.header != "" {
				req.Header.Set("Authorization", tc.header)
			}
			resp, err := tr.RoundTrip(req)
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
			if diff := cmp.Diff(tc.want, got); diff != "" || resp.StatusCode != tc.code {
				t.Errorf("\n%s\nwant code %d, got %d; requests: -want, +got:\n%s", tc.reason, tc.code, resp.StatusCode, diff)
			}
		})
	}
}
