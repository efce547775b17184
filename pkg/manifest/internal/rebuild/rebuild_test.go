// SPDX-License-Identifier: Apache-2.0

package rebuild

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

func TestServed(t *testing.T) {
	got := served([]string{
		"apps/v1", "apps/v1/Deployment", "autoscaling/v1/HorizontalPodAutoscaler", "autoscaling/v2/HorizontalPodAutoscaler", "example.org/v1/widget", "v1", "v1/Pod",
	})
	want := map[schema.GroupKind]schema.GroupVersionKind{}
	for _, gvk := range []schema.GroupVersionKind{
		{Version: "v1", Kind: "Pod"}, {Group: "apps", Version: "v1", Kind: "Deployment"}, {Group: "autoscaling", Version: "v1", Kind: "HorizontalPodAutoscaler"},
		{Group: "example.org", Version: "v1", Kind: "widget"},
	} {
		want[gvk.GroupKind()] = gvk
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("served(...): -want, +got:\n%s", diff)
	}
}

func TestEntryOf(t *testing.T) {
	widget := schema.GroupVersionKind{Group: "example.org", Version: "v1", Kind: "Widget"}
	resource := cluster.ObjectRef{Group: "example.org", Kind: "Widget", Name: "main"}
	cases := map[string]struct {
		reason string
		gvk    schema.GroupVersionKind
		meta   metav1.ObjectMeta
		want   inventory.Entry
	}{
		"Builtin": {
			reason: "An object that can be replaced is pruned and removed.", gvk: schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"},
			meta: metav1.ObjectMeta{Namespace: "a", Name: "web", UID: "1"},
			want: inventory.Entry{Group: "apps", Version: "v1", Kind: "Deployment", Namespace: "a", Name: "web", UID: "1", Part: object.PartLost, Stage: object.StageWorkloads},
		},
		"Keep": {
			reason: "The annotation of the object says that it must be kept.", gvk: schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"},
			meta: metav1.ObjectMeta{Namespace: "a", Name: "web", Annotations: map[string]string{object.AnnotationResourcePolicy: object.PolicyKeep}},
			want: inventory.Entry{Version: "v1", Kind: "ConfigMap", Namespace: "a", Name: "web", Part: object.PartLost, Stage: object.StageConfiguration, Keep: true},
		},
		"Namespace": {
			reason: "A namespace may have existed before.", gvk: schema.GroupVersionKind{Version: "v1", Kind: "Namespace"}, meta: metav1.ObjectMeta{Name: "a"},
			want: inventory.Entry{Version: "v1", Kind: "Namespace", Name: "a", Part: object.PartLost, Stage: object.StageNamespaces, Adopted: true},
		},
		"Resource": {
			reason: "The object is the custom resource of the bundle, whose namespace is the default one.", gvk: widget, meta: metav1.ObjectMeta{Namespace: "default", Name: "main"},
			want: inventory.Entry{Group: "example.org", Version: "v1", Kind: "Widget", Namespace: "default", Name: "main", Part: object.PartResource, Stage: object.StageResource},
		},
		"Wide": {
			reason: "The object is the custom resource of the bundle, whose kind is cluster-scoped.", gvk: widget, meta: metav1.ObjectMeta{Name: "main"},
			want: inventory.Entry{Group: "example.org", Version: "v1", Kind: "Widget", Name: "main", Part: object.PartResource, Stage: object.StageResource},
		},
		"Released": {
			reason: "The bundle may have released the object to its users.", gvk: widget, meta: metav1.ObjectMeta{Namespace: "other", Name: "main"},
			want: inventory.Entry{Group: "example.org", Version: "v1", Kind: "Widget", Namespace: "other", Name: "main", Part: object.PartLost, Stage: object.StageResource, Adopted: true},
		},
		"OfChart": {
			reason: "A chart installed it.", gvk: widget,
			meta: metav1.ObjectMeta{Namespace: "a", Name: "x", Annotations: map[string]string{object.AnnotationReleaseName: "web"}},
			want: inventory.Entry{Group: "example.org", Version: "v1", Kind: "Widget", Namespace: "a", Name: "x", Part: object.PartLost, Stage: object.StageResource},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			in := Input{Resource: resource, FieldManager: "engine"}
			if diff := cmp.Diff(tc.want, in.entryOf(tc.gvk, &metav1.PartialObjectMetadata{ObjectMeta: tc.meta})); diff != "" {
				t.Errorf("\n%s\nentryOf(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestIsMember(t *testing.T) {
	applied := []metav1.ManagedFieldsEntry{{
		Manager: "engine", Operation: metav1.ManagedFieldsOperationApply, FieldsV1: metav1.NewFieldsV1(`{"f:data":{"f:x":{}}}`),
	}}
	updated := []metav1.ManagedFieldsEntry{{Manager: "kubectl", Operation: metav1.ManagedFieldsOperationUpdate, FieldsV1: applied[0].FieldsV1}}
	cases := map[string]struct {
		reason string
		meta   metav1.ObjectMeta
		want   bool
	}{
		"Applied": {reason: "The engine applied it.", meta: metav1.ObjectMeta{ManagedFields: applied}, want: true},
		"Copied":  {reason: "Another client created it with the same labels.", meta: metav1.ObjectMeta{ManagedFields: updated}},
		"Hook": {
			reason: "A hook stays, as with Helm.",
			meta:   metav1.ObjectMeta{ManagedFields: applied, Annotations: map[string]string{object.AnnotationHookRun: "x"}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := isMember(&metav1.PartialObjectMetadata{ObjectMeta: tc.meta}, "engine"); got != tc.want {
				t.Errorf("\n%s\nisMember(...): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}
