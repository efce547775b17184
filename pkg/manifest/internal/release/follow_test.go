// SPDX-License-Identifier: Apache-2.0

package release

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/advice"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/hook"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

var (
	apps  = inventory.Release{Namespace: "apps", Name: "web"}
	other = inventory.Release{Namespace: "other", Name: "web"}
	third = inventory.Release{Namespace: "third", Name: "web"}
)

// desired returns the desired release of the part web: apps/web with the inputs "new".
func desired(changes ...func(*Wanted)) Wanted {
	d := Wanted{Part: "web", Release: apps, Inputs: inventory.Inputs{Digest: "new"}, Retry: "1", Messages: advice.Messages{Adopt: "set adopt"}}
	for _, c := range changes {
		c(&d)
	}
	return d
}

func at(r inventory.Release) func(*Wanted)     { return func(d *Wanted) { d.Release = r } }
func adopting(a object.Adoption) func(*Wanted) { return func(d *Wanted) { d.Adopts = a } }
func retried(token string) func(*Wanted)       { return func(d *Wanted) { d.Retry = token } }
func rollingBack(d *Wanted)                    { d.RollsBack = true }
func ours(n int, status, inputs string) Revision {
	return Revision{Number: n, Status: status, Inputs: inventory.Inputs{Digest: inputs}, Ours: true}
}
func foreign(n int, status, set string) Revision {
	return Revision{Number: n, Status: status, Owner: set}
}
func run(r inventory.Run) *inventory.Run                      { r.ID = "run"; return &r }
func in(r inventory.Release, p inventory.Part) inventory.Part { p.Namespace = r.Namespace; return p }

