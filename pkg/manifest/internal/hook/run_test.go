// SPDX-License-Identifier: Apache-2.0

package hook

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
)

func TestDeletion(t *testing.T) {
	type args struct {
		part  inventory.Part
		event inventory.Event
		retry string
	}
	type want struct {
		run  inventory.Run
		same bool
	}
	run := func(r inventory.Run) *inventory.Run {
		r.ID = "old"
		return &r
	}
	cases := map[string]struct {
		reason string
		args   args
		want   want
	}{
		"New": {
			reason: "The hooks are those of the deployed revision.",
			args:   args{part: inventory.Part{Revision: 3}, event: inventory.PreDelete, retry: "r"},
			want:   want{run: inventory.Run{Event: "pre-delete", Retry: "r", Revision: 3}},
		},
		"Pending": {
			reason: "If no revision was deployed, the hooks are those of the recorded revision.",
			args:   args{part: inventory.Part{Run: run(inventory.Run{Event: "pre-install", Recorded: true, Revision: 1})}, event: inventory.PreDelete},
			want:   want{run: inventory.Run{Event: "pre-delete", Revision: 1}},
		},
		"Unrecorded": {
			reason: "A revision without a record has no hooks.",
			args:   args{part: inventory.Part{Revision: 1, Run: run(inventory.Run{Event: "pre-upgrade", Revision: 2})}, event: inventory.PreDelete},
			want:   want{run: inventory.Run{Event: "pre-delete", Revision: 1}},
		},
		"Continues": {
			reason: "A run continues.",
			args:   args{part: inventory.Part{Revision: 9, Run: run(inventory.Run{Event: "pre-delete", Revision: 3, Index: 1, UID: "u", Started: 5})}, event: inventory.PreDelete},
			want:   want{run: inventory.Run{Event: "pre-delete", Revision: 3, Index: 1, UID: "u", Started: 5}, same: true},
		},
		"Failed": {
			reason: "A failed run stays failed.",
			args:   args{part: inventory.Part{Run: run(inventory.Run{Event: "pre-delete", Failed: "no", Over: true, Retry: "r"})}, event: inventory.PreDelete, retry: "r"},
			want:   want{run: inventory.Run{Event: "pre-delete", Failed: "no", Over: true, Retry: "r"}, same: true},
		},
		"Retry": {
			reason: "A retry token starts a new run.",
			args:   args{part: inventory.Part{Run: run(inventory.Run{Event: "pre-delete", Failed: "no", Over: true, Retry: "r", Revision: 2})}, event: inventory.PreDelete, retry: "s"},
			want:   want{run: inventory.Run{Event: "pre-delete", Retry: "s", Revision: 2}},
		},
		"After": {
			reason: "After the objects are deleted, the same run continues with the next event.",
			args:   args{part: inventory.Part{Run: run(inventory.Run{Event: "pre-delete", Revision: 2, Index: 4, Done: 4, Started: 7, Over: true})}, event: inventory.PostDelete},
			want:   want{run: inventory.Run{Event: "post-delete", Revision: 2, Done: 4}, same: true},
		},
		"AfterFailure": {
			reason: "A failure that was overridden does not fail the next event.",
			args:   args{part: inventory.Part{Run: run(inventory.Run{Event: "pre-delete", Revision: 2, Failed: "no", Over: true, Retry: "r"})}, event: inventory.PostDelete, retry: "r"},
			want:   want{run: inventory.Run{Event: "post-delete", Revision: 2, Retry: "r"}, same: true},
		},
		"Before": {
			reason: "An event that is over does not start again.",
			args:   args{part: inventory.Part{Run: run(inventory.Run{Event: "post-delete", Revision: 2, Index: 1})}, event: inventory.PreDelete},
			want:   want{run: inventory.Run{Event: "post-delete", Revision: 2, Index: 1}, same: true},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			before := inventory.Run{}
			if tc.args.part.Run != nil {
				before = *tc.args.part.Run
			}
			r := Deletion(&tc.args.part, tc.args.event, tc.args.retry)
			got := want{run: *r, same: r.ID == "old"}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(want{}), cmpopts.IgnoreFields(inventory.Run{}, "ID")); diff != "" {
				t.Errorf("\n%s\nDeletion(...): -want, +got:\n%s", tc.reason, diff)
			}
			if r.ID == "" || tc.args.part.Run != nil && *tc.args.part.Run != before {
				t.Errorf("\n%s\nthe run must have an ID, and the record must stay as it is: %+v", tc.reason, r)
			}
		})
	}
}

func TestStageOf(t *testing.T) {
	cases := map[string]struct {
		reason string
		run    inventory.Run
		event  inventory.Event
		want   Progress
	}{
		"Due":     {reason: "A run that is not over is due.", run: inventory.Run{Event: "pre-delete", Failed: "no"}, event: inventory.PreDelete, want: Due},
		"Passed":  {reason: "A run that is over without a failure has passed.", run: inventory.Run{Event: "pre-delete", Over: true}, event: inventory.PreDelete, want: Passed},
		"Left":    {reason: "A removal does not return to an earlier event.", run: inventory.Run{Event: "post-delete"}, event: inventory.PreDelete, want: Passed},
		"Refused": {reason: "A run with a failed hook is refused.", run: inventory.Run{Event: "post-delete", Over: true, Failed: "no"}, event: inventory.PostDelete, want: Refused},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, ProgressOf(&tc.run, tc.event)); diff != "" {
				t.Errorf("\n%s\nStageOf(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestResume(t *testing.T) {
	recorded := inventory.Run{ID: "old", Inputs: "i", Retry: "r", Recorded: true}
	failed := recorded
	failed.Failed = "no"
	unrecorded := recorded
	unrecorded.Recorded = false
	cases := map[string]struct {
		reason string
		run    *inventory.Run
		inputs string
		retry  string
		want   *inventory.Run
	}{
		"None":       {reason: "The record has no run."},
		"Same":       {reason: "A run for the same inputs continues, regardless of the retry token.", run: &recorded, inputs: "i", retry: "s", want: &recorded},
		"Other":      {reason: "A run for other inputs does not continue.", run: &recorded, inputs: "j", retry: "r"},
		"Failed":     {reason: "A failed run does not start again.", run: &failed, inputs: "i", retry: "r", want: &failed},
		"Retry":      {reason: "A new retry token starts another run.", run: &failed, inputs: "i", retry: "s"},
		"Unrecorded": {reason: "Without a record of the revision, no hook has run, and the next revision may differ.", run: &unrecorded, inputs: "i", retry: "r"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := Resume(&inventory.Part{Run: tc.run}, inventory.Inputs{Digest: tc.inputs}, tc.retry)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nResume(...): -want, +got:\n%s", tc.reason, diff)
			}
			if got != nil && got == tc.run {
				t.Errorf("\n%s\nthe run must be a copy", tc.reason)
			}
		})
	}
}

// standingAfter returns the progress after an error, while waiting, or after a failed hook.
func standingAfter(err, waiting, failed string) Standing {
	switch {
	case err != "":
		return Standing{}
	case waiting != "":
		return Standing{Progress: Due, Message: waiting}
	case failed != "":
		return Standing{Progress: Refused, Message: failed}
	}
	return Standing{Progress: Passed}
}
