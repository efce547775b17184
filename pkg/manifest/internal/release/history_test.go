// SPDX-License-Identifier: Apache-2.0

package release

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-kyma/internal/render/record"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ssa"
)

const (
	secrets = "apps/secrets/sh.helm.release.v1.web.v"
	all     = "apps/secrets?owner=helm,name=web"
)

// recorded returns a revision that an ApplySet recorded. An empty ApplySet means another tool.
func recorded(n int, status, set, inputs string) record.Options {
	o := record.Options{Revision: n, Status: status, Description: "said", FirstDeployed: first, LastDeployed: first, Labels: map[string]string{}}
	if set != "" {
		o.Labels[LabelSet], o.Labels[LabelInputs] = set, inputs
	}
	return o
}

func TestNext(t *testing.T) {
	type want struct {
		Requests []string
		Number   int
		Err      string
	}
	cases := map[string]struct {
		reason  string
		records []record.Options
		rec     inventory.Part
		want    want
	}{
		"Known": {reason: "A revision in the inventory requires no request.", rec: in(apps, inventory.Part{Revision: 2}), want: want{Number: 3}},
		"Searched": {
			reason:  "If the inventory has no revision, the records are read.",
			records: []record.Options{recorded(4, "deployed", "us", "old"), recorded(5, "deployed", "us", "new")},
			rec:     in(apps, inventory.Part{}),
			want:    want{Requests: []string{"GET " + all}, Number: 5},
		},
		"Foreign": {
			reason:  "The record of another bundle is refused.",
			records: []record.Options{recorded(4, "deployed", "them", "new")},
			rec:     in(apps, inventory.Part{}),
			want: want{
				Requests: []string{"GET " + all},
				Err:      "Helm release web in namespace apps already exists and does not belong to this module; uninstall the release, or set adopt",
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := newFakeCluster(t)
			for _, o := range tc.records {
				c.record(o)
			}
			// It has the labels of a record, but is not one.
			c.put("secrets", &corev1.Secret{ObjectMeta: metav1.ObjectMeta{
				Namespace: "apps", Name: "other", Labels: map[string]string{"owner": "helm", "name": "web", LabelRevision: "9"},
			}})
			d := desired()
			n, _, err := c.history().Next(t.Context(), &d, tc.rec)
			if diff := cmp.Diff(tc.want, want{Requests: c.requests, Number: n.Number, Err: errorText(err)}); diff != "" {
				t.Errorf("\n%s\nNext(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// labeled adds the digest of the content to a record.
func labeled(o record.Options, content string) record.Options {
	o.Labels[LabelContent] = content
	return o
}

func TestFindRollback(t *testing.T) {
	type want struct {
		Revision int
		Objects  bool
		Requests int
	}
	cases := map[string]struct {
		reason  string
		records []record.Options
		pure    bool
		want    want
	}{
		"None":   {reason: "A revision that failed, or belongs to another owner, cannot be restored.", records: []record.Options{recorded(1, "failed", "us", "new"), recorded(2, "deployed", "them", "new"), recorded(3, "deployed", "us", "old")}, want: want{Requests: 1}},
		"Pure":   {reason: "A chart that always renders the same does not need the record.", records: []record.Options{recorded(1, "superseded", "us", "new"), recorded(3, "superseded", "us", "new")}, pure: true, want: want{Revision: 3, Requests: 1}},
		"Labels": {reason: "A revision with other labels has the same content.", records: []record.Options{labeled(recorded(1, "superseded", "us", "old"), "c"), labeled(recorded(2, "superseded", "us", "new"), "d")}, pure: true, want: want{Revision: 2, Requests: 1}},
		"Impure": {reason: "Any other chart is restored from its record.", records: []record.Options{recorded(1, "superseded", "us", "new")}, want: want{Revision: 1, Objects: true, Requests: 2}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := newFakeCluster(t)
			for _, o := range tc.records {
				c.record(o)
			}
			revision, manifest, err := c.history().FindRollback(t.Context(), apps, inventory.Inputs{Digest: "new", Content: "c"}, tc.pure)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, want{Revision: revision, Objects: manifest != "", Requests: len(c.requests)}); diff != "" {
				t.Errorf("\n%s\nFindRollback(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestDescribe(t *testing.T) {
	c := newFakeCluster(t)
	h := c.history()
	if found, err := h.Describe(t.Context(), apps, 1, record.StatusFailed, "why"); found || err != nil {
		t.Errorf("Describe of a revision without a record: %t, %v", found, err)
	}
	c.record(recorded(1, "pending-install", "us", "new"))
	if found, err := h.Describe(t.Context(), apps, 1, record.StatusFailed, "why"); !found || err != nil {
		t.Errorf("Describe: %t, %v", found, err)
	}
	if diff := cmp.Diff([]string{"1 failed: why"}, c.statuses()); diff != "" {
		t.Errorf("Describe(...): -want, +got:\n%s", diff)
	}
	if got := c.objects[secrets+"1"].Labels[LabelSet]; got != "us" {
		t.Errorf("Describe(...): the record has label %s=%q, and is no longer known as ours", LabelSet, got)
	}
	c.put("secrets", &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "apps", Name: RecordPrefix + "web.v2"}})
	if _, err := h.Describe(t.Context(), apps, 2, record.StatusFailed, "why"); !ssa.IsRefused(err) {
		t.Errorf("Describe of a record that cannot read the status: want an objection to the object, got %v", err)
	}
}

// TestRecordFence verifies that a record is not overwritten if another client changed it after it was read.
func TestRecordFence(t *testing.T) {
	c := newFakeCluster(t)
	h := c.history()
	c.record(recorded(1, "deployed", "us", "new"))
	c.changeOn = map[string]string{"PUT " + secrets + "1": secrets + "1"}
	found, err := h.Describe(t.Context(), apps, 1, record.StatusUninstalling, "why")
	if !found || !kerrors.IsConflict(err) {
		t.Errorf("Describe(...): want a conflict, got %t, %v", found, err)
	}
	before, err := h.Get(t.Context(), apps, 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := h.supersede(t.Context(), before); !kerrors.IsConflict(err) {
		t.Errorf("supersede(...): want a conflict, got %v", err)
	}
	if diff := cmp.Diff([]string{"1 deployed: said"}, c.statuses()); diff != "" {
		t.Errorf("records: -want, +got:\n%s", diff)
	}
	c.changeOn = nil
	if found, err := h.Describe(t.Context(), apps, 1, record.StatusUninstalling, "why"); !found || err != nil {
		t.Errorf("Describe(...) of what was read again: %t, %v", found, err)
	}
}

// TestFail checks which revisions can fail.
func TestFail(t *testing.T) {
	cases := map[string]struct{ reason, status, want string }{
		"Install":    {reason: "An installation that has begun can fail.", status: record.StatusPendingInstall, want: "1 failed: why"},
		"Upgrade":    {reason: "An upgrade that has begun can fail.", status: record.StatusPendingUpgrade, want: "1 failed: why"},
		"Rollback":   {reason: "A rollback that has begun can fail.", status: record.StatusPendingRollback, want: "1 failed: why"},
		"Deployed":   {reason: "Another process has completed the installation.", status: record.StatusDeployed, want: "1 deployed: said"},
		"Superseded": {reason: "Another process has even replaced the revision.", status: record.StatusSuperseded, want: "1 superseded: said"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := newFakeCluster(t)
			c.record(recorded(1, tc.status, "us", "new"))
			if found, err := c.history().Describe(t.Context(), apps, 1, record.StatusFailed, "why"); !found || err != nil {
				t.Errorf("\n%s\nDescribe(...): %t, %v", tc.reason, found, err)
			}
			if diff := cmp.Diff([]string{tc.want}, c.statuses()); diff != "" {
				t.Errorf("\n%s\nDescribe(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestDeleteOf(t *testing.T) {
	const own, every = ",kyma.m.crossplane.io/set=us", ""
	cases := map[string]struct {
		reason string
		rec    inventory.Part
		adopts bool
		want   []string
	}{
		"None":            {reason: "Plain objects do not have a release."},
		"Own":             {reason: "Only our own records are deleted.", rec: in(apps, inventory.Part{Revision: 1}), want: []string{"DELETE " + all + own}},
		"Adopted":         {reason: "The records from before an adoption are deleted, too.", rec: in(apps, inventory.Part{Revision: 2, Own: true}), want: []string{"DELETE " + all + every}},
		"AdoptedByBundle": {reason: "The records from before an adoption are deleted, too, if the bundle adopts.", rec: in(apps, inventory.Part{Revision: 2}), adopts: true, want: []string{"DELETE " + all + every}},
		"NotArrived":      {reason: "Without a revision of ours, the records of other tools are not deleted.", rec: in(apps, inventory.Part{Own: true}), want: []string{"DELETE " + all + own}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := newFakeCluster(t)
			if err := c.history().DeleteOf(t.Context(), "web", &tc.rec, tc.adopts); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, c.requests); diff != "" {
				t.Errorf("\n%s\nDeleteOf(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestHasForeign(t *testing.T) {
	cases := map[string]struct {
		reason  string
		records []record.Options
		want    bool
	}{
		"None":    {reason: "A release without records does not belong to another owner."},
		"Ours":    {reason: "All revisions are ours.", records: []record.Options{recorded(1, "deployed", "us", "new")}},
		"Adopted": {reason: "A revision that Helm installed is left.", records: []record.Options{recorded(1, "superseded", "", ""), recorded(2, "deployed", "us", "new")}, want: true},
		"Others":  {reason: "The release belongs to another bundle.", records: []record.Options{recorded(1, "deployed", "them", "new")}, want: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := newFakeCluster(t)
			for _, o := range tc.records {
				c.record(o)
			}
			got, err := c.history().HasForeign(t.Context(), apps)
			if err != nil || got != tc.want {
				t.Errorf("\n%s\nHasForeign(...): want %t, got %t, %v", tc.reason, tc.want, got, err)
			}
		})
	}
}
