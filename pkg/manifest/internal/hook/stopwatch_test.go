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
		// really is how long the hook runs, and jump is how far the clock advances in this time.
		jump, really time.Duration
		// other is true if a hook of another install runs at the same time.
		other bool
		late  bool
	}{
		"Forward": {reason: "The clock is set forward.", jump: time.Hour, really: time.Second},
		"Other":   {reason: "The clock is set forward while two hooks run.", jump: time.Hour, really: time.Second, other: true},
		"Back":    {reason: "The clock is set back, and the time is over.", jump: -time.Hour, really: time.Minute, late: true},
		"Steady":  {reason: "The time is over.", jump: time.Minute, really: time.Minute, late: true},
		"Early":   {reason: "The time is not over.", jump: 59 * time.Second, really: 59 * time.Second},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s, ran := newStage(job), time.Duration(0)
			s.target.outcome = ""
			s.Stopwatch = &Stopwatch{since: func(time.Time, time.Time) time.Duration { return ran }}
			if got, err := s.Advance(t.Context()); err != nil || !got.Waits() {
				t.Fatalf("a hook that began must be waited for: %v, %v", got, err)
			}
			if tc.other {
				_, _ = s.Stopwatch.Elapsed(&inventory.Run{ID: "other", Started: s.now}, s.Now())
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

// TestClockAcrossRestarts checks the timeout of a hook whose process is restarted, while the clock changes, one step after another.
func TestClockAcrossRestarts(t *testing.T) {
	// A step is a pass. clock is the time since the start of the hook, by the clock of the pass. restart discards the state of the process
	// before it.
	type step struct {
		clock   time.Duration
		restart bool
		late    bool
	}
	cases := map[string]struct {
		reason string
		steps  []step
	}{
		"Steady": {
			reason: "The timeout begins again with the process, because the clock can be different.",
			steps:  []step{{clock: 40 * time.Second, restart: true}, {clock: 99 * time.Second}, {clock: 100 * time.Second, late: true}},
		},
		"Forward": {
			reason: "If the clock was set forward, the hook doesn't fail at once.",
			steps:  []step{{clock: time.Hour, restart: true}, {clock: time.Hour + 59*time.Second}, {clock: time.Hour + time.Minute, late: true}},
		},
		"SlightlyForward": {
			reason: "If the clock was set forward a little, the timeout begins again, too.",
			steps:  []step{{clock: 59 * time.Second, restart: true}, {clock: 60 * time.Second}, {clock: 118 * time.Second}, {clock: 119 * time.Second, late: true}},
		},
		"Often": {
			reason: "The timeout begins again only once, even if each pass is in another process.",
			steps:  []step{{clock: time.Minute, restart: true}, {clock: 119 * time.Second, restart: true}, {clock: 2 * time.Minute, restart: true, late: true}},
		},
		"Back": {
			reason: "A hook that seems to start in the future starts now, even if each pass is in another process.",
			steps: []step{
				{clock: -time.Hour, restart: true}, {clock: -time.Hour + time.Minute, restart: true}, {clock: -time.Hour + 119*time.Second, restart: true},
				{clock: -time.Hour + 2*time.Minute, restart: true, late: true},
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := newStage(aHook("Job", "a"))
			s.target.outcome, s.Stopwatch = "", &Stopwatch{}
			if got, err := s.Advance(t.Context()); err != nil || !got.Waits() {
				t.Fatalf("a hook that began must be waited for: %v, %v", got, err)
			}
			began := s.now
			for i, p := range tc.steps {
				if p.restart {
					s.Stopwatch = &Stopwatch{}
				}
				s.now = began + int64(p.clock/time.Second)
				if _, err := s.Advance(t.Context()); err != nil {
					t.Fatal(err)
				}
				if late := strings.Contains(s.Run.Failed, "did not finish within"); late != p.late {
					t.Errorf("\n%s\nstep %d: want late %t, got %t: %q", tc.reason, i, p.late, late, s.Run.Failed)
				}
			}
		})
	}
}
