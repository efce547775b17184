// SPDX-License-Identifier: Apache-2.0

package hook

import (
	"fmt"
	"time"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
)

// A Stopwatch measures how long hooks have been running, in a way that a change of the clock of the process does not affect. The
// zero value is ready to use. It must not be used concurrently.
type Stopwatch struct {
	// since returns the time since an earlier one. Nil means the difference, which is monotonic for times of time.Now.
	since func(now, earlier time.Time) time.Duration
	// laps contains the current hook of each run, by the ID of the run.
	laps map[string]lap
}

// A lap is one hook of a run, or the deletion after an event.
type lap struct {
	hook string
	// began is when this process saw the hook first, and before how long it had been running then.
	began  time.Time
	before time.Duration
}

// mostLaps bounds the laps of runs that are over. A lap that is dropped begins again by the clock.
const mostLaps = 64

// Elapsed returns how long the current hook of a run, or the deletion after an event, has been running. What happened before this
// process saw the hook counts by the clock; from then on, the clock does not count.
func (s *Stopwatch) Elapsed(run *inventory.Run, now time.Time) time.Duration {
	hook := fmt.Sprint(run.Event, run.Index, run.Started)
	l, known := s.laps[run.ID]
	if !known || l.hook != hook {
		if s.laps == nil || len(s.laps) >= mostLaps {
			s.laps = map[string]lap{}
		}
		l = lap{hook: hook, began: now, before: max(0, now.Sub(time.Unix(run.Started, 0)))}
		s.laps[run.ID] = l
	}
	if s.since != nil {
		return l.before + s.since(now, l.began)
	}
	return l.before + now.Sub(l.began)
}
