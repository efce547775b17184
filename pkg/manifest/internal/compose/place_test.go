// SPDX-License-Identifier: Apache-2.0

package compose

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestSetNamespace(t *testing.T) {
	in := &Installation{Namespace: "apps"}
	type args struct {
		namespace  string
		namespaced bool
		in         *Installation
	}
	cases := map[string]struct {
		reason string
		args   args
		want   string
	}{
		"ClusterWide": {reason: "A cluster-scoped kind has no namespace, even if the object names one.", args: args{namespace: "x", in: in}},
		"Named":       {reason: "An object that names its namespace is in it.", args: args{namespace: "x", namespaced: true, in: in}, want: "x"},
		"Install":     {reason: "Other objects of an install are in its namespace.", args: args{namespaced: true, in: in}, want: "apps"},
		"Resource":    {reason: "Other objects are in the default namespace.", args: args{namespaced: true}, want: "default"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			u := &unstructured.Unstructured{}
			u.SetNamespace(tc.args.namespace)
			setNamespace(u, tc.args.namespaced, tc.args.in)
			if diff := cmp.Diff(tc.want, u.GetNamespace()); diff != "" {
				t.Errorf("\n%s\nsetNamespace(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestHoldsInventories(t *testing.T) {
	cases := map[string]struct {
		reason string
		object string
		want   bool
	}{
		"Namespace": {reason: "The namespace of the inventories is left out of all bundles.", object: "{apiVersion: v1, kind: Namespace, metadata: {name: kyma-system}}", want: true},
		"Other":     {reason: "Another namespace is not.", object: "{apiVersion: v1, kind: Namespace, metadata: {name: apps}}"},
		"Group":     {reason: "A kind of the same name in another group is a different kind.", object: "{apiVersion: example.org/v1, kind: Namespace, metadata: {name: kyma-system}}"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, holdsInventories(unmarshal(t, tc.object), "kyma-system")); diff != "" {
				t.Errorf("\n%s\nholdsInventories(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestScopes(t *testing.T) {
	s := scopes{}
	s.learn([]*unstructured.Unstructured{unmarshal(t, widgetCRD), unmarshal(t, configMap("a"))})
	type want struct{ Namespaced, Known bool }
	cases := map[string]struct {
		reason string
		kind   schema.GroupKind
		want   want
	}{
		"Defined":     {reason: "A CRD specifies the scope of its kind.", kind: schema.GroupKind{Group: "example.org", Kind: "Widget"}, want: want{Known: true}},
		"Unknown":     {reason: "Another kind of its group is not known.", kind: schema.GroupKind{Group: "example.org", Kind: "Gadget"}},
		"BuiltIn":     {reason: "Most built-in kinds are namespaced.", kind: schema.GroupKind{Group: "apps", Kind: "Deployment"}, want: want{Namespaced: true, Known: true}},
		"ClusterWide": {reason: "Some are cluster-scoped.", kind: schema.GroupKind{Group: "rbac.authorization.k8s.io", Kind: "ClusterRole"}, want: want{Known: true}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var got want
			got.Namespaced, got.Known = s.of(tc.kind)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nof(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
