// SPDX-License-Identifier: Apache-2.0

package cache

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/v1/remote/transport"

	"github.com/crossplane-contrib/provider-kyma/internal/oci"
)

// TestGrants checks when the server is asked again whether a caller is allowed to have cached content.
func TestGrants(t *testing.T) {
	data := []byte("content")
	digest := oci.DigestOf(data)
	refusal := func(code int) error {
		resp := httptest.NewRecorder()
		resp.WriteHeader(code)
		answer := resp.Result()
		answer.Request = httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
		defer answer.Body.Close()
		return transport.CheckError(answer, http.StatusOK)
	}
	cases := map[string]struct {
		reason string
		after  time.Duration
		// refused is the status code of a request that the caller sends in between.
		caller  string
		refused int
		want    int
	}{
		"AtOnce":       {reason: "A grant saves requests."},
		"LessThanHour": {reason: "A grant saves requests for an hour.", after: 59 * time.Minute},
		"AnHour":       {reason: "After an hour, the permission may have been withdrawn.", after: time.Hour, want: 1},
		"Unauthorized": {reason: "The account of the caller was disabled.", caller: "ann", refused: 401, want: 1},
		"Forbidden":    {reason: "If one permission was withdrawn, others may have been withdrawn, too.", caller: "ann", refused: 403, want: 1},
		"NotFound":     {reason: "A missing repository says nothing about permissions.", caller: "ann", refused: 404},
		"OtherCaller":  {reason: "The failure of another caller does not affect a grant.", caller: "bob", refused: 401},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c, err := New("", 0)
			if err != nil {
				t.Fatal(err)
			}
			now := time.Unix(0, 0)
			c.grants.now = func() time.Time { return now }
			asked := 0
			q := Request{
				Scope: "server", Digest: digest, Limit: 100, Grant: Grant{Caller: "ann", Content: "repo " + digest},
				May: func(context.Context) (bool, error) { asked++; return true, nil },
				Get: func(context.Context) ([]byte, error) { return data, nil },
			}
			for range 2 {
				if _, err := c.Content(t.Context(), q); err != nil {
					t.Fatal(err)
				}
			}
			if asked != 0 {
				t.Fatalf("%s\nthe server was asked again right after the content was fetched", tc.reason)
			}
			now = now.Add(tc.after)
			if tc.refused != 0 {
				other := Request{
					Scope: "server", Digest: oci.DigestOf(nil), Limit: 100, Grant: Grant{Caller: tc.caller, Content: "other"},
					Get: func(context.Context) ([]byte, error) { return nil, refusal(tc.refused) },
				}
				if _, err := c.Content(t.Context(), other); oci.Status(err) != tc.refused {
					t.Fatal(err)
				}
			}
			if _, err := c.Content(t.Context(), q); err != nil || asked != tc.want {
				t.Errorf("%s\nContent(...): asked %d times, want %d; error %v", tc.reason, asked, tc.want, err)
			}
		})
	}
}

// TestGrantsBound checks that the oldest grants are dropped completely.
func TestGrantsBound(t *testing.T) {
	p := newGrants(3, time.Now)
	for i := range 10 {
		p.add(Grant{Caller: strconv.Itoa(i % 5), Content: strconv.Itoa(i)})
	}
	p.add(Grant{Caller: "4", Content: "9"})
	if p.has(Grant{Caller: "1", Content: "6"}) || !p.has(Grant{Caller: "2", Content: "7"}) || p.order.Len() != 3 || len(p.byCaller) != 3 {
		t.Errorf("want the last three of three callers, got %d of %d", p.order.Len(), len(p.byCaller))
	}
	p.drop("4")
	p.drop("4")
	if p.has(Grant{Caller: "4", Content: "9"}) || p.order.Len() != 2 || len(p.byCaller) != 2 {
		t.Errorf("want the last two of two callers, got %d of %d", p.order.Len(), len(p.byCaller))
	}
}
