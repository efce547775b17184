// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// widgetBundle returns a bundle of a CRD, an operator and a custom resource.
func widgetBundle(t *testing.T, labels map[string]string) *Bundle {
	t.Helper()
	s := bundleOf(install("operator", "crds/"+tmplCRD, tmplDeploy))
	s.Resource = manifestOf(t, fmt.Sprintf(tmplWidget, "main"))
	s.Resource.SetNamespace("default")
	s.Labels = labels
	return s
}

var widget = key("Widget", "default", "main")

func TestResourceIsItsUsers(t *testing.T) {
	size := func(b *bench) any {
		o := b.s.objects[widget]
		if o == nil {
			return "deleted"
		}
		return o.content["spec"].(map[string]any)["size"]
	}
	v1, v2 := map[string]string{"channel": "fast"}, map[string]string{"channel": "regular"}
	cases := map[string]struct {
		reason string
		change func(b *bench)
		to     func(t *testing.T) *Bundle
		want   any
	}{
		"Edited": {
			reason: "Fields that a user set survive a new version of the module.",
			change: func(b *bench) {
				b.s.edit(widget, func(u *unstructured.Unstructured) { u.Object["spec"].(map[string]any)["size"] = int64(7) })
			},
			to:   func(t *testing.T) *Bundle { return widgetBundle(t, v2) },
			want: int64(7),
		},
		"EditedElsewhere": {
			reason: "Fields that no user set follow the module.",
			change: func(b *bench) {
				b.s.edit(widget, func(u *unstructured.Unstructured) { u.Object["spec"].(map[string]any)["color"] = "red" })
			},
			to: func(t *testing.T) *Bundle {
				s := widgetBundle(t, v2)
				s.Resource.Object["spec"] = map[string]any{"size": int64(2)}
				return s
			},
			want: int64(2),
		},
		"Deleted": {
			reason: "A custom resource that a user deleted is not created again, even with a new version.",
			change: func(b *bench) { b.s.remove(widget) },
			to:     func(t *testing.T) *Bundle { return widgetBundle(t, v2) },
			want:   "deleted",
		},
		"Ignored": {
			reason: "A bundle that no longer has a custom resource leaves the existing one to its users.",
			change: func(*bench) {},
			to: func(t *testing.T) *Bundle {
				s := widgetBundle(t, v1)
				s.Resource = nil
				return s
			},
			want: int64(1),
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.reconcile(widgetBundle(t, v1))
			tc.change(b)
			if o := b.observe(widgetBundle(t, v1)); !o.UpToDate || len(o.Drift) > 0 {
				t.Errorf("\n%s\nwhat users do is not drift: %+v", tc.reason, o)
			}
			to := tc.to(t)
			b.reconcile(to)
			if got := size(b); got != tc.want {
				t.Errorf("\n%s\nsize: want %v, got %v", tc.reason, tc.want, got)
			}
			b.s.took()
			b.restart()
			b.reconcile(to)
			if got := b.s.took(); slices.ContainsFunc(got, func(r string) bool { return r[:3] != "get" }) {
				t.Errorf("\n%s\nwrites after it was Ready: %q", tc.reason, got)
			}
		})
	}
}

// While a CRD is not established, its objects wait; objects that do not need it are applied.
func TestCRDIsEstablishedFirst(t *testing.T) {
	b := newBench(t)
	b.s.unready = true
	s := widgetBundle(t, nil)
	s.Installs = append(s.Installs, install("other", configMap("x")))
	crd := key("CustomResourceDefinition", "", "widgets.example.org")
	want := "CustomResourceDefinition widgets.example.org: "
	r := b.apply(s)
	if len(r.Waiting) < len(want) || r.Waiting[:len(want)] != want {
		t.Errorf("waiting: %q", r.Waiting)
	}
	if b.s.uidOf(key("Deployment", "apps", "web")) != "" || b.s.uidOf(key("ConfigMap", "apps", "x")) == "" {
		t.Errorf("only the other install must be there: %q", b.s.keys())
	}
	o := b.observe(s)
	if o.State != Processing || o.UpToDate || o.Parts[0].Message != r.Waiting || o.Parts[1].State != Ready {
		t.Errorf("observation: %+v", o)
	}
	b.s.took()
	b.apply(s)
	for _, r := range b.s.took() {
		if r[:5] == "patch" {
			t.Errorf("write while it waits: %s", r)
		}
	}
	b.s.status(crd, map[string]any{"conditions": []any{map[string]any{"type": "NamesAccepted", "status": "False", "message": "widgets is taken"}}})
	if o := b.observe(s); o.State != Error {
		t.Errorf("a CRD whose names are taken must be an error: %+v", o)
	}
	b.s.status(crd, map[string]any{"conditions": []any{map[string]any{"type": "Established", "status": "True"}}})
	b.reconcile(s)
	if b.s.uidOf(widget) == "" {
		t.Errorf("the custom resource is missing: %q", b.s.keys())
	}
}

// Two charts may contain the same CRD. It stays as long as one of them does.
func TestCRDOfTwoCharts(t *testing.T) {
	b := newBench(t)
	s := bundleOf(install("a", "crds/"+tmplCRD, configMap("x")), install("b", "crds/"+tmplCRD, fmt.Sprintf(tmplWidget, "w")))
	b.reconcile(s)
	crd := key("CustomResourceDefinition", "", "widgets.example.org")
	uid := b.s.uidOf(crd)
	s = bundleOf(install("a", configMap("x")), s.Installs[1])
	b.reconcile(s)
	if got := b.s.uidOf(crd); got != uid || b.s.uidOf(key("Widget", "apps", "w")) == "" {
		t.Errorf("after a has dropped it: %q", b.s.keys())
	}
	if diff := cmp.Diff("b", string(b.inventory(s).Find(crd).Part)); diff != "" {
		t.Errorf("part of the CRD: -want, +got:\n%s", diff)
	}
	b.reconcile(bundleOf())
	if b.s.uidOf(crd) != "" {
		t.Errorf("after both have dropped it: %q", b.s.keys())
	}
}

// TestResourceNotShown checks that a custom resource that another process created a moment ago isn't taken for one that its users deleted,
// although the watch doesn't show it yet.
func TestResourceNotShown(t *testing.T) {
	b := newBench(t)
	b.c.watch = newFakeWatch(b.s)
	b.c.watch.lag("Widget", 1000)
	s := widgetBundle(t, nil)
	b.another().reconcile(s)
	s.Resource.Object["spec"] = map[string]any{"size": int64(2)}
	for range 3 {
		b.apply(s)
	}
	if got, _, _ := unstructured.NestedInt64(b.s.objects[widget].content, "spec", "size"); got != 2 {
		t.Errorf("size of the custom resource: want 2, got %d", got)
	}
	b.c.watch.catchUp()
	if o := b.observe(s); !o.UpToDate {
		t.Errorf("want UpToDate, got %+v", o)
	}
}
