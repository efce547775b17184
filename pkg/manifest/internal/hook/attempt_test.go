// SPDX-License-Identifier: Apache-2.0

package hook

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
)

// A fakeRelease fakes the records of an attempt and stores its effect.
type fakeRelease struct {
	log *[]string
	err map[string]error
}

func (f *fakeRelease) note(line string) error {
	*f.log = append(*f.log, line)
	return f.err[line]
}

func (f *fakeRelease) Save(_ context.Context, e Effect) error {
	return f.note("save " + string(e.Record.Run.Event))
}

func (f *fakeRelease) RecordPending(context.Context) error { return f.note("pending") }

func (f *fakeRelease) CutShort(_ context.Context, run *inventory.Run) error {
	if run == nil {
		return nil
	}
	return f.note(fmt.Sprintf("cut short %d", run.Revision))
}

func (f *fakeRelease) Describe(_ context.Context, revision int, status, text string) (bool, error) {
	return true, f.note(fmt.Sprintf("describe %d %s: %s", revision, status, text))
}

func TestAttempt(t *testing.T) {
	type want struct {
		waiting, err string
		log          []string
		run          inventory.Run
	}
	begun := func(change func(r *inventory.Run)) *inventory.Run {
		r := &inventory.Run{ID: "r", Event: "pre-upgrade", Inputs: "i", Revision: 2, Recorded: true}
		change(r)
		return r
	}
	const failure = "hook pre-upgrade Job a/a failed"
	const description = `describe 2 failed: Upgrade "web" failed: pre-upgrade hooks failed: ` + failure
	cases := map[string]struct {
		reason  string
		before  *inventory.Run
		outcome string
		op      Operation
		random  bool
		none    bool
		errs    map[string]error
		want    want
	}{
		"Begins": {
			reason: "The run is saved before the revision is recorded, and the revision is recorded before a hook runs.",
			op:     Upgrade, outcome: "Succeeded",
			want: want{
				log: []string{"save pre-upgrade", "pending", "save pre-upgrade", "create a", "state a"},
				run: inventory.Run{Event: "post-upgrade", Inputs: "i", Revision: 2, Recorded: true, Done: 1},
			},
		},
		"Resumes": {
			reason: "A recorded run continues.", before: begun(func(r *inventory.Run) { r.Started, r.UID = 100, "u" }),
			op: Upgrade, want: want{log: []string{"state a"}, run: inventory.Run{Event: "post-upgrade", Inputs: "i", Revision: 2, Recorded: true, Done: 1}},
		},
		"Waits": {
			reason: "The UID of a running hook is kept for the save at the end of the step.", before: begun(func(r *inventory.Run) { r.Started = 100 }), op: Upgrade,
			want: want{waiting: "hook pre-upgrade Job a/a is running", log: []string{"create a", "state a"},
				run: inventory.Run{Event: "pre-upgrade", Inputs: "i", Revision: 2, Recorded: true, Started: 100, UID: "uid-1"}},
		},
		"Past": {
			reason: "After the objects are applied, the pre-upgrade hooks do not run again.", before: begun(func(r *inventory.Run) { r.Event = "post-upgrade" }), op: Upgrade,
			want: want{run: inventory.Run{Event: "post-upgrade", Inputs: "i", Revision: 2, Recorded: true}},
		},
		"Replaces": {
			reason: "If the inputs change during a run, its revision is recorded as failed.", before: begun(func(r *inventory.Run) { r.Inputs, r.Revision = "old", 1 }), op: Upgrade, outcome: "Succeeded",
			want: want{
				log: []string{"cut short 1", "save pre-upgrade", "pending", "save pre-upgrade", "create a", "state a"},
				run: inventory.Run{Event: "post-upgrade", Inputs: "i", Revision: 2, Recorded: true, Done: 1},
			},
		},
		"None": {
			reason: "A chart without a hook of the event isn't saved again.", op: Upgrade, none: true,
			want: want{log: []string{"save pre-upgrade", "pending"}, run: inventory.Run{Event: "post-upgrade", Inputs: "i", Revision: 2, Recorded: true}},
		},
		"Random": {
			reason: "A chart that renders differently each time is saved before its objects are applied.", op: Upgrade, none: true, random: true,
			want: want{log: []string{"save pre-upgrade", "pending", "save post-upgrade"}, run: inventory.Run{Event: "post-upgrade", Inputs: "i", Revision: 2, Recorded: true}},
		},
		"RandomHook": {
			reason: "A hook that ran has saved it.", op: Upgrade, random: true, outcome: "Succeeded",
			want: want{
				log: []string{"save pre-upgrade", "pending", "save pre-upgrade", "create a", "state a"},
				run: inventory.Run{Event: "post-upgrade", Inputs: "i", Revision: 2, Recorded: true, Done: 1},
			},
		},
		"RandomUnsaved": {
			reason: "Otherwise, its objects aren't applied.", op: Upgrade, none: true, random: true, errs: map[string]error{"save post-upgrade": errors.New("denied")},
			want: want{err: "denied", log: []string{"save pre-upgrade", "pending", "save post-upgrade"}, run: inventory.Run{Event: "post-upgrade", Inputs: "i", Revision: 2, Recorded: true}},
		},
		"Unrecorded": {
			reason: "If a revision cannot be recorded, the next step starts again.", op: Upgrade, errs: map[string]error{"pending": errors.New("denied")},
			want: want{err: "denied", log: []string{"save pre-upgrade", "pending"}, run: inventory.Run{Event: "pre-upgrade", Inputs: "i", Revision: 2}},
		},
		"Fails": {
			reason: "The description of the revision uses Helm's wording.", op: Upgrade, before: begun(func(r *inventory.Run) { r.Started = 100 }), outcome: "failed",
			want: want{err: failure, log: []string{"create a", "state a", "save pre-upgrade", description},
				run: inventory.Run{Event: "pre-upgrade", Inputs: "i", Revision: 2, Recorded: true, Started: 100, UID: "uid-1", Failed: failure, Over: true}},
		},
		"Install": {
			reason: "Helm uses another wording for an install.", op: Install, before: begun(func(r *inventory.Run) { r.Event, r.Failed, r.Index = "pre-install", "no", 0 }),
			want: want{err: "no", log: []string{`describe 2 failed: Release "web" failed pre-install: no`},
				run: inventory.Run{Event: "pre-install", Inputs: "i", Revision: 2, Recorded: true, Failed: "no", Over: true}},
		},
		"Undescribed": {
			reason: "The event is not over until the failure is recorded.", op: Upgrade, before: begun(func(r *inventory.Run) { r.Failed = failure }), errs: map[string]error{description: errors.New("denied")},
			want: want{err: failure + ": denied", log: []string{description}, run: inventory.Run{Event: "pre-upgrade", Inputs: "i", Revision: 2, Recorded: true, Failed: failure}},
		},
		"Over": {
			reason: "A permanent failure is reported and not repeated.", op: Upgrade, before: begun(func(r *inventory.Run) { r.Failed, r.Over = failure, true }),
			want: want{err: failure, run: inventory.Run{Event: "pre-upgrade", Inputs: "i", Revision: 2, Recorded: true, Failed: failure, Over: true}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := newStage()
			s.target.outcome = tc.outcome
			f := &fakeRelease{log: &s.log, err: tc.errs}
			a := &Attempt{
				Operation: tc.op, Release: "web", First: inventory.Run{Inputs: "i", Revision: 2}, Runner: s.Runner, Save: f.Save, Records: f, Random: tc.random,
				Effect: Effect{Record: inventory.Part{Run: tc.before}},
				Note:   func(p *inventory.Part) { p.TestHooks = true },
				Prepare: func(context.Context, *inventory.Run) ([]Hook, error) {
					if tc.none {
						return nil, nil
					}
					return []Hook{aHook("Job", "a")}, nil
				},
			}
			standing, err := a.RunPre(t.Context())
			got := want{log: s.log, run: *a.Effect.Record.Run}
			if standing.Waits() {
				got.waiting = standing.Message
			}
			if err != nil {
				got.err = err.Error()
			}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(want{}), cmpopts.IgnoreFields(inventory.Run{}, "ID")); diff != "" {
				t.Errorf("\n%s\nRunPre(...): -want, +got:\n%s", tc.reason, diff)
			}
			if begins := tc.before == nil || tc.before.Inputs != "i"; a.Effect.Record.TestHooks != begins {
				t.Errorf("\n%s\nwhat the record must say of the chart is noted once a run begins, and only then", tc.reason)
			}
		})
	}
}

