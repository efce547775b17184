// SPDX-License-Identifier: Apache-2.0

package hook

import (
	"fmt"
	"time"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
)

// A Stopwatch measures how long hooks have been running, independently of changes to the system clock. The zero value is ready
// to use. It must not be used concurrently.
type Stopwatch struct {
	// since returns the duration since an earlier time. If it is nil, the difference of the times is used, which is monotonic
	// for times from time.Now.
	since func(now, earlier time.Time) time.Duration
	// laps maps the ID of each run to its current hook.
	laps map[string]lap
}

// A lap is one hook of a run, or the deletion after an event.
type lap struct {
	hook string
	// began is the time when this process first saw the hook, and before is how long the hook had been running at that time.
	began  time.Time
	before time.Duration
}

// mostLaps limits the number of laps, because laps of completed runs are not deleted. A dropped lap is restarted from the
// system clock.
const mostLaps = 64

// knows reports whether the stopwatch measures the current hook of a run.
func (s *Stopwatch) knows(run *inventory.Run) bool { return s.laps[run.ID].hook == hookOf(run) }

// hookOf returns a text that is unique to the current hook of a run. It is never empty.
func hookOf(run *inventory.Run) string {
	return fmt.Sprint(run.Event, " ", run.Index, " ", run.Started)
}

// Elapsed returns how long the current hook of a run, or the deletion after an event, has been running, and how much of that time the
// stopwatch has measured. The time before this process first saw the hook is based on the system clock, and the time after that is not.
func (s *Stopwatch) Elapsed(run *inventory.Run, now time.Time) (all, measured time.Duration) {
	l := s.laps[run.ID]
	if !s.knows(run) {
		if s.laps == nil || len(s.laps) >= mostLaps {
			s.laps = map[string]lap{}
		}
		l = lap{hook: hookOf(run), began: now, before: max(0, now.Sub(time.Unix(run.Started, 0)))}
		s.laps[run.ID] = l
	}
	measured = now.Sub(l.began)
	if s.since != nil {
		measured = s.since(now, l.began)
	}
	return l.before + measured, measured
}
