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
		// Stored is what the run waits for according to the inventory.
		Stored string
	}
	cases := map[string]struct {
		reason string
		before func(w *world)
		want   want
	}{
		"Saved": {
			reason: "New reasons are saved.",
			want:   want{Log: []string{"pre web", "save"}, Stored: "hook x is running"},
		},
		"Same": {
			reason: "Equal reasons are saved once.", before: func(w *world) { _, _ = w.run() },
			want: want{Log: []string{"pre web"}, Stored: "hook x is running"},
		},
		"Count": {
			reason: "What is reported is saved, even if only a number differs, so that every process reports the same.",
			before: func(w *world) {
				w.waits["pre web"] = "1 of 3 hooks ran"
				_, _ = w.run()
				w.waits["pre web"] = "2 of 3 hooks ran"
			},
			want: want{Log: []string{"pre web", "save"}, Stored: "2 of 3 hooks ran"},
		},
		"Lost": {
			reason: "If nothing else has to be saved, they may be lost.", before: on("save", errors.New("conflict")),
			want: want{Log: []string{"pre web", "save: conflict"}, Stored: "hook y is running"},
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
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nRun(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
