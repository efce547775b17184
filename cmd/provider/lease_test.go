// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"k8s.io/client-go/rest"
)

// TestLease checks that a process stops leading when its last renewal expires, even if its leader election has not detected
// this yet.
func TestLease(t *testing.T) {
	const renew, refuse, read = http.MethodPut, http.MethodPatch, http.MethodGet
	cases := map[string]struct {
		reason string
		// requests are sent at intervals of one minute.
		requests []string
		after    time.Duration
		want     bool
	}{
		"None":    {reason: "Without a lease, a process does not lead."},
		"Read":    {reason: "To read a lease does not renew it.", requests: []string{read}},
		"Refused": {reason: "A refused renewal is none.", requests: []string{refuse}},
		"Renewed": {reason: "A process leads until its lease ends.", requests: []string{renew}, after: leaseDuration - 1, want: true},
		"Ended":   {reason: "Another process may lead as soon as the lease ended.", requests: []string{renew}, after: leaseDuration},
		"Again":   {reason: "Each renewal counts.", requests: []string{renew, renew}, after: leaseDuration - 1, want: true},
		"Stale":   {reason: "A failed renewal doesn't extend the lease.", requests: []string{renew, refuse}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method == refuse {
					w.WriteHeader(http.StatusConflict)
				}
			}))
			defer s.Close()
			now := time.Unix(1_700_000_000, 0)
			l := &lease{now: func() time.Time { return now }}
			c, err := rest.HTTPClientFor(l.observe(&rest.Config{Host: s.URL}))
			if err != nil {
				t.Fatal(err)
			}
			for i, method := range tc.requests {
				if i > 0 {
					now = now.Add(leaseDuration)
				}
				send(t.Context(), t, c, method, s.URL)
			}
			now = now.Add(tc.after)
			if err := l.check(); (err == nil) != tc.want {
				t.Errorf("\n%s\ncheck(): want that it leads: %t, got %v", tc.reason, tc.want, err)
			}
		})
	}
}

func send(ctx context.Context, t *testing.T, c *http.Client, method, url string) {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := c.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
}

// TestLeaseNamespace checks that a process outside of a pod doesn't need the flag.
func TestLeaseNamespace(t *testing.T) {
	f := &flags{leaderElectionNamespace: "a"}
	if got := f.leaseNamespace(); got != "a" {
		t.Errorf("want the namespace of the flag, got %q", got)
	}
}
