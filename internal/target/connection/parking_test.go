// SPDX-License-Identifier: Apache-2.0

package connection

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestParking checks when a connection is parked, minute by minute.
func TestParking(t *testing.T) {
	use, keep := (*parking).use, (*parking).keep
	poll := func(p *parking) { use(p) }
	pass := func(p *parking) { keep(p); use(p) }
	cases := map[string]struct {
		reason string
		after  time.Duration
		// at has what happens after a number of minutes, and want those after which the connection is parked.
		at   map[int]func(*parking)
		busy bool
		want map[int]bool
	}{
		"Never":  {reason: "Without the option, a connection is never parked.", at: map[int]func(*parking){1: poll}},
		"Unused": {reason: "A connection that was never used has no watches.", after: 10 * time.Minute},
		"Quiet": {
			reason: "It is parked when it was quiet for long enough.", after: 10 * time.Minute,
			at: map[int]func(*parking){1: pass}, want: map[int]bool{12: true, 13: true, 20: true},
		},
		"Poll": {
			reason: "A poll does not count, and uses the watches for a moment.", after: 10 * time.Minute,
			at: map[int]func(*parking){1: pass, 10: poll, 15: poll}, want: map[int]bool{12: true, 13: true, 20: true},
		},
		"Changed": {
			reason: "A change counts.", after: 10 * time.Minute,
			at: map[int]func(*parking){1: pass, 5: keep}, want: map[int]bool{20: true},
		},
		"ChangedWhileParked": {
			reason: "After a change that a poll finds, the watches stay open.", after: 10 * time.Minute,
			at: map[int]func(*parking){1: pass, 15: pass}, want: map[int]bool{12: true, 13: true},
		},
		"Busy":    {reason: "It is not parked while a kind is being listed.", after: 10 * time.Minute, at: map[int]func(*parking){1: pass}, busy: true},
		"Stopped": {reason: "A closed connection is not parked.", after: 10 * time.Minute, at: map[int]func(*parking){1: pass, 2: (*parking).stop, 3: pass}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				changes := atomic.Int64{}
				p := newParking(tc.after, func() bool { return !tc.busy }, func() { changes.Add(1) })
				defer p.stop()
				was := false
				for minute := range 21 {
					if f := tc.at[minute]; f != nil {
						f(p)
					}
					time.Sleep(time.Second)
					synctest.Wait()
					is := p.isParked()
					if want, checked := tc.want[minute]; checked && is != want || !checked && len(tc.want) == 0 && is {
						t.Errorf("\n%s\nafter %d minutes: parked is %t", tc.reason, minute, is)
					}
					if is != was && changes.Load() == 0 {
						t.Errorf("\n%s\nafter %d minutes: the change was not reported", tc.reason, minute)
					}
					time.Sleep(59 * time.Second)
					was = p.isParked()
					changes.Store(0)
				}
			})
		})
	}
}
