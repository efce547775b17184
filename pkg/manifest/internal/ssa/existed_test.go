// SPDX-License-Identifier: Apache-2.0

package ssa

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	kerrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

// TestUnconditional checks that an object of others stays theirs if the API server does not refuse to update it: it ignores the resource
// version, or the object has the one that no object should have.
func TestUnconditional(t *testing.T) {
	type want struct {
		Log      []string
		Data     any
		Conflict bool
		Ours     bool
	}
	const create, release = "apply new ConfigMap apps/web", "patch ConfigMap apps/web"
	cases := map[string]struct {
		reason  string
		ignores bool
		manager string
		object  string
		want    want
	}{
		"OtherValue": {
			reason: "The values of another client stay.", ignores: true, manager: "kubectl", object: `data: {a: "0"}`,
			want: want{Log: []string{create}, Data: map[string]any{"a": "0"}, Conflict: true},
		},
		"OtherField": {
			reason: "An object of another client is not taken over, even if it has no field in common.", ignores: true, manager: "kubectl", object: `data: {b: "0"}`,
			want: want{Log: []string{create, release}, Data: map[string]any{"a": "1", "b": "0"}, Conflict: true},
		},
		"SameValue": {
			reason: "An object of another client is not taken over, even if it has the same content.", ignores: true, manager: "kubectl", object: `data: {a: "1"}`,
			want: want{Log: []string{create, release}, Data: map[string]any{"a": "1"}, Conflict: true},
		},
		"FirstVersion": {
			reason: "Some storages count from 1.", manager: "kubectl", object: `data: {b: "0"}`,
			want: want{Log: []string{create, release}, Data: map[string]any{"a": "1", "b": "0"}, Conflict: true},
		},
		"Ours": {
			reason: "An object that only the engine wrote is its own.", ignores: true, manager: "engine", object: `data: {a: "1"}`,
			want: want{Log: []string{create}, Data: map[string]any{"a": "1"}, Ours: true},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c, client := site(t, aNamespace)
			if c.Unconditional = tc.ignores; !tc.ignores {
				c.CountFrom(1)
			}
			c.Create(tc.manager, `{apiVersion: v1, kind: ConfigMap, metadata: {name: web, namespace: apps}, `+tc.object+`}`)
			o := desired(t, `{apiVersion: v1, kind: ConfigMap, data: {a: "1"}, metadata: {name: web, namespace: apps, labels: {`+object.LabelPartOf+`: x, `+object.LabelManagedBy+`: `+object.DefaultManagedBy+`}}}`)
			_, _, err := client.Apply(t.Context(), o, Create)
			u := c.Object(o.Ref)
			got := want{Log: c.Requests(), Data: u.Object["data"], Conflict: kerrors.IsConflict(err), Ours: u.GetLabels()[object.LabelPartOf] != ""}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\nApply(...): -want, +got:\n%s%v", tc.reason, diff, err)
			}
			if cached := strings.Join(c.Cached(), ", "); strings.HasPrefix(cached, "put ") != tc.want.Ours {
				t.Errorf("%s\nthe cache was told %q", tc.reason, cached)
			}
		})
	}
}
