// SPDX-License-Identifier: Apache-2.0

package teardown

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/health"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

func entry(kind, name string, part object.PartID, s object.Stage) *inventory.Entry {
	return &inventory.Entry{Version: "v1", Kind: kind, Name: name, Part: part, Stage: s}
}

func TestPlan(t *testing.T) {
	widgets := map[schema.GroupKind]schema.GroupVersionKind{{Kind: "Widget"}: {Version: "v1", Kind: "Widget"}}
	all := []*inventory.Entry{
		entry("Namespace", "apps", "web", object.StageNamespaces),
		entry("CRD", "widgets", object.PartCRDs, object.StageCRDs),
		entry("ConfigMap", "db", "db", object.StageConfiguration),
		entry("ConfigMap", "web", "web", object.StageConfiguration),
		entry("ConfigMap", "old", "old", object.StageConfiguration),
		entry("Deployment", "web", "web", object.StageWorkloads),
		entry("Widget", "sample", "web", object.StageWorkloads),
		entry("Module", "main", object.PartResource, object.StageResource),
	}
	type args struct {
		mode    Mode
		entries []*inventory.Entry
		own     map[schema.GroupKind]schema.GroupVersionKind
	}
	cases := map[string]struct {
		reason string
		args   args
		want   []string
	}{
		"Nothing": {
			reason: "Hooks and custom resources of other clients exist even without entries.",
			args:   args{mode: Remove},
			want:   []string{"await remaining custom resources", "run hooks pre-delete", "run hooks post-delete", "await remaining custom resources"},
		},
		"Bundle": {
			reason: "Custom resources are deleted first, followed by the stages in reverse order, and within each stage the parts.",
			args:   args{mode: Remove, entries: all, own: widgets},
			want: []string{
				"delete Widget sample, Module main", "await remaining custom resources", "run hooks pre-delete", "delete Deployment web",
				"delete ConfigMap old", "delete ConfigMap web", "delete ConfigMap db",
				"run hooks post-delete", "await remaining custom resources", "delete CRD widgets", "delete Namespace apps",
			},
		},
		"Prune": {
			reason: "While the rest of a bundle stays, custom resources of other clients block only their CRDs.",
			args:   args{mode: Prune, entries: all[1:4]},
			want: []string{
				"run hooks pre-delete", "delete ConfigMap web", "delete ConfigMap db",
				"run hooks post-delete", "await remaining custom resources", "delete CRD widgets",
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, g := range Plan(tc.args.mode, tc.args.entries, tc.args.own, []object.PartID{object.PartCRDs, "db", "web", object.PartResource}) {
				got = append(got, g.String())
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nPlan(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestShelters(t *testing.T) {
	space, volume, data := entry("Namespace", "apps", "web", object.StageNamespaces), entry("Namespace", "data", "web", object.StageNamespaces),
		entry("ConfigMap", "web", "web", object.StageConfiguration)
	needed := map[cluster.ObjectRef]bool{space.Ref(): true, volume.Ref(): true}
	got := Shelters([]*inventory.Entry{space, volume, data}, []*inventory.Entry{volume}, needed)
	if diff := cmp.Diff([]*inventory.Entry{space}, got); diff != "" {
		t.Errorf("what orphans need, other than orphans: -want, +got:\n%s", diff)
	}
}

func TestBlocked(t *testing.T) {
	cases := map[string]struct {
		reason string
		found  remaining
		mode   Mode
		want   Blocked
	}{
		"None": {reason: "Nothing remains.", mode: Remove},
		"One": {
			reason: "The message includes the advice of the caller.", found: remaining{total: 1, named: []string{"Widget a"}}, mode: Remove,
			want: Blocked{State: health.Warning, Message: "1 object of a kind that this module defines still exists: Widget a; delete the ones that you do not need, or shout to delete all of them"},
		},
		"Prune": {
			reason: "Pruning cannot be forced.", found: remaining{total: 7, named: []string{"Widget a", "Widget b"}}, mode: Prune,
			want: Blocked{State: health.Warning, Message: "7 objects of kinds that this module defines still exist: Widget a, Widget b and 5 more; delete the ones that you do not need"},
		},
		"Forced": {
			reason: "The user can only wait.", found: remaining{total: 1, named: []string{"Widget a"}}, mode: ForceRemove,
			want: Blocked{State: health.Deleting, Message: "1 object of a kind that this module defines still exists: Widget a; the remaining objects are being deleted"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, tc.found.blocked(tc.mode, "shout")); diff != "" {
				t.Errorf("\n%s\nblocked(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
