// SPDX-License-Identifier: Apache-2.0

package release

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/render/record"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/hook"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

func TestWriteDeployed(t *testing.T) {
	type want struct {
		Requests, Statuses []string
		Part               inventory.Part
		Err                string
	}
	pending := run(inventory.Run{Recorded: true, Revision: 2})
	noted := func(revision, origin int) inventory.Part {
		return inventory.Part{Chart: "app", Version: "1.2.3", Revision: revision, Origin: origin}
	}
	cases := map[string]struct {
		reason    string
		records   []record.Options
		namespace string
		next      Next
		run       *inventory.Run
		rec       inventory.Part
		keep      bool
		random    bool
		deleteOn  map[string]string
		gateway   string
		want      want
	}{
		"First": {
			reason: "The first record is created.",
			next:   Next{Operation: hook.Install, Number: 1, Unsearched: true},
			want:   want{Requests: []string{"POST apps/secrets"}, Statuses: []string{"1 deployed: Install complete"}, Part: noted(1, 0)},
		},
		"FirstOverForeign": {
			reason:  "An unexpected release of another owner is refused.",
			records: []record.Options{recorded(1, "deployed", "", "")},
			next:    Next{Operation: hook.Install, Number: 1, Unsearched: true},
			want: want{
				Requests: []string{"POST apps/secrets", "GET " + all}, Statuses: []string{"1 deployed: said"},
				Err: "Helm release web in namespace apps already exists and does not belong to this module; uninstall the release, or set adopt",
			},
		},
		"FirstOverOurs": {
			reason:  "An unexpected release of ours, whose inventory was lost, is followed in the next step.",
			records: []record.Options{recorded(1, "deployed", "us", "new")},
			next:    Next{Operation: hook.Install, Number: 1, Unsearched: true},
			want: want{
				Requests: []string{"POST apps/secrets", "GET " + all}, Statuses: []string{"1 deployed: said"},
				Err: "release web already has a record; the next attempt continues from it",
			},
		},
		"Replaced": {
			reason:  "After a search of the cluster, a record with that number is replaced.",
			records: []record.Options{recorded(1, "deployed", "us", "new")},
			next:    Next{Operation: hook.Install, Number: 1},
			want: want{
				Requests: []string{"POST apps/secrets", "GET " + secrets + "1", "PUT " + secrets + "1"}, Statuses: []string{"1 deployed: Install complete"}, Part: noted(1, 0),
			},
		},
		"Upgrade": {
			reason:  "The previous revision is superseded, and the oldest revisions are deleted.",
			records: []record.Options{recorded(1, "superseded", "us", "a"), recorded(2, "deployed", "us", "b")},
			next:    Next{Operation: hook.Upgrade, Number: 3, Before: 2},
			want: want{
				Requests: []string{"GET " + secrets + "2", "POST apps/secrets", "PUT " + secrets + "2", "DELETE " + secrets + "1"},
				Statuses: []string{"2 superseded: said", "3 deployed: Upgrade complete"}, Part: noted(3, 0),
			},
		},
		"UpgradeOfDeleted": {
			reason:   "If the previous record is deleted in the meantime, it is not recreated.",
			records:  []record.Options{recorded(1, "deployed", "us", "a")},
			next:     Next{Operation: hook.Upgrade, Number: 2, Before: 1},
			deleteOn: map[string]string{"PUT " + secrets + "1": secrets + "1"},
			want: want{
				Requests: []string{"GET " + secrets + "1", "POST apps/secrets", "PUT " + secrets + "1"},
				Statuses: []string{"2 deployed: Upgrade complete"}, Part: noted(2, 0),
			},
		},
		"UpgradeOfFailed": {
			reason:  "A failed revision of another tool stays failed.",
			records: []record.Options{recorded(1, "failed", "", "")},
			next:    Next{Operation: hook.Upgrade, Number: 2, Before: 1},
			want: want{
				Requests: []string{"GET " + secrets + "1", "POST apps/secrets"},
				Statuses: []string{"1 failed: said", "2 deployed: Upgrade complete"}, Part: noted(2, 0),
			},
		},
		"AfterHooks": {
			reason:  "A pending record becomes deployed.",
			records: []record.Options{recorded(1, "deployed", "us", "a"), recorded(2, "pending-upgrade", "us", "new")},
			next:    Next{Operation: hook.Upgrade, State: Resumes, Number: 2, Before: 1},
			run:     pending,
			rec:     inventory.Part{Revision: 1, Run: pending},
			want: want{
				Requests: []string{"GET " + secrets + "1", "GET " + secrets + "2", "PUT " + secrets + "2", "PUT " + secrets + "1", "GET " + all},
				Statuses: []string{"1 superseded: said", "2 deployed: Upgrade complete"}, Part: noted(2, 0),
			},
		},
		"AfterHooksAndRollback": {
			reason: "A rollback that was interrupted after it recorded its revision, while the hooks of this one ran, is superseded.",
			records: []record.Options{
				recorded(1, "deployed", "us", "a"), recorded(2, "failed", "us", "new"), recorded(3, "deployed", "us", "a"), recorded(4, "deployed", "", ""),
			},
			next: Next{Operation: hook.Upgrade, State: Resumes, Number: 2, Before: 1},
			run:  pending,
			rec:  inventory.Part{Revision: 1, Run: pending},
			want: want{
				Requests: []string{
					"GET " + secrets + "1", "GET " + secrets + "2", "PUT " + secrets + "2", "PUT " + secrets + "1", "GET " + all,
					"GET " + secrets + "3", "PUT " + secrets + "3",
				},
				Statuses: []string{"1 superseded: said", "2 deployed: Upgrade complete", "3 superseded: said", "4 deployed: said"}, Part: noted(2, 0),
			},
		},
		"AfterHooksOfDeleted": {
			reason: "A deleted pending record is created again, even if the cluster was not searched.",
			next:   Next{Operation: hook.Install, Number: 2, Unsearched: true},
			run:    pending,
			rec:    inventory.Part{Run: pending},
			want: want{
				Requests: []string{"GET " + secrets + "2", "POST apps/secrets"}, Statuses: []string{"2 deployed: Install complete"}, Part: noted(2, 1),
			},
		},
		"Stale": {
			reason:  "Each revision that an interrupted call left as deployed is superseded, unless its record is gone.",
			records: []record.Options{recorded(2, "deployed", "us", "a"), recorded(3, "deployed", "us", "b")},
			next:    Next{Operation: hook.Upgrade, Number: 4, Before: 3, Stale: []int{1, 2}},
			want: want{
				Requests: []string{
					"GET " + secrets + "3", "POST apps/secrets", "PUT " + secrets + "3", "GET " + secrets + "1", "GET " + secrets + "2", "PUT " + secrets + "2",
					"DELETE " + secrets + "2",
				},
				Statuses: []string{"3 superseded: said", "4 deployed: Upgrade complete"}, Part: noted(4, 0),
			},
		},
		"Gateway": {
			reason:  "A gateway that does not know another object does not prove that the record is gone.",
			records: []record.Options{recorded(1, "deployed", "us", "a")},
			next:    Next{Operation: hook.Upgrade, Number: 2, Before: 1},
			gateway: "PUT " + secrets + "1",
			want: want{
				Requests: []string{"GET " + secrets + "1", "POST apps/secrets", "PUT " + secrets + "1"},
				Statuses: []string{"1 deployed: said", "2 deployed: Upgrade complete"},
				Err: "cannot mark revision 1 of release web as superseded: API server http://fake: the 404 Not Found response is not from a " +
					"Kubernetes API server; check the server in the kubeconfig, and any proxies in between",
			},
		},
		"ReplacesRun": {
			reason:  "A revision that is replaced while its hooks run has failed.",
			records: []record.Options{recorded(1, "deployed", "us", "a"), recorded(2, "pending-upgrade", "us", "b")},
			next:    Next{Operation: hook.Upgrade, Number: 3, Before: 1},
			rec:     inventory.Part{Revision: 1, Run: pending},
			want: want{
				Requests: []string{"GET " + secrets + "1", "GET " + secrets + "2", "PUT " + secrets + "2", "POST apps/secrets", "PUT " + secrets + "1"},
				Statuses: []string{"1 superseded: said", "2 failed: Replaced by a newer version while its hooks ran", "3 deployed: Upgrade complete"},
				Part:     noted(3, 0),
			},
		},
		"ReplacesDeployed": {
			reason:  "A revision is superseded if the step that deployed it failed before it marked the one before it.",
			records: []record.Options{recorded(1, "deployed", "us", "a"), recorded(2, "deployed", "us", "b")},
			next:    Next{Operation: hook.Rollback, Number: 3, Before: 1, Replaces: true},
			rec:     inventory.Part{Revision: 1, Run: pending},
			want: want{
				Requests: []string{
					"GET " + secrets + "1", "GET " + secrets + "2", "POST apps/secrets", "PUT " + secrets + "1", "GET " + all,
					"GET " + secrets + "2", "PUT " + secrets + "2",
				},
				Statuses: []string{"1 superseded: said", "2 superseded: said", "3 deployed: Upgrade complete"}, Part: noted(3, 0),
			},
		},
		"CompletedByAnother": {
			reason:  "A revision that another process completed while this one ran its hooks is not superseded by itself.",
			records: []record.Options{recorded(2, "deployed", "us", "b")},
			next:    Next{Operation: hook.Install, State: AlreadyDeployed, Number: 2},
			rec:     inventory.Part{Run: pending},
			want: want{
				Requests: []string{"POST apps/secrets", "GET " + secrets + "2", "PUT " + secrets + "2"},
				Statuses: []string{"2 deployed: Install complete"}, Part: noted(2, 1),
			},
		},
		"Deployed": {
			reason:  "The record of a deployed revision that does not render the same again keeps its objects.",
			records: []record.Options{recorded(2, "deployed", "us", "b")},
			next:    Next{Operation: hook.Install, State: AlreadyDeployed, Number: 2},
			random:  true,
			want: want{
				Requests: []string{"GET " + secrets + "2", "PUT " + secrets + "2"}, Statuses: []string{"2 deployed: Install complete"}, Part: noted(2, 1),
			},
		},
		"NoNamespace": {
			reason:    "A missing namespace is created.",
			namespace: "apps",
			next:      Next{Operation: hook.Install, Number: 1, Unsearched: true},
			want: want{
				Requests: []string{"POST apps/secrets", "POST namespaces", "POST apps/secrets"}, Statuses: []string{"1 deployed: Install complete"},
				Part: noted(1, 0),
			},
		},
		"KeptNamespace": {
			reason:    "The config can disable the creation of the namespace.",
			namespace: "apps",
			next:      Next{Operation: hook.Install, Number: 1, Unsearched: true},
			keep:      true,
			want: want{
				Requests: []string{"POST apps/secrets"},
				Err:      "cannot record revision 1 of release web: namespace apps does not exist, and the config layer sets CreateNamespace=false; create the namespace",
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := newFakeCluster(t)
			for _, o := range tc.records {
				c.record(o)
			}
			delete(c.namespaces, tc.namespace)
			c.deleteOn, c.gateway = tc.deleteOn, tc.gateway
			i := &NewRevision{
				Desired: desired(), Next: tc.next, Chart: chartOf(t), Rendered: rendered(t), CreateNamespace: !tc.keep, Run: tc.run, Now: now,
			}
			i.Rendered.Pure = !tc.random
			h := c.history()
			before, err := h.Before(t.Context(), i)
			if err == nil {
				err = h.WriteDeployed(t.Context(), i, before, &tc.rec)
			}
			got := want{Requests: c.requests, Statuses: c.statuses(), Part: tc.rec, Err: errorText(err)}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nWriteDeployed(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestOverwrite checks when the record of an interrupted call is replaced, while another process may work on the release.
func TestOverwrite(t *testing.T) {
	record1 := secrets + "1"
	other := func(c *fakeCluster) { c.objects[record1].ResourceVersion += "0" }
	cases := map[string]struct {
		reason  string
		confirm func(c *fakeCluster) error
		// deleteOn is a request before which another client deletes the record.
		deleteOn string
		conflict bool
		err      string
		want     []string
	}{
		"Confirmed": {reason: "No other process works on the release.", confirm: func(*fakeCluster) error { return nil }, want: []string{"1 deployed: Install complete"}},
		"Refused": {
			reason: "Another process has changed the inventory.", confirm: func(*fakeCluster) error { return errors.New("changed") },
			err: "cannot record revision 1 of release web: changed", want: []string{"1 deployed: said"},
		},
		"WrittenAfter": {
			reason:  "A record that another process wrote after the confirmation is not replaced.",
			confirm: func(c *fakeCluster) error { other(c); return nil }, conflict: true, want: []string{"1 deployed: said"},
		},
		"Deleted": {
			reason: "Another client deleted the record.", confirm: func(*fakeCluster) error { return nil }, deleteOn: "GET " + record1,
			err: "cannot record revision 1 of release web: another client deleted the record at the same time",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := newFakeCluster(t)
			c.record(recorded(1, "deployed", "us", "new"))
			c.deleteOn[tc.deleteOn] = record1
			h := c.history()
			h.Confirm = func(context.Context) error { return tc.confirm(c) }
			i := &NewRevision{Desired: desired(), Next: Next{Operation: hook.Install, Number: 1}, Chart: chartOf(t), Rendered: rendered(t), Now: now}
			err := h.WriteDeployed(t.Context(), i, nil, &inventory.Part{})
			if tc.conflict && !kerrors.IsConflict(err) || !tc.conflict && errorText(err) != tc.err {
				t.Errorf("\n%s\nWriteDeployed(...): want error %q, or a conflict: %v, got %v", tc.reason, tc.err, tc.conflict, err)
			}
			if diff := cmp.Diff(tc.want, c.statuses()); diff != "" {
				t.Errorf("\n%s\nrecords: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestWritePending(t *testing.T) {
	c := newFakeCluster(t)
	c.record(recorded(1, "deployed", "us", "a"))
	i := &NewRevision{Desired: desired(), Next: Next{Operation: hook.Upgrade, Number: 2, Before: 1}, Chart: chartOf(t), Rendered: rendered(t), Now: now}
	if err := c.history().WritePending(t.Context(), i); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"1 deployed: said", "2 pending-upgrade: Preparing upgrade"}, c.statuses()); diff != "" {
		t.Errorf("WritePending(...): -want, +got:\n%s", diff)
	}
}

func TestFinish(t *testing.T) {
	c := newFakeCluster(t)
	c.namespaces["old"] = true
	i := &NewRevision{Desired: desired(), Next: Next{Operation: hook.Install, Number: 1}, Chart: chartOf(t), Rendered: rendered(t), Now: now}
	rec := in(apps, inventory.Part{Former: "old"})
	if _, err := c.history().Finish(t.Context(), i, &rec, nil); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"DELETE old/secrets?owner=helm,name=web,kyma.m.crossplane.io/set=us", "POST apps/secrets"}, c.requests); diff != "" {
		t.Errorf("The former release ends before the new one begins.\nFinish(...): -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff(in(apps, inventory.Part{Revision: 1, Chart: "app", Version: "1.2.3"}), rec); diff != "" {
		t.Errorf("Finish(...): -want, +got:\n%s", diff)
	}
}

func TestFormer(t *testing.T) {
	marks := func(release string) map[string]string {
		return map[string]string{object.AnnotationReleaseName: release, object.AnnotationReleaseNamespace: "apps"}
	}
	c := newFakeCluster(t)
	for name, a := range map[string]map[string]string{"stale": marks("web"), "wanted": marks("web"), "moved": marks("other"), "last": marks("web")} {
		c.put("configmaps", &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "apps", Name: name, Annotations: a}})
	}
	manifest := strings.Builder{}
	for _, n := range []string{"stale", "wanted", "moved", "gone", "last"} {
		manifest.WriteString("---\n# Source: app/templates/" + n + ".yaml\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + n + ", namespace: apps}\n")
	}
	i := &NewRevision{Desired: desired(adopting(object.AdoptUnowned)), Next: Next{Number: 2, Before: 1}}
	has := func(u *unstructured.Unstructured) (bool, error) { return u.GetName() == "wanted", nil }
	want := []cluster.ObjectRef{{Kind: "ConfigMap", Namespace: "apps", Name: "last"}, {Kind: "ConfigMap", Namespace: "apps", Name: "stale"}}
	before := &record.Info{Manifest: manifest.String()}
	got, err := c.history().FindFormer(t.Context(), i, before, has)
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("Only what is still marked as part of the release is former, the last object first.\nFindFormer(...): -want, +got:\n%s\n%v", diff, err)
	}
	if len(c.objects) != 4 {
		t.Errorf("FindFormer(...) must delete nothing, left %d objects", len(c.objects))
	}
	got, err = c.history().PruneFormer(t.Context(), i, before, has)
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("PruneFormer(...): -want, +got:\n%s\n%v", diff, err)
	}
	left := slices.Sorted(maps.Keys(c.objects))
	if diff := cmp.Diff([]string{"apps/configmaps/moved", "apps/configmaps/wanted"}, left); diff != "" {
		t.Errorf("PruneFormer(...): -want, +got objects that are left:\n%s", diff)
	}
}