func TestAttemptPost(t *testing.T) {
	s := newStage()
	run := &inventory.Run{ID: "r", Event: "post-upgrade", Inputs: "i", Revision: 2, Recorded: true, Done: 3}
	f := &fakeRelease{log: &s.log}
	a := &Attempt{
		Operation: Upgrade, Release: "web", Runner: s.Runner, Save: f.Save, Records: f, Run: run, Effect: Effect{Record: inventory.Part{Run: run}},
		Prepare: func(_ context.Context, r *inventory.Run) ([]Hook, error) {
			return []Hook{aHook("ConfigMap", string(r.Event))}, nil
		},
	}
	if standing, err := a.RunPost(t.Context()); err != nil || standing.Progress != Passed {
		t.Fatalf("RunPost(...): %v, %v", standing, err)
	}
	want := &inventory.Run{ID: "r", Event: "post-upgrade", Inputs: "i", Revision: 2, Recorded: true, Index: 1, Done: 4, Over: true}
	if diff := cmp.Diff(want, a.Effect.Record.Run); diff != "" {
		t.Errorf("the run that is kept: -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff([]cluster.ObjectRef{aHook("ConfigMap", "post-upgrade").Ref}, a.Effect.Taken); diff != "" {
		t.Errorf("the objects that became hooks: -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff([]string{"save post-upgrade", "create post-upgrade"}, s.log); diff != "" {
		t.Errorf("requests and saves: -want, +got:\n%s", diff)
	}
}
