// SPDX-License-Identifier: Apache-2.0

package execute

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// The last save of a run stores the reason why the run did not get further, and is made for it alone if necessary.
func TestRunReasons(t *testing.T) {
	type want struct {
		Log []string
		Err string
		// Stored is what the run waits for according to the inventory, and Why according to the report.
		Stored, Why string
	}
	cases := map[string]struct {
		reason string
		before func(w *world)
		want   want
	}{
		"Saved": {
			reason: "New reasons are saved.",
			want:   want{Log: []string{"pre web", "save"}, Stored: "hook x is running", Why: "hook x is running"},
		},
		"Same": {
			reason: "They are saved once.", before: func(w *world) { _, _ = w.run() },
			want: want{Log: []string{"pre web"}, Stored: "hook x is running", Why: "hook x is running"},
		},
		"Measures": {
			reason: "Reasons that differ only in a number are not saved again.",
			before: func(w *world) {
				_, _ = w.run()
				w.waits["pre web"] = "hook x is running since 10s"
				_, _ = w.run()
				w.waits["pre web"] = "hook x is running since 20s"
			},
			want: want{Log: []string{"pre web"}, Stored: "hook x is running since 10s", Why: "hook x is running since 20s"},
		},
		"Lost": {
			reason: "If nothing else has to be saved, they may be lost.", before: on("save", errors.New("conflict")),
			want: want{Log: []string{"pre web", "save: conflict"}, Stored: "hook y is running", Why: "hook x is running"},
		},
		"Interrupted": {
			reason: "A call whose context ended keeps the reasons of the previous one.",
			before: func(w *world) {
				ctx, cancel := context.WithCancel(w.ctx)
				w.ctx = ctx
				w.meet = func(string) error { cancel(); return nil }
			},
			want: want{Log: []string{"pre web"}, Stored: "hook y is running"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, piece{name: "web", digest: "1", objects: []string{aConfig}, hooks: true})
			w.waits["pre web"] = "hook y is running"
			if _, err := w.run(); err != nil {
				t.Fatal(err)
			}
			w.waits["pre web"] = "hook x is running"
			if tc.before != nil {
				tc.before(w)
			}
			w.log = nil
			_, err := w.run()
			got := want{Log: w.took(), Err: textOf(err), Stored: w.stored.Last.Waiting}
			if w.last.Why != nil {
				got.Why = w.last.Why.Waiting
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nRun(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
