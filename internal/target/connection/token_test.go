// SPDX-License-Identifier: Apache-2.0

package connection

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/crossplane-contrib/provider-kyma/internal/target/transport"
)

// TestProbeNow checks when the probes are sent that a replaced token requires.
func TestProbeNow(t *testing.T) {
	cases := map[string]struct {
		reason string
		// before brings the monitor into the state in which the token is replaced.
		before func(f *fakeServer, m *monitor)
		up     bool
		want   int32
	}{
		"Connected": {
			reason: "One probe checks the new token.", up: true, want: 1,
			before: func(f *fakeServer, _ *monitor) { f.state.Store(transport.Connected) },
		},
		"Pause": {
			reason: "A long pause ends, and a probe with the previous token is followed by another one.", up: true, want: 1,
			before: func(_ *fakeServer, m *monitor) { m.start(); time.Sleep(time.Hour) },
		},
		"During": {
			reason: "The first probe was sent with the previous token.", up: true, want: 1,
			before: func(_ *fakeServer, m *monitor) { m.start(); time.Sleep(time.Second) },
		},
		"Stopped": {reason: "A closed connection sends nothing.", before: func(_ *fakeServer, m *monitor) { m.stop() }},
		"Refused": {
			reason: "The pauses start from the minimum.", want: 3,
			before: func(_ *fakeServer, m *monitor) { m.start(); time.Sleep(time.Hour) },
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f, m := newFakeServer()
				defer m.stop()
				tc.before(f, m)
				f.up.Store(tc.up)
				before := f.probes.Load()
				m.probeNow()
				m.probeNow() // Two rotations.
				time.Sleep(3*probeTime + 3*firstProbe)
				if n := f.probes.Load() - before; n < tc.want || n > tc.want+1 {
					t.Errorf("\n%s\nwant %d probes or one more, got %d", tc.reason, tc.want, n)
				}
				if tc.up && m.state() != transport.Connected {
					t.Errorf("\n%s\nwant Connected, got %s", tc.reason, m.state())
				}
			})
		})
	}
}
