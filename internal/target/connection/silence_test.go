// SPDX-License-Identifier: Apache-2.0

package connection

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestSilence checks whom a server holds back that has been quiet, for how long, and when they try again.
func TestSilence(t *testing.T) {
	cases := map[string]struct {
		reason string
		// responds is the time after which the server responds to a ping, or 0 if it does not respond.
		responds time.Duration
		// holds is true if a caller is held back, after blocked.
		holds   bool
		blocked time.Duration
	}{
		"Quick": {reason: "A server that responds holds back no caller.", responds: 200 * time.Millisecond, blocked: 200 * time.Millisecond},
		"Slow":  {reason: "No caller is blocked for more than a second.", responds: 5 * time.Second, holds: true, blocked: time.Second},
		"Never": {reason: "A server that has disappeared holds back callers.", holds: true, blocked: time.Second},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				heard, resumed := make(chan struct{}), atomic.Int64{}
				s := &silence{
					heard: func(time.Duration) <-chan struct{} { return heard }, resumed: func() { resumed.Add(1) },
				}
				first := heard
				if tc.responds > 0 {
					time.AfterFunc(tc.responds, func() { close(first) })
				}
				begin := time.Now()
				if got := s.holds(); got != tc.holds || time.Since(begin) != tc.blocked {
					t.Errorf("%s\nwant %t after %s, got %t after %s", tc.reason, tc.holds, tc.blocked, got, time.Since(begin))
				}
				if !tc.holds {
					return
				}
				begin = time.Now()
				if !s.holds() || time.Since(begin) > 0 {
					t.Errorf("%s\nwant the next caller to be held back at once, got it after %s", tc.reason, time.Since(begin))
				}
				if tc.responds == 0 {
					s.decided()
					close(first)
				}
				time.Sleep(10 * time.Second)
				if n := resumed.Load(); n != 1 {
					t.Errorf("%s\nwant the callers to be resumed once, got %d", tc.reason, n)
				}
				heard = make(chan struct{})
				defer close(heard)
				if s.holds() {
					t.Errorf("%s\nwant callers that try again not to be held back again", tc.reason)
				}
				if time.Sleep(trustTime); !s.holds() {
					t.Errorf("%s\nwant the server to be tested again later", tc.reason)
				}
			})
		})
	}
}

// TestSilenceFresh checks that a server that has sent something holds back no caller.
func TestSilenceFresh(t *testing.T) {
	s := &silence{heard: func(time.Duration) <-chan struct{} { return nil }}
	if s.holds() {
		t.Error("want no caller to be held back")
	}
}
