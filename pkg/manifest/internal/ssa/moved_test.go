// SPDX-License-Identifier: Apache-2.0

package ssa

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	kerrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/fakeapi"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

// TestMoved verifies that an object is changed in another version if the cluster does not serve its own, and which documents decide that.
func TestMoved(t *testing.T) {
	const (
		groups, other = "discover /apis", "discover /apis/example.org/v2"
		gadgets       = `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: gadgets.example.org},
spec: {group: example.org, scope: Namespaced, names: {kind: Gadget, plural: gadgets}, versions: [{name: v2, served: true, storage: true}]}}`
	)
	moved := []string{aNamespace, movedCRD, movedWidget}
	type want struct {
		log  []string
		left bool
		err  string
	}
	deletes := func(t *testing.T, c *Client, o *object.Desired) error {
		t.Helper()
		_, err := c.Delete(t.Context(), o.GVK(), o.Ref, "")
		return err
	}
	cases := map[string]struct {
		reason  string
		objects []string
		answers map[string]error
		act     func(t *testing.T, c *Client, o *object.Desired) error
		want    want
	}{
		"Delete": {
			reason: "The object is deleted in the other version.", objects: moved, act: deletes,
			want: want{log: []string{groups, other, "delete Widget apps/w"}},
		},
		"PatchMetadata": {
			reason: "The object is changed in the other version.", objects: moved,
			act: func(t *testing.T, c *Client, o *object.Desired) error {
				t.Helper()
				b, err := c.PatchMetadata(t.Context(), o.GVK(), o.Ref, map[string]any{"labels": map[string]any{"a": "b"}}, Metadata)
				if b == nil {
					t.Error("PatchMetadata(...): want the metadata")
				}
				return err
			},
			want: want{log: []string{groups, other, "patch Widget apps/w"}, left: true},
		},
		"List": {
			reason: "Objects are listed in the other version.", objects: moved,
			act: func(t *testing.T, c *Client, o *object.Desired) error {
				t.Helper()
				l, err := c.List(t.Context(), o.GVK(), "", "", 0)
				if l == nil || len(l.Items) != 1 {
					t.Errorf("List(...): want one object, got %+v", l)
				}
				return err
			},
			want: want{log: []string{groups, other, "list Widget"}, left: true},
		},
		"Again": {
			reason: "A client asks once for each kind.", objects: moved,
			act: func(t *testing.T, c *Client, o *object.Desired) error {
				t.Helper()
				if _, err := c.Metadata(t.Context(), o.GVK(), o.Ref); err != nil {
					return err
				}
				return deletes(t, c, o)
			},
			want: want{log: []string{groups, other, "metadata Widget apps/w", "delete Widget apps/w"}},
		},
		"OtherKind": {
			reason: "The other version of the group does not have the kind.", objects: []string{gadgets}, act: deletes,
			want: want{log: []string{groups, other}},
		},
		"Page": {
			reason: "A web server answers instead of the cluster.", objects: moved, act: deletes,
			answers: map[string]error{groups: fakeapi.ErrPage},
			want: want{log: []string{groups}, left: true, err: "Widget apps/w: cannot find the versions of kind Widget: API server http://fake: the 404 " +
				"Not Found response is not from a Kubernetes API server; check the server in the kubeconfig, and any proxies in between"},
		},
		"Inconsistent": {
			reason: "The documents contradict each other.", objects: moved, act: deletes, answers: map[string]error{other: fakeapi.ErrPage},
			want: want{log: []string{groups, other, groups}, left: true, err: "Widget apps/w: cannot find the versions of kind Widget: " +
				"the cluster lists API version example.org/v2, but returns 404 Not Found for it"},
		},
		"Down": {
			reason: "The cluster does not answer.", objects: moved, act: deletes, answers: map[string]error{other: kerrors.NewServiceUnavailable("down")},
			want: want{log: []string{groups, other}, left: true, err: "Widget apps/w: cannot find the versions of kind Widget: down"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c, client := site(t, tc.objects...)
			c.Meet = func(line string) error { return tc.answers[line] }
			o := desired(t, aWidget)
			err := tc.act(t, client, o)
			got := want{log: c.Requests(), left: c.Object(o.Ref) != nil, err: textOf(err)}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("\n%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestAbsentMoved verifies that a kind that is served in another version is not absent.
func TestAbsentMoved(t *testing.T) {
	c, client := site(t, aNamespace, movedCRD, movedWidget)
	gvk, m := desired(t, aWidget).GVK(), cluster.Mapping{Resource: "widgets", Namespaced: true}
	_, missing := c.REST().Get().AbsPath(path(gvk.GroupVersion(), m, "", "")).DoRaw(t.Context())
	gone, err := client.Absent(t.Context(), gvk, m, "", missing)
	if e := (*MovedError)(nil); gone || !errors.As(err, &e) || e.Served.Version != "v2" {
		t.Errorf("Absent(...): want a MovedError, got %t, %v", gone, err)
	}
	if want := "the cluster serves kind Widget in example.org/v2, and no longer in example.org/v1"; textOf(err) != want {
		t.Errorf("Absent(...): want %q, got %v", want, err)
	}
}
