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
	// run, began and before are those of the current hook: which one it is, when this process saw it first, and how long it had been
	// running then.
	run    string
	began  time.Time
	before time.Duration
}

// Elapsed returns how long the current hook of a run, or the deletion after an event, has been running. What happened before this
// process saw the hook counts by the clock; from then on, the clock does not count.
func (s *Stopwatch) Elapsed(run *inventory.Run, now time.Time) time.Duration {
	if id := fmt.Sprint(run.ID, run.Event, run.Index, run.Started); s.run != id {
		s.run, s.began, s.before = id, now, max(0, now.Sub(time.Unix(run.Started, 0)))
	}
	if s.since != nil {
		return s.before + s.since(now, s.began)
	}
	return s.before + now.Sub(s.began)
}
