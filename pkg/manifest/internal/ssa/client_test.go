// SPDX-License-Identifier: Apache-2.0

package ssa

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
)

func TestPath(t *testing.T) {
	type args struct {
		gv        schema.GroupVersion
		mapping   cluster.Mapping
		namespace string
		name      string
	}
	core, apps := schema.GroupVersion{Version: "v1"}, schema.GroupVersion{Group: "apps", Version: "v1"}
	cases := map[string]struct {
		reason string
		args   args
		want   string
	}{
		"Core": {
			reason: "The core group has its own path.",
			args:   args{gv: core, mapping: cluster.Mapping{Resource: "secrets", Namespaced: true}, namespace: "apps", name: "web"},
			want:   "/api/v1/namespaces/apps/secrets/web",
		},
		"Group": {
			reason: "All other groups are below /apis.",
			args:   args{gv: apps, mapping: cluster.Mapping{Resource: "deployments", Namespaced: true}, namespace: "apps", name: "web"},
			want:   "/apis/apps/v1/namespaces/apps/deployments/web",
		},
		"Cluster": {
			reason: "A cluster-scoped object has no namespace, even if one is given.",
			args:   args{gv: core, mapping: cluster.Mapping{Resource: "nodes"}, namespace: "apps", name: "a"},
			want:   "/api/v1/nodes/a",
		},
		"Collection": {
			reason: "Without a name, the path is that of the collection.",
			args:   args{gv: core, mapping: cluster.Mapping{Resource: "pods", Namespaced: true}, namespace: "apps"},
			want:   "/api/v1/namespaces/apps/pods",
		},
		"AllNamespaces": {
			reason: "Without a namespace, the path is that of the collection in all namespaces.",
			args:   args{gv: core, mapping: cluster.Mapping{Resource: "pods", Namespaced: true}},
			want:   "/api/v1/pods",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, path(tc.args.gv, tc.args.mapping, tc.args.namespace, tc.args.name)); diff != "" {
				t.Errorf("\n%s\npath(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestLeft(t *testing.T) {
	type want struct {
		left bool
		err  string
	}
	cases := map[string]struct {
		reason string
		answer string
		want   want
	}{
		"Gone": {
			reason: "A Status means that the object is deleted.",
			answer: `{"kind":"Status","status":"Success"}`,
		},
		"Deleted": {
			reason: "An object without a deletion timestamp is deleted, too.",
			answer: `{"kind":"PartialObjectMetadata","metadata":{"name":"web"}}`,
		},
		"Waits": {
			reason: "An object with a deletion timestamp is waiting for its finalizers.",
			answer: `{"kind":"PartialObjectMetadata","metadata":{"name":"web","deletionTimestamp":"2026-01-01T00:00:00Z","finalizers":["a"]}}`,
			want:   want{left: true},
		},
		"NoKind": {
			reason: "A response of another form proves nothing.",
			answer: `{"message":"ok"}`,
			want:   want{err: "cannot read the response to the delete request"},
		},
		"NoJSON": {
			reason: "An HTML page proves nothing.",
			answer: `<html>`,
			want:   want{err: "cannot read: invalid character '<' looking for beginning of value"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			m, err := left([]byte(tc.answer))
			got := want{left: m != nil}
			if err != nil {
				got.err = err.Error()
			}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("\n%s\nleft(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
