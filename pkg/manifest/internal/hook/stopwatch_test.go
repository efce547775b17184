// SPDX-License-Identifier: Apache-2.0

package hook

import (
	"strings"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
)

// TestClockOfHooks checks that the timeout of a hook does not depend on changes of the clock while it runs.
func TestClockOfHooks(t *testing.T) {
	job := aHook("Job", "a")
	cases := map[string]struct {
		reason string
		// really is how long the hook runs, and jump is how far the clock advances in this time. restart discards the state of
		// the process.
		jump, really time.Duration
		restart      bool
		// other is true if a hook of another install runs at the same time.
		other bool
		late  bool
	}{
		"Forward": {reason: "The clock is set forward.", jump: time.Hour, really: time.Second},
		"Other":   {reason: "The clock is set forward while two hooks run.", jump: time.Hour, really: time.Second, other: true},
		"Back":    {reason: "The clock is set back, and the time is over.", jump: -time.Hour, really: time.Minute, late: true},
		"Steady":  {reason: "The time is over.", jump: time.Minute, really: time.Minute, late: true},
		"Early":   {reason: "The time is not over.", jump: 59 * time.Second, really: 59 * time.Second},
		"Restart": {reason: "The time during which no process ran counts.", jump: time.Minute, really: time.Second, restart: true, late: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s, ran := newStage(job), time.Duration(0)
			s.target.outcome = ""
			s.Stopwatch = &Stopwatch{since: func(time.Time, time.Time) time.Duration { return ran }}
			if got, err := s.Advance(t.Context()); err != nil || !got.Waits() {
				t.Fatalf("a hook that began must be waited for: %v, %v", got, err)
			}
			if tc.restart {
				s.Stopwatch = &Stopwatch{}
			}
			if tc.other {
				s.Stopwatch.Elapsed(&inventory.Run{ID: "other", Started: s.now}, s.Now())
			}
			s.now += int64(tc.jump / time.Second)
			ran = tc.really
			if _, err := s.Advance(t.Context()); err != nil {
				t.Fatal(err)
			}
			if late := strings.Contains(s.Run.Failed, "did not finish within"); late != tc.late {
				t.Errorf("\n%s\nlate: want %t, got %t: %q", tc.reason, tc.late, late, s.Run.Failed)
			}
		})
	}
}
