// SPDX-License-Identifier: Apache-2.0

package release

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/internal/render"
	"github.com/crossplane-contrib/provider-kyma/internal/render/input"
	"github.com/crossplane-contrib/provider-kyma/internal/render/record"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/hook"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

var (
	first = time.Unix(1_600_000_000, 0)
	now   = time.Unix(1_700_000_000, 0)
)

func installing(next Next, changes ...func(*NewRevision)) *NewRevision {
	i := &NewRevision{Desired: desired(), Next: next, Now: now}
	for _, c := range changes {
		c(i)
	}
	return i
}

func TestRecords(t *testing.T) {
	type want struct {
		Deployed, Pending record.Options
	}
	labels := map[string]string{LabelSet: "us", LabelInputs: "new"}
	recorded := func(revision int, status, description string, since time.Time) record.Options {
		return record.Options{
			Revision: revision, Status: status, Description: description, FirstDeployed: since, LastDeployed: now, Labels: labels,
		}
	}
	with := func(o record.Options, change func(*record.Options)) record.Options {
		change(&o)
		return o
	}
	cases := map[string]struct {
		reason string
		in     *NewRevision
		before *record.Info
		want   want
	}{
		"Install": {
			reason: "The first revision starts the release.",
			in:     installing(Next{Operation: hook.Install, Number: 1}),
			want:   want{Deployed: recorded(1, "deployed", "Install complete", now), Pending: recorded(1, "pending-install", "Initial install underway", now)},
		},
		"Upgrade": {
			reason: "An upgrade keeps the time of the first revision.",
			in:     installing(Next{Operation: hook.Upgrade, Number: 3, Before: 2}),
			before: &record.Info{FirstDeployed: first},
			want:   want{Deployed: recorded(3, "deployed", "Upgrade complete", first), Pending: recorded(3, "pending-upgrade", "Preparing upgrade", first)},
		},
		"UpgradeOfLostRecord": {
			reason: "If the previous record is missing, the time of the first revision is lost.",
			in:     installing(Next{Operation: hook.Upgrade, Number: 3, Before: 2}),
			want:   want{Deployed: recorded(3, "deployed", "Upgrade complete", now), Pending: recorded(3, "pending-upgrade", "Preparing upgrade", now)},
		},
		"RollbackToRecorded": {
			reason: "A rollback names the revision. It uses the recorded objects if the chart does not render them again.",
			in:     installing(Next{Operation: hook.Rollback, Number: 4, Before: 3, BackTo: 1, BackManifest: "kind: ConfigMap"}),
			before: &record.Info{FirstDeployed: first},
			want: want{
				Deployed: with(recorded(4, "deployed", "Rollback to 1", first), func(o *record.Options) { o.Manifest = "kind: ConfigMap" }),
				Pending:  with(recorded(4, "pending-rollback", "Preparing rollback", first), func(o *record.Options) { o.Manifest = "kind: ConfigMap" }),
			},
		},
		"RollbackToUnrecorded": {
			reason: "If the revision to restore is no longer recorded, the description is that of an upgrade.",
			in:     installing(Next{Operation: hook.Rollback, Number: 4, Before: 3}),
			before: &record.Info{FirstDeployed: first},
			want:   want{Deployed: recorded(4, "deployed", "Upgrade complete", first), Pending: recorded(4, "pending-rollback", "Preparing rollback", first)},
		},
		"Config": {
			reason: "The config can set a description and labels, but it cannot replace the labels of the engine.",
			in: installing(Next{Operation: hook.Install, Number: 1}, func(i *NewRevision) {
				i.Description, i.Labels = "by us", map[string]string{"team": "a", LabelSet: "them"}
			}),
			want: want{
				Deployed: with(recorded(1, "deployed", "by us", now), func(o *record.Options) {
					o.Labels = map[string]string{"team": "a", LabelSet: "us", LabelInputs: "new"}
				}),
				Pending: with(recorded(1, "pending-install", "Initial install underway", now), func(o *record.Options) {
					o.Labels = map[string]string{"team": "a", LabelSet: "us", LabelInputs: "new"}
				}),
			},
		},
		"ConfigOfRollback": {
			reason: "The description of a rollback takes precedence over that of the config.",
			in:     installing(Next{Operation: hook.Rollback, Number: 4, Before: 3, BackTo: 1}, func(i *NewRevision) { i.Description = "by us" }),
			before: &record.Info{FirstDeployed: first},
			want:   want{Deployed: recorded(4, "deployed", "Rollback to 1", first), Pending: recorded(4, "pending-rollback", "Preparing rollback", first)},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			since := tc.in.firstDeployed(tc.before)
			got := want{Deployed: tc.in.record("us", since), Pending: tc.in.pending("us", since)}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nrecord(...), pending(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestOutdated(t *testing.T) {
	cases := map[string]struct {
		reason               string
		before, number, keep int
		want                 []int
	}{
		"First":        {reason: "There is no revision before the first one.", number: 1, keep: 10},
		"Few":          {reason: "No revision exceeds the limit.", before: 9, number: 10, keep: 10},
		"OneTooMany":   {reason: "The oldest revision is deleted.", before: 10, number: 11, keep: 10, want: []int{1}},
		"Later":        {reason: "Older revisions are already deleted.", before: 20, number: 21, keep: 10, want: []int{11}},
		"Failed":       {reason: "Failed revisions in between count.", before: 10, number: 14, keep: 10, want: []int{1, 2, 3, 4}},
		"KeepsBefore":  {reason: "The previous deployed revision is kept, regardless of the number of failed ones since.", before: 2, number: 14, keep: 10, want: []int{1, 3, 4}},
		"NothingKnown": {reason: "Without a previous revision, all failed ones count.", number: 12, keep: 10, want: []int{1, 2}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, outdated(tc.before, tc.number, tc.keep)); diff != "" {
				t.Errorf("\n%s\noutdated(%d, %d, %d): -want, +got:\n%s", tc.reason, tc.before, tc.number, tc.keep, diff)
			}
		})
	}
}

func TestNoteRevision(t *testing.T) {
	chart, err := render.Load([]input.File{{Name: "Chart.yaml", Data: []byte("{apiVersion: v2, name: app, version: 1.2.3}")}})
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		reason string
		next   Next
		rec    inventory.Part
		want   inventory.Part
	}{
		"First": {
			reason: "No revision failed before the first one.",
			next:   Next{Number: 1},
			rec:    inventory.Part{Namespace: "apps", Run: run(inventory.Run{})},
			want:   inventory.Part{Namespace: "apps", Chart: "app", Version: "1.2.3", Revision: 1},
		},
		"FirstAfterFailures": {
			reason: "The revisions that failed before the first deployed one are counted.",
			next:   Next{Number: 3},
			want:   inventory.Part{Chart: "app", Version: "1.2.3", Revision: 3, Origin: 2},
		},
		"Upgrade": {
			reason: "Later revisions keep this number.",
			next:   Next{Number: 4, Before: 3},
			rec:    inventory.Part{Chart: "app", Version: "1.2.2", Revision: 3, Origin: 2},
			want:   inventory.Part{Chart: "app", Version: "1.2.3", Revision: 4, Origin: 2},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			installing(tc.next, func(i *NewRevision) { i.Chart = chart }).note(&tc.rec)
			if diff := cmp.Diff(tc.want, tc.rec); diff != "" {
				t.Errorf("\n%s\nnote(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestForget(t *testing.T) {
	rec := inventory.Part{
		Digest: "new", Revision: 3, Origin: 1, Chart: "app", Version: "1.2.3", Run: run(inventory.Run{}), DeleteHooks: true, TestHooks: true, Wait: true,
	}
	Forget(&rec)
	if diff := cmp.Diff(inventory.Part{Digest: "new", Wait: true}, rec); diff != "" {
		t.Errorf("Forget(...): -want, +got:\n%s", diff)
	}
}

func TestFormerObjects(t *testing.T) {
	const manifest = `---
# Source: app/templates/a.yaml
apiVersion: v1
kind: ConfigMap
metadata: {name: a}
---
# Source: app/templates/kept.yaml
apiVersion: v1
kind: ConfigMap
metadata: {name: kept, annotations: {helm.sh/resource-policy: keep}}
`
	cases := map[string]struct {
		reason  string
		adopts  object.Adoption
		before  *record.Info
		want    []string
		wantErr string
	}{
		"NoneBefore": {reason: "Without a previous revision, there are no former objects.", adopts: object.AdoptAll},
		"Helm":       {reason: "Objects with the keep policy stay.", adopts: object.AdoptUnowned, before: &record.Info{Manifest: manifest}, want: []string{"a"}},
		"NotAdopted": {reason: "Without adoption, no objects of other tools are deleted.", before: &record.Info{Manifest: manifest}},
		"OtherBundle": {
			reason: "The objects of another bundle are in its own inventory.", adopts: object.AdoptAll,
			before: &record.Info{Manifest: manifest, Labels: map[string]string{LabelSet: "them"}},
		},
		"Ours": {
			reason: "Our own objects are in the inventory.", adopts: object.AdoptAll,
			before: &record.Info{Manifest: manifest, Labels: map[string]string{LabelSet: "us"}},
		},
		"Unreadable": {
			reason: "The error names the record.", adopts: object.AdoptAll, before: &record.Info{Manifest: "- a list"},
			wantErr: "record of release web revision 7",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			in := installing(Next{Number: 8, Before: 7}, func(i *NewRevision) { i.Desired.Adopts = tc.adopts })
			objects, err := in.formerObjects(tc.before)
			if text := errorText(err); (tc.wantErr == "") != (text == "") || !strings.HasPrefix(text, tc.wantErr) {
				t.Fatalf("\n%s\nformerObjects(...): want error %q, got %v", tc.reason, tc.wantErr, err)
			}
			var got []string
			for _, u := range objects {
				got = append(got, object.RefOf(u).Name)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nformerObjects(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
