// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/google/go-cmp/cmp"
)

// limited is an error of a deadline that names the deadline.
type limited struct{}

func (limited) Error() string        { return "gave up after the 2m that --timeout allows" }
func (limited) TimeLimit() string    { return "2m" }
func (limited) Is(target error) bool { return target == context.DeadlineExceeded }

// TestLimitNamed checks that an error names the exceeded timeout, if the caller knows it.
func TestLimitNamed(t *testing.T) {
	block := make(chan struct{})
	_, rc := newTLS(t, func(http.ResponseWriter, *http.Request) { <-block })
	defer close(block)
	cases := map[string]struct {
		reason string
		cause  error
		want   string
	}{
		"Named":   {reason: "The time and its flag are named.", cause: limited{}, want: "API server " + rc.Host + ": timed out: gave up after the 2m that --timeout allows"},
		"Nothing": {reason: "Nothing is added where nothing is known.", want: "API server " + rc.Host + ": timed out"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeoutCause(t.Context(), 50*time.Millisecond, tc.cause)
			defer cancel()
			_, _, err := get(ctx, newTransport(t, rc, Options{}), rc.Host)
			if err == nil {
				t.Fatalf("\n%s\nwant an error when the time is up", tc.reason)
			}
			if diff := cmp.Diff(tc.want, Explain(errors.Wrap(err, "x")).Error()); diff != "" {
				t.Errorf("\n%s\nExplain(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
