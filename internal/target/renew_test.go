// SPDX-License-Identifier: Apache-2.0

package target

import (
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/rest"
)

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestRenewer checks when a token is replaced.
func TestRenewer(t *testing.T) {
	type step struct {
		after time.Duration
		code  int
		// want is the token in the request.
		want string
	}
	cases := map[string]struct {
		reason string
		steps  []step
	}{
		"Accepted":  {reason: "A token is kept.", steps: []step{{0, 200, "1"}, {time.Hour, 200, "1"}, {time.Hour, 403, "1"}, {time.Hour, 200, "1"}}},
		"Refused":   {reason: "A token that is refused is replaced.", steps: []step{{time.Hour, 401, "1"}, {0, 200, "2"}}},
		"NewToken":  {reason: "A new token that is refused is not replaced at once.", steps: []step{{0, 401, "1"}, {30 * time.Second, 401, "1"}, {30 * time.Second, 401, "1"}, {0, 401, "2"}}},
		"EachPause": {reason: "It is replaced again after a pause.", steps: []step{{time.Minute, 401, "1"}, {time.Second, 401, "2"}, {time.Minute, 401, "2"}, {time.Second, 200, "3"}}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			tokens := 0
			rc := &rest.Config{}
			err := renewing(rc, func(rc *rest.Config) error {
				tokens++
				token := strconv.Itoa(tokens)
				rc.Wrap(func(next http.RoundTripper) http.RoundTripper {
					return roundTripper(func(r *http.Request) (*http.Response, error) {
						r.Header.Set("Authorization", token)
						return next.RoundTrip(r)
					})
				})
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			code, got := 0, ""
			rt := rc.WrapTransport(roundTripper(func(r *http.Request) (*http.Response, error) {
				got = r.Header.Get("Authorization")
				return &http.Response{StatusCode: code, Body: http.NoBody}, nil
			}))
			now := rt.(*renewer).since
			rt.(*renewer).now = func() time.Time { return now }
			for i, s := range tc.steps {
				now, code = now.Add(s.after), s.code
				req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://api.example.org", nil)
				if err != nil {
					t.Fatal(err)
				}
				resp, err := rt.RoundTrip(req)
				if err != nil {
					t.Fatal(err)
				}
				resp.Body.Close()
				if diff := cmp.Diff(s.want, got); diff != "" {
					t.Errorf("%s\nrequest %d: -want, +got:\n%s", tc.reason, i, diff)
				}
			}
		})
	}
}
