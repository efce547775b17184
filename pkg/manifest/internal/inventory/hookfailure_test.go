// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestHookFailure(t *testing.T) {
	failed := func(event Event) Part {
		return Part{Run: &Run{Event: event, Inputs: "1", Retry: "r", Recorded: true, Over: true, Failed: "no"}}
	}
	running, done := failed("pre-install"), failed("pre-install")
	running.Run.Over, done.Run.Failed = false, ""
	type want struct {
		Failure HookFailure
		OK      bool
		// Rest and Unfinished are NeedsStep without and with unfinished objects.
		Rest, Unfinished bool
	}
	cases := map[string]struct {
		reason        string
		part          Part
		inputs, retry string
		want          want
	}{
		"None":    {reason: "A part without a run has no failed hook.", inputs: "1", retry: "r"},
		"Before":  {reason: "A hook failed before the objects were applied, so they are not repaired.", part: failed("pre-upgrade"), inputs: "1", retry: "r", want: want{Failure: HookFailure{Reason: "no"}, OK: true}},
		"After":   {reason: "A hook failed after the objects were applied, so they are repaired.", part: failed("post-install"), inputs: "1", retry: "r", want: want{Failure: HookFailure{Reason: "no", ObjectsApplied: true}, OK: true, Unfinished: true}},
		"Inputs":  {reason: "Other inputs start again.", part: failed("pre-install"), inputs: "2", retry: "r"},
		"Retry":   {reason: "Another retry token starts again.", part: failed("pre-install"), inputs: "1", retry: "s"},
		"Running": {reason: "The run can continue.", part: running, inputs: "1", retry: "r"},
		"Done":    {reason: "The run succeeded.", part: done, inputs: "1", retry: "r"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f, ok := tc.part.HookFailure(Inputs{Digest: tc.inputs}, tc.retry)
			got := want{Failure: f, OK: ok, Rest: f.NeedsStep(false), Unfinished: f.NeedsStep(true)}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nHookFailure(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