func TestFollow(t *testing.T) {
	type want struct {
		Search bool
		Next   Next
		Part   inventory.Part
	}
	cases := map[string]struct {
		reason  string
		d       Wanted
		rec     inventory.Part
		found   []Revision
		want    want
		wantErr string
	}{
		"First": {
			reason: "For the first installation, the cluster is not searched.",
			d:      desired(),
			want:   want{Next: Next{Operation: hook.Install, State: Begins, Number: 1, Unsearched: true}, Part: in(apps, inventory.Part{})},
		},
		"FirstOfRollback": {
			reason: "A part that was never deployed is installed, even if the bundle is rolled back.",
			d:      desired(rollingBack),
			want:   want{Next: Next{Operation: hook.Install, State: Begins, Number: 1, Unsearched: true}, Part: in(apps, inventory.Part{})},
		},
		"FirstOfOtherName": {
			reason: "The record contains the name of the release if it differs from that of the part.",
			d:      desired(at(inventory.Release{Namespace: "apps", Name: "shop"})),
			want:   want{Next: Next{Operation: hook.Install, State: Begins, Number: 1, Unsearched: true}, Part: inventory.Part{Namespace: "apps", Release: "shop"}},
		},
		"Upgrade": {
			reason: "The inventory has the previous revision, so the cluster is not searched.",
			d:      desired(),
			rec:    in(apps, inventory.Part{Digest: "old", Revision: 3}),
			want:   want{Next: Next{Operation: hook.Upgrade, State: Begins, Number: 4, Before: 3}, Part: in(apps, inventory.Part{Digest: "old", Revision: 3})},
		},
		"Rollback": {
			reason: "A rollback is a new revision.",
			d:      desired(rollingBack),
			rec:    in(apps, inventory.Part{Revision: 3}),
			want:   want{Next: Next{Operation: hook.Rollback, State: Begins, Number: 4, Before: 3}, Part: in(apps, inventory.Part{Revision: 3})},
		},
		"RepairOfFirst": {
			reason: "A repair uses the same revision, and renders it as before: as an install.",
			d:      desired(),
			rec:    in(apps, inventory.Part{Digest: "new", Revision: 1}),
			want:   want{Next: Next{Operation: hook.Install, State: Repairs, Number: 1}, Part: in(apps, inventory.Part{Digest: "new", Revision: 1})},
		},
		"RepairOfUpgrade": {
			reason: "The repair of an upgrade renders an upgrade.",
			d:      desired(),
			rec:    in(apps, inventory.Part{Digest: "new", Revision: 5}),
			want:   want{Next: Next{Operation: hook.Upgrade, State: Repairs, Number: 5, Before: 4}, Part: in(apps, inventory.Part{Digest: "new", Revision: 5})},
		},
		"RepairAfterFailures": {
			reason: "The first deployed revision is an install, even if others failed before it.",
			d:      desired(),
			rec:    in(apps, inventory.Part{Digest: "new", Revision: 3, Origin: 2}),
			want:   want{Next: Next{Operation: hook.Install, State: Repairs, Number: 3, Before: 2}, Part: in(apps, inventory.Part{Digest: "new", Revision: 3, Origin: 2})},
		},
		"UpgradeAfterFailures": {
			reason: "The revision after the first deployed one is an upgrade.",
			d:      desired(),
			rec:    in(apps, inventory.Part{Revision: 3, Origin: 2}),
			want:   want{Next: Next{Operation: hook.Upgrade, State: Begins, Number: 4, Before: 3}, Part: in(apps, inventory.Part{Revision: 3, Origin: 2})},
		},
		"Resumes": {
			reason: "Hooks that have begun continue with their revision.",
			d:      desired(),
			rec:    in(apps, inventory.Part{Revision: 3, Run: run(inventory.Run{Inputs: "new", Revision: 5, Before: 3, Recorded: true})}),
			want: want{
				Next: Next{Operation: hook.Upgrade, State: Resumes, Number: 5, Before: 3},
				Part: in(apps, inventory.Part{Revision: 3, Run: run(inventory.Run{Inputs: "new", Revision: 5, Before: 3, Recorded: true})}),
			},
		},
		"ResumesFirst": {
			reason: "Hooks of the first revision continue. Its record does not count as a previous revision.",
			d:      desired(),
			rec:    in(apps, inventory.Part{Run: run(inventory.Run{Inputs: "new", Revision: 1, Recorded: true})}),
			found:  []Revision{ours(1, "pending-install", "new")},
			want: want{
				Search: true,
				Next:   Next{Operation: hook.Install, State: Resumes, Number: 1},
				Part:   in(apps, inventory.Part{Run: run(inventory.Run{Inputs: "new", Revision: 1, Recorded: true})}),
			},
		},
		"ResumesDeployed": {
			reason: "The record was updated after the last hook, but the inventory was not.",
			d:      desired(),
			rec:    in(apps, inventory.Part{Run: run(inventory.Run{Inputs: "new", Revision: 1, Recorded: true, Over: true})}),
			found:  []Revision{ours(1, "deployed", "new")},
			want: want{
				Search: true,
				Next:   Next{Operation: hook.Install, State: AlreadyDeployed, Number: 1},
				Part:   in(apps, inventory.Part{Run: run(inventory.Run{Inputs: "new", Revision: 1, Recorded: true, Over: true})}),
			},
		},
		"FailedWithSameToken": {
			reason: "Failed hooks stay failed until a retry is requested.",
			d:      desired(),
			rec:    in(apps, inventory.Part{Revision: 1, Run: run(inventory.Run{Inputs: "new", Retry: "1", Revision: 2, Before: 1, Recorded: true, Failed: "no"})}),
			want: want{
				Next: Next{Operation: hook.Upgrade, State: Resumes, Number: 2, Before: 1},
				Part: in(apps, inventory.Part{Revision: 1, Run: run(inventory.Run{Inputs: "new", Retry: "1", Revision: 2, Before: 1, Recorded: true, Failed: "no"})}),
			},
		},
		"FailedThenRetried": {
			reason: "A retry is a new revision after the deployed one.",
			d:      desired(retried("2")),
			rec:    in(apps, inventory.Part{Revision: 1, Run: run(inventory.Run{Inputs: "new", Retry: "1", Revision: 2, Before: 1, Recorded: true, Failed: "no"})}),
			want: want{
				Next: Next{Operation: hook.Upgrade, State: Begins, Number: 3, Before: 1, Replaces: true},
				Part: in(apps, inventory.Part{Revision: 1, Run: run(inventory.Run{Inputs: "new", Retry: "1", Revision: 2, Before: 1, Recorded: true, Failed: "no"})}),
			},
		},
		"OtherInputsWhileHooksRun": {
			reason: "Other inputs are a new revision, even while hooks run.",
			d:      desired(),
			rec:    in(apps, inventory.Part{Revision: 1, Run: run(inventory.Run{Inputs: "mid", Revision: 2, Before: 1, Recorded: true})}),
			want: want{
				Next: Next{Operation: hook.Upgrade, State: Begins, Number: 3, Before: 1, Replaces: true},
				Part: in(apps, inventory.Part{Revision: 1, Run: run(inventory.Run{Inputs: "mid", Revision: 2, Before: 1, Recorded: true})}),
			},
		},
		"UnrecordedRun": {
			reason: "A run that is not marked as recorded may have a record, which is replaced.",
			d:      desired(),
			rec:    in(apps, inventory.Part{Revision: 1, Run: run(inventory.Run{Inputs: "new", Revision: 2, Before: 1})}),
			want: want{
				Next: Next{Operation: hook.Upgrade, State: Begins, Number: 2, Before: 1, Replaces: true},
				Part: in(apps, inventory.Part{Revision: 1, Run: run(inventory.Run{Inputs: "new", Revision: 2, Before: 1})}),
			},
		},
		"UnrecordedRunOfOtherInputs": {
			reason: "Other inputs do not reuse a number before that of the run.",
			d:      desired(),
			rec:    in(apps, inventory.Part{Revision: 1, Run: run(inventory.Run{Inputs: "mid", Revision: 4, Before: 1})}),
			want: want{
				Next: Next{Operation: hook.Upgrade, State: Begins, Number: 4, Before: 1, Replaces: true},
				Part: in(apps, inventory.Part{Revision: 1, Run: run(inventory.Run{Inputs: "mid", Revision: 4, Before: 1})}),
			},
		},
		"FailedBeforeFirst": {
			reason: "A failed revision does not count as previous: the next one is still an install.",
			d:      desired(),
			rec:    in(apps, inventory.Part{}),
			found:  []Revision{ours(1, "failed", "old"), ours(2, "failed", "new")},
			want:   want{Search: true, Next: Next{Operation: hook.Install, State: Begins, Number: 3}, Part: in(apps, inventory.Part{})},
		},
		"PendingOfOtherInputs": {
			reason: "A revision whose hooks are running does not count as previous, either.",
			d:      desired(),
			rec:    in(apps, inventory.Part{}),
			found:  []Revision{ours(1, "pending-install", "old")},
			want:   want{Search: true, Next: Next{Operation: hook.Install, State: Begins, Number: 2}, Part: in(apps, inventory.Part{})},
		},
		"DeployedAndNotNoted": {
			reason: "The step was interrupted after it wrote the record and before it saved the inventory.",
			d:      desired(),
			rec:    in(apps, inventory.Part{}),
			found:  []Revision{ours(1, "deployed", "new")},
			want:   want{Search: true, Next: Next{Operation: hook.Install, State: AlreadyDeployed, Number: 1}, Part: in(apps, inventory.Part{})},
		},
		"LostInventory": {
			reason: "After the inventory is lost, an adoption finds the release, and the deployed revision counts as already deployed.",
			d:      desired(adopting(object.AdoptUnowned)),
			found:  []Revision{ours(1, "superseded", "old"), ours(2, "deployed", "new")},
			want:   want{Search: true, Next: Next{Operation: hook.Upgrade, State: AlreadyDeployed, Number: 2, Before: 1}, Part: in(apps, inventory.Part{})},
		},
		"LostAfterFailure": {
			reason: "A later revision failed, and may have changed objects: the same inputs are another revision, after the deployed one.",
			d:      desired(),
			rec:    in(apps, inventory.Part{}),
			found:  []Revision{ours(2, "failed", "old"), ours(1, "deployed", "new")},
			want:   want{Search: true, Next: Next{Operation: hook.Upgrade, State: Begins, Number: 3, Before: 1}, Part: in(apps, inventory.Part{})},
		},
		"LostInventoryAndChanged": {
			reason: "A deployed revision with other inputs is upgraded.",
			d:      desired(),
			rec:    in(apps, inventory.Part{}),
			found:  []Revision{ours(1, "superseded", "older"), ours(2, "deployed", "old")},
			want:   want{Search: true, Next: Next{Operation: hook.Upgrade, State: Begins, Number: 3, Before: 2}, Part: in(apps, inventory.Part{})},
		},
		"LostInventoryAfterFailure": {
			reason: "Numbers of failed revisions are not reused.",
			d:      desired(),
			rec:    in(apps, inventory.Part{}),
			found:  []Revision{ours(2, "deployed", "old"), ours(3, "failed", "new")},
			want:   want{Search: true, Next: Next{Operation: hook.Upgrade, State: Begins, Number: 4, Before: 2}, Part: in(apps, inventory.Part{})},
		},
		"LostInventoryAfterInterruption": {
			reason: "All revisions that are still recorded as deployed are found, but only the last one is the previous one.",
			d:      desired(),
			rec:    in(apps, inventory.Part{}),
			found:  []Revision{ours(1, "deployed", "old"), ours(2, "superseded", "old"), ours(3, "deployed", "mid"), ours(4, "deployed", "new")},
			want: want{
				Search: true, Next: Next{Operation: hook.Upgrade, State: AlreadyDeployed, Number: 4, Before: 3, Stale: []int{1}}, Part: in(apps, inventory.Part{}),
			},
		},
		"UnknownNumber": {
			reason: "A record without a number is ignored.",
			d:      desired(),
			rec:    in(apps, inventory.Part{}),
			found:  []Revision{ours(0, "deployed", "old")},
			want:   want{Search: true, Next: Next{Operation: hook.Install, State: Begins, Number: 1}, Part: in(apps, inventory.Part{})},
		},
		"Foreign": {
			reason:  "The release of another owner is refused.",
			d:       desired(),
			rec:     in(apps, inventory.Part{}),
			found:   []Revision{foreign(1, "deployed", "")},
			want:    want{Search: true},
			wantErr: "Helm release web in namespace apps already exists and does not belong to this module; uninstall the release, or set adopt",
		},
		"ForeignWithoutNumber": {
			reason:  "The release of another owner is refused even without a number.",
			d:       desired(),
			rec:     in(apps, inventory.Part{}),
			found:   []Revision{ours(1, "deployed", "old"), foreign(0, "", "them")},
			want:    want{Search: true},
			wantErr: "Helm release web in namespace apps already exists and does not belong to this module; uninstall the release, or set adopt",
		},
		"AdoptsHelm": {
			reason: "A Helm release is adopted. Its last revision counts as previous, whatever its status.",
			d:      desired(adopting(object.AdoptUnowned)),
			found:  []Revision{foreign(6, "superseded", ""), foreign(7, "failed", "")},
			want:   want{Search: true, Next: Next{Operation: hook.Upgrade, State: Begins, Number: 8, Before: 7}, Part: in(apps, inventory.Part{})},
		},
		"AdoptsOtherBundle": {
			reason: "A module cannot adopt the release of another module.",
			d:      desired(adopting(object.AdoptUnowned)),
			found:  []Revision{foreign(1, "deployed", "them")},
			want:   want{Search: true},
			wantErr: "Helm release web in namespace apps already exists and does not belong to this module; " +
				"uninstall the release, or set adopt",
		},
		"AdoptsAll": {
			reason: "The bundle can adopt the release of another module.",
			d:      desired(adopting(object.AdoptAll)),
			found:  []Revision{foreign(1, "deployed", "them")},
			want:   want{Search: true, Next: Next{Operation: hook.Upgrade, State: Begins, Number: 2, Before: 1}, Part: in(apps, inventory.Part{})},
		},
		"Moves": {
			reason: "A release that moves starts again. The former release is recorded until its records are deleted.",
			d:      desired(at(other)),
			rec:    in(apps, inventory.Part{Revision: 3, Origin: 1, Run: run(inventory.Run{Inputs: "new", Revision: 4, Recorded: true})}),
			want:   want{Search: true, Next: Next{Operation: hook.Install, State: Begins, Number: 1}, Part: in(other, inventory.Part{Former: "apps"})},
		},
		"MovesOverRelease": {
			reason:  "A release cannot move to a place where another owner has a release.",
			d:       desired(at(other)),
			rec:     in(apps, inventory.Part{Revision: 3}),
			found:   []Revision{foreign(1, "deployed", "")},
			want:    want{Search: true},
			wantErr: "Helm release web in namespace other already exists and does not belong to this module; uninstall the release, or set adopt",
		},
		"StillMoves": {
			reason: "Until the move is finished, the cluster is searched at the target.",
			d:      desired(at(other)),
			rec:    in(other, inventory.Part{Former: "apps"}),
			found:  []Revision{ours(1, "deployed", "new")},
			want:   want{Search: true, Next: Next{Operation: hook.Install, State: AlreadyDeployed, Number: 1}, Part: in(other, inventory.Part{Former: "apps"})},
		},
		"MovesOn": {
			reason: "A second move abandons the unreached target of the first.",
			d:      desired(at(third)),
			rec:    in(other, inventory.Part{Former: "apps"}),
			want:   want{Search: true, Next: Next{Operation: hook.Install, State: Begins, Number: 1, Abandoned: other}, Part: in(third, inventory.Part{Former: "apps"})},
		},
		"Returns": {
			reason: "A release that returns before it arrives finds its old records, and leaves the unreached target.",
			d:      desired(),
			rec:    in(other, inventory.Part{Former: "apps"}),
			found:  []Revision{ours(3, "deployed", "old")},
			want:   want{Search: true, Next: Next{Operation: hook.Upgrade, State: Begins, Number: 4, Before: 3}, Part: in(apps, inventory.Part{Former: "other"})},
		},
		"BecomesPlain": {
			reason: "A chart that is replaced by plain objects leaves its release.",
			d:      desired(at(inventory.Release{})),
			rec:    in(apps, inventory.Part{Revision: 3}),
			want:   want{Next: Next{Operation: hook.Install, State: Begins, Number: 1}, Part: inventory.Part{Former: "apps"}},
		},
		"Plain": {
			reason: "Plain objects have no release to search for.",
			d:      desired(at(inventory.Release{}), adopting(object.AdoptAll)),
			want:   want{Next: Next{Operation: hook.Install, State: Begins, Number: 1}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := want{Search: tc.d.NeedsSearch(&tc.rec)}
			var err error
			got.Next, got.Part, err = Follow(&tc.d, tc.rec, tc.found)
			text := ""
			if err != nil {
				text, got.Part = err.Error(), inventory.Part{}
			}
			if diff := cmp.Diff(tc.wantErr, text); diff != "" {
				t.Errorf("\n%s\nFollow(...): -want error, +got error:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nFollow(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestFollowOverwritesNothing tries all histories of three revisions. The number of the next revision must not be that of an
// existing record with other contents.
func TestFollowOverwritesNothing(t *testing.T) {
	kinds := []Revision{
		{}, ours(0, "deployed", "new"), ours(0, "superseded", "new"), ours(0, "pending-upgrade", "new"), ours(0, "failed", "new"),
		ours(0, "deployed", "old"), ours(0, "superseded", "old"), ours(0, "pending-upgrade", "old"), ours(0, "failed", "old"),
		foreign(0, "deployed", ""), foreign(0, "failed", "them"),
	}
	d, rec := desired(adopting(object.AdoptAll)), in(apps, inventory.Part{})
	for n := range len(kinds) * len(kinds) * len(kinds) {
		var found []Revision
		for i, k := range []int{n % len(kinds), n / len(kinds) % len(kinds), n / len(kinds) / len(kinds)} {
			if r := kinds[k]; r != (Revision{}) {
				r.Number = i + 1
				found = append(found, r)
			}
		}
		next, _, err := Follow(&d, rec, found)
		if err != nil {
			t.Fatal(err)
		}
		if next.Number <= next.Before {
			t.Errorf("Follow(%+v): revision %d follows %d", found, next.Number, next.Before)
		}
		for _, r := range found {
			same := r.Ours && r.Inputs == d.Inputs && r.Status != "failed"
			if r.Number == next.Number && !same {
				t.Errorf("Follow(%+v): revision %d overwrites %+v", found, next.Number, r)
			}
		}
	}
}
