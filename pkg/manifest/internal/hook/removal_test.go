// SPDX-License-Identifier: Apache-2.0

package hook

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/render/record"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ssa"
)

func TestRemoval(t *testing.T) {
	type want struct {
		standing Standing
		err      string
		log      []string
		run      *inventory.Run
	}
	part := func(run *inventory.Run) inventory.Part {
		return inventory.Part{Digest: "d", Namespace: "a", Revision: 2, DeleteHooks: true, Run: run}
	}
	passed := func(failure string) Standing { return Standing{Progress: Passed, Failures: []string{failure}} }
	broken := errors.New("not reached")
	refused := &ssa.RefusedError{Err: errors.New("the record is damaged")}
	taken := func(event string) error {
		return &ssa.RefusedError{Err: &takenError{event: inventory.Event(event), ref: cluster.ObjectRef{Kind: "ConfigMap", Namespace: "a", Name: "c"}, part: "api"}}
	}
	over := &inventory.Run{ID: "r", Event: "pre-delete", Revision: 2, Index: 1, Done: 1, Over: true}
	failed := &inventory.Run{ID: "r", Event: "pre-delete", Revision: 2, Failed: "no", Over: true}
	cases := map[string]struct {
		reason  string
		event   inventory.Event
		run     *inventory.Run
		status  string
		outcome string
		force   bool
		err     error
		want    want
	}{
		"Runs": {
			reason: "The release is recorded as uninstalling before a hook runs, and the completed run is saved.",
			event:  inventory.PreDelete, outcome: "Succeeded",
			want: want{
				standing: Standing{Progress: Passed},
				log:      []string{"describe 2 uninstalling", "save pre-delete", "create web", "state web", "save pre-delete"},
				run:      &inventory.Run{Event: "pre-delete", Revision: 2, Index: 1, Done: 1, Over: true},
			},
		},
		"Waits": {
			reason: "A running hook delays the removal.", event: inventory.PreDelete, status: record.StatusUninstalling,
			want: want{
				standing: Standing{Progress: Due, Message: "web: hook pre-delete Job a/web is running"},
				log:      []string{"save pre-delete", "create web", "state web", "save pre-delete"},
				run:      &inventory.Run{Event: "pre-delete", Revision: 2, UID: "uid-1", Started: 100},
			},
		},
		"Passed": {reason: "An event that is over does not start again.", event: inventory.PreDelete, run: over, want: want{standing: Standing{Progress: Passed}, run: over}},
		"After": {
			reason: "A post-delete hook does not change the status of the release.", event: inventory.PostDelete, run: over, outcome: "Succeeded",
			want: want{
				standing: Standing{Progress: Passed}, log: []string{"save post-delete", "create web", "state web", "save post-delete"},
				run: &inventory.Run{Event: "post-delete", Revision: 2, Index: 1, Done: 2, Over: true},
			},
		},
		"Refused": {reason: "A failed hook blocks the removal.", event: inventory.PreDelete, run: failed, want: want{standing: Standing{Progress: Refused, Message: "web: no"}, run: failed}},
		"Taken": {
			reason: "A hook that would replace an object of another part does not run, and blocks the removal like a failed hook.", event: inventory.PreDelete, err: taken("pre-delete"),
			want: want{err: "web: hook pre-delete ConfigMap a/c is also part of api; remove it from one of them"},
		},
		"TakenAfter": {
			reason: "After the objects are deleted, a refused hook does not block the removal.", event: inventory.PostDelete, run: over, err: taken("post-delete"),
			want: want{standing: passed("web: hook post-delete ConfigMap a/c is also part of api; remove it from one of them"), run: over},
		},
		"Force":      {reason: "Force ignores a failed hook.", event: inventory.PreDelete, run: failed, force: true, want: want{standing: passed("web: no"), run: failed}},
		"Error":      {reason: "An error names the part.", event: inventory.PreDelete, err: broken, want: want{err: "web: not reached"}},
		"ForceError": {reason: "Force does not ignore an unreachable cluster.", event: inventory.PreDelete, err: broken, force: true, want: want{err: "web: not reached"}},
		"ForceObject": {
			reason: "Force ignores a refused object.", event: inventory.PreDelete, err: refused, force: true,
			want: want{standing: passed("web: the record is damaged")},
		},
		"FailsAfter": {
			reason: "A hook that fails after the objects are deleted does not block the removal.", event: inventory.PostDelete, run: over, outcome: "failed",
			want: want{
				standing: passed("web: hook post-delete Job a/web failed"),
				log:      []string{"save post-delete", "create web", "state web", "save post-delete", "save post-delete"},
				run:      &inventory.Run{Event: "post-delete", Revision: 2, UID: "uid-1", Started: 100, Done: 1, Failed: "hook post-delete Job a/web failed", Over: true},
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := newStage()
			s.target.outcome = tc.outcome
			saved := part(tc.run)
			r := RemovalHooks{
				Parts: []object.PartID{"plain", "web"}, Records: map[object.PartID]inventory.Part{"web": saved, "plain": {Digest: "d"}},
				Force: tc.force, Runner: s.Runner,
				Prepare: func(_ context.Context, part object.PartID, _ inventory.Release, _ *inventory.Run) ([]Hook, *record.Info, error) {
					if tc.err != nil {
						return nil, nil, tc.err
					}
					return []Hook{aHook("Job", part.Install())}, &record.Info{Status: tc.status}, nil
				},
				Describe: func(_ context.Context, rel inventory.Release, _ int, status, _ string) (bool, error) {
					s.log = append(s.log, "describe 2 "+status)
					return rel.Name == "web", nil
				},
				Save: func(_ context.Context, part object.PartID, rec inventory.Part) error {
					if part != "web" {
						t.Errorf("\n%s\nthe record of %s is saved", tc.reason, part)
					}
					saved, s.log = rec, append(s.log, "save "+string(rec.Run.Event))
					return nil
				},
			}
			standing, err := r.Run(t.Context(), tc.event)
			got := want{standing: standing, log: s.log, run: saved.Run}
			if err != nil {
				got.err = err.Error()
			}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(want{}), cmpopts.IgnoreFields(inventory.Run{}, "ID")); diff != "" {
				t.Errorf("\n%s\nRun(...): -want, +got:\n%s", tc.reason, diff)
			}
			if ran := len(tc.want.log) > 0; ran != (saved.Digest == "") {
				t.Errorf("\n%s\na part whose hooks run must be applied again where it comes back", tc.reason)
			}
		})
	}
}

// A failure of one part that does not block the removal does not mask the failure of another part.
func TestRemovalFailures(t *testing.T) {
	part := func(why string) inventory.Part {
		return inventory.Part{DeleteHooks: true, Run: &inventory.Run{ID: "r", Event: "pre-delete", Failed: why, Over: true}}
	}
	r := RemovalHooks{
		Parts: []object.PartID{"api", "db", "web"}, Force: true,
		Records: map[object.PartID]inventory.Part{"api": part("no"), "db": {}, "web": part("not at all")},
	}
	got, err := r.Run(t.Context(), inventory.PreDelete)
	if diff := cmp.Diff(Standing{Progress: Passed, Failures: []string{"web: not at all", "api: no"}}, got); diff != "" || err != nil {
		t.Errorf("Run(...): %v, -want, +got:\n%s", err, diff)
	}
	r.Force = false
	got, err = r.Run(t.Context(), inventory.PreDelete)
	if diff := cmp.Diff(Standing{Progress: Refused, Message: "web: not at all"}, got); diff != "" || err != nil {
		t.Errorf("Run(...) without force: %v, -want, +got:\n%s", err, diff)
	}
}
