// SPDX-License-Identifier: Apache-2.0

package process

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestWait(t *testing.T) {
	broken := errors.New("the server ended")
	cases := map[string]struct {
		reason string
		// moves returns the observed state after a given time.
		moves  func(time.Duration) string
		after  time.Duration
		broken error
		want   string
		took   time.Duration
	}{
		"Slow": {
			reason: "A process that makes progress every minute can take longer than the timeout without progress.",
			moves:  func(d time.Duration) string { return d.Truncate(time.Minute).String() },
			after:  5 * time.Minute, took: 5 * time.Minute,
		},
		"Stands": {
			reason: "The wait ends if there is no progress.",
			moves:  func(time.Duration) string { return "condition Ready is False" },
			after:  time.Hour, want: "the thing: timed out because nothing changed for 2m0s; last state: condition Ready is False", took: 2 * time.Minute,
		},
		"Flaps": {
			reason: "The wait also ends for a process that makes progress forever.",
			moves:  func(d time.Duration) string { return fmt.Sprint(d) },
			after:  time.Hour, want: "the thing: timed out after 10m0s; last state: ", took: 10 * time.Minute,
		},
		"Broken": {
			reason: "The wait ends at once if the condition can never be met.",
			moves:  func(time.Duration) string { return "" }, broken: broken,
			after: time.Hour, want: "the server ended",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begin := time.Now()
				w := Wait{What: "the thing", Broken: func() error { return tc.broken }}
				err := w.Until(t.Context(), func(context.Context) (bool, string, error) {
					took := time.Since(begin)
					return took >= tc.after, tc.moves(took), nil
				})
				switch {
				case tc.want == "" && err != nil:
					t.Errorf("%s\nunexpected error: %v", tc.reason, err)
				case tc.want != "" && (err == nil || !strings.HasPrefix(err.Error(), tc.want)):
					t.Errorf("%s\nwant error %q, got %v", tc.reason, tc.want, err)
				}
				if took := time.Since(begin); took < tc.took || took > tc.took+time.Second {
					t.Errorf("%s\nwant it to take %s, took %s", tc.reason, tc.took, took)
				}
			})
		})
	}
}

// TestWaitEnds checks that a wait ends with the context, and returns its cause.
func TestWaitEnds(t *testing.T) {
	cause := errors.New("the cluster ended")
	ctx, cancel := context.WithCancelCause(t.Context())
	err := Wait{What: "the thing"}.Until(ctx, func(context.Context) (bool, string, error) {
		cancel(cause)
		return false, "", errors.New("connection refused")
	})
	if !errors.Is(err, cause) {
		t.Errorf("want the cause, got %v", err)
	}
}
