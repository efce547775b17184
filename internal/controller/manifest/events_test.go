// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	engine "github.com/crossplane-contrib/provider-kyma/pkg/manifest"
)

func TestRecord(t *testing.T) {
	one := []cluster.ObjectRef{{Kind: "Job", Namespace: "a", Name: "one"}}
	cases := map[string]struct {
		reason string
		record func(r *reporter, mr *v1alpha1.Manifest)
		want   []string
	}{
		"Nothing": {reason: "Nothing was done.", record: func(r *reporter, mr *v1alpha1.Manifest) {
			r.recordApply(mr, engine.Result{})
			r.recordRemoval(mr, engine.Removal{})
		}},
		"Applied": {
			reason: "The event names the replaced objects and the objects that were kept.",
			record: func(r *reporter, mr *v1alpha1.Manifest) {
				r.recordApply(mr, engine.Result{Recreated: one, Kept: one})
			},
			want: []string{
				"Recreated: Deleted objects to recreate them, because immutable fields changed: Job a/one",
				"Kept: Kept objects because of annotation helm.sh/resource-policy; the module no longer manages them: Job a/one",
			},
		},
		"Shared": {
			reason: "The event names the CRDs that are used, taken over and kept, with their owners and users.",
			record: func(r *reporter, mr *v1alpha1.Manifest) {
				crd := func(name string) cluster.ObjectRef {
					return cluster.ObjectRef{Kind: "CustomResourceDefinition", Name: name}
				}
				r.recordApply(mr, engine.Result{
					Shared:     []engine.SharedCRD{{Ref: crd("a"), Owner: "Manifest b/c"}, {Ref: crd("d")}, {Ref: crd("e"), Inherited: true}},
					HandedOver: []engine.HandedOver{{Ref: crd("f"), Users: []string{"Manifest g/h", "Manifest i/j"}}},
				})
			},
			want: []string{
				"Kept: Kept CRDs that other Manifests use: CustomResourceDefinition f (Manifest g/h, Manifest i/j)",
				"CRDShared: CustomResourceDefinition a already exists, belongs to Manifest b/c, and is used as is; " +
					"CustomResourceDefinition d already exists, and is used as is; CustomResourceDefinition e no longer had an owner, and now belongs to this module",
			},
		},
		"Released": {
			reason: "The event names both custom resources.",
			record: func(r *reporter, mr *v1alpha1.Manifest) {
				r.recordApply(mr, engine.Result{Released: []engine.Released{{Resource: one[0], Instead: cluster.ObjectRef{Kind: "Job", Namespace: "a", Name: "two"}}}})
			},
			want: []string{"ResourceReleased: The name or namespace of the custom resource changed: " +
				"Job a/one was replaced by Job a/two, is no longer managed, and stays in the cluster; delete the previous one if not needed"},
		},
		"LeftBehind": {
			reason: "The event contains the reason of each object, and names the first ones.",
			record: func(r *reporter, mr *v1alpha1.Manifest) {
				var left []engine.LeftBehind
				for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
					left = append(left, engine.LeftBehind{Object: cluster.ObjectRef{Kind: "Job", Namespace: "a", Name: name}, Reason: "recreated by another client"})
				}
				left[1].Reason = "belongs to Manifest b/web"
				r.recordApply(mr, engine.Result{LeftBehind: left[:2]})
				r.recordRemoval(mr, engine.Removal{LeftBehind: left})
			},
			want: []string{
				"LeftBehind: Left objects in the cluster that were replaced or now belong to another owner: Job a/a (recreated by another client); " +
					"Job a/b (belongs to Manifest b/web)",
				"LeftBehind: Left objects in the cluster that were replaced or now belong to another owner: Job a/a (recreated by another client); " +
					"Job a/b (belongs to Manifest b/web); Job a/c (recreated by another client); Job a/d (recreated by another client); " +
					"Job a/e (recreated by another client); and 1 more",
			},
		},
		"Rebuilt": {
			reason: "The event reports the number of objects found, and the kinds that were not searched.",
			record: func(r *reporter, mr *v1alpha1.Manifest) {
				r.recordApply(mr, engine.Result{Rebuilt: &engine.Rebuilt{Objects: 3}})
				r.recordRemoval(mr, engine.Removal{Rebuilt: &engine.Rebuilt{Objects: 2, Unsearched: []string{"Node", "Pod"}}})
			},
			want: []string{
				"InventoryRebuilt: The inventory was missing, and was rebuilt from 3 objects in the cluster",
				"InventoryRebuilt: The inventory was missing, and was rebuilt from 2 objects in the cluster; " +
					"objects of these kinds may be missing, because the credentials have no permission to list them: Node, Pod",
			},
		},
		"HooksFailed": {
			reason: "The event names the failed hooks of pruned installs.",
			record: func(r *reporter, mr *v1alpha1.Manifest) {
				r.recordApply(mr, engine.Result{HookFailures: []string{"web: hook post-delete Job a/one failed", "db: no"}})
			},
			want: []string{"HookFailed: web: hook post-delete Job a/one failed; db: no"},
		},
		"RemovedHooksFailed": {
			reason: "The event names the failed hooks of a removed Manifest.",
			record: func(r *reporter, mr *v1alpha1.Manifest) {
				r.recordRemoval(mr, engine.Removal{Gone: true, HookFailures: []string{"web: no"}})
			},
			want: []string{"HookFailed: web: no"},
		},
		"Removed": {
			reason: "The event names the objects that were kept, and the deleted objects that others created.",
			record: func(r *reporter, mr *v1alpha1.Manifest) {
				r.recordRemoval(mr, engine.Removal{Kept: one, Forced: one})
			},
			want: []string{
				"Kept: Kept objects because of annotation helm.sh/resource-policy; the module no longer manages them: Job a/one",
				"RemovalForced: Deleted remaining custom resources, as requested by annotation kyma.m.crossplane.io/force-removal: Job a/one",
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := &recorded{}
			tc.record(&reporter{recorder: r}, &v1alpha1.Manifest{})
			if diff := cmp.Diff(tc.want, r.events); diff != "" {
				t.Errorf("\n%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestAsked(t *testing.T) {
	for value, want := range map[string]bool{"true": true, "false": false, "": false, "yes": false} {
		mr := &v1alpha1.Manifest{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{v1alpha1.AnnotationForceRemoval: value}}}
		if got := asked(mr, v1alpha1.AnnotationForceRemoval); got != want {
			t.Errorf("%q: want %t, got %t", value, want, got)
		}
	}
}
