// SPDX-License-Identifier: Apache-2.0

package compose

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/bundle"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

func TestHasFormer(t *testing.T) {
	in := &Installation{Install: &bundle.Install{Name: "web"}, Namespace: "apps"}
	out := &Component{Installation: in, Objects: []object.Desired{{Ref: cluster.ObjectRef{Kind: "ConfigMap", Namespace: "apps", Name: "wanted"}}}}
	isMember := func(ref cluster.ObjectRef) bool {
		return ref == cluster.ObjectRef{Kind: "ConfigMap", Namespace: "apps", Name: "member"}
	}
	cases := map[string]struct {
		reason string
		text   string
		want   bool
	}{
		"Wanted":    {reason: "The component contains the object, in the namespace of the install.", text: "{apiVersion: v1, kind: ConfigMap, metadata: {name: wanted}}", want: true},
		"Member":    {reason: "The inventory contains the object, for another part.", text: "{apiVersion: v1, kind: ConfigMap, metadata: {name: member}}", want: true},
		"Former":    {reason: "Neither the component nor the inventory contains the object.", text: "{apiVersion: v1, kind: ConfigMap, metadata: {name: former}}"},
		"Elsewhere": {reason: "An object in another namespace is a different object.", text: "{apiVersion: v1, kind: ConfigMap, metadata: {name: wanted, namespace: other}}"},
		"NoKind":    {reason: "An object of a kind that the cluster does not serve cannot exist.", text: "{apiVersion: example.org/v1, kind: Gone, metadata: {name: x}}", want: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := composerOf(&bundle.Bundle{}).HasFormer(t.Context(), out, isMember)(unmarshal(t, tc.text))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nHasFormer(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
