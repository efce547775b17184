// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
)

// TestRenamedResourceIsReleased checks that a change of the name or namespace of the custom resource of a bundle releases the
// existing one, as if the bundle no longer had a custom resource: its operator might manage something that must not be deleted.
func TestRenamedResourceIsReleased(t *testing.T) {
	cases := map[string]struct {
		reason string
		rename func(u *unstructured.Unstructured)
		want   cluster.ObjectRef
	}{
		"Name":      {reason: "The resource has another name.", rename: func(u *unstructured.Unstructured) { u.SetName("other") }, want: key("Widget", "default", "other")},
		"Namespace": {reason: "The resource is in another namespace.", rename: func(u *unstructured.Unstructured) { u.SetNamespace("apps") }, want: key("Widget", "apps", "main")},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.reconcile(widgetBundle(t, nil))
			uid := b.s.uidOf(widget)
			s := widgetBundle(t, nil)
			tc.rename(s.Resource)
			var released []Released
			for range 5 {
				if b.observe(s).UpToDate {
					break
				}
				released = append(released, b.apply(s).Released...)
			}
			if diff := cmp.Diff([]Released{{Resource: widget, Instead: tc.want}}, released); diff != "" {
				t.Errorf("\n%s\nreleased: -want, +got:\n%s", tc.reason, diff)
			}
			if b.s.uidOf(widget) != uid || b.s.uidOf(tc.want) == "" {
				t.Errorf("\n%s\nboth must exist, and the first must be the same: %q", tc.reason, b.s.keys())
			}
			if b.inventory(s).Find(widget) != nil {
				t.Errorf("\n%s\nwhat was released is still in the inventory", tc.reason)
			}
		})
	}
}

// TestResourceComesBack checks that the custom resource of a bundle is recreated if it was deleted together with its CRD or its
// namespace, which a repair restores. If users delete the resource itself, it is not recreated; see TestResourceIsItsUsers.
func TestResourceComesBack(t *testing.T) {
	crd, ns := key("CustomResourceDefinition", "", "widgets.example.org"), key("Namespace", "", "space")
	cases := map[string]struct {
		reason string
		// gone is deleted together with the widget. again recreates it before the engine does.
		gone  cluster.ObjectRef
		again bool
		// namespaced is true if the chart has the namespace.
		namespaced bool
	}{
		"CRD":       {reason: "The CRD was deleted.", gone: crd},
		"Replaced":  {reason: "Another client created the CRD again.", gone: crd, again: true},
		"Namespace": {reason: "The namespace of the chart was deleted.", gone: ns, namespaced: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			s := widgetBundle(t, nil)
			if tc.namespaced {
				s.Installs = append(s.Installs, install("space", namespaceOf("space")))
				s.Resource.SetNamespace("space")
			}
			b.reconcile(s)
			content, widget := b.s.objects[tc.gone].content, key("Widget", s.Resource.GetNamespace(), "main")
			b.s.remove(widget)
			b.s.remove(tc.gone)
			if tc.again {
				b.s.put(content)
			}
			b.reconcile(s)
			if b.s.uidOf(tc.gone) == "" || b.s.uidOf(widget) == "" {
				t.Errorf("\n%s\nthe custom resource did not come back: %q", tc.reason, b.s.keys())
			}
		})
	}
}

// TestNamespaceOfInventories checks that the labels and annotations that several bundles set on the namespace of the
// inventories are applied, and that no bundle prunes or deletes the namespace.
func TestNamespaceOfInventories(t *testing.T) {
	space := func(label string) string {
		return fmt.Sprintf("apiVersion: v1\nkind: Namespace\nmetadata: {name: %s, labels: {%s: enabled}, annotations: {note-%s: a}}\n", DefaultNamespace, label, label)
	}
	b := newBench(t)
	first, second := bundleOf(install("web", space("istio-injection"), configMap("a"))), bundleOf(install("two", space("warden"), configMap("b")))
	second.Name, second.Owner = "team-a-two", "Manifest team-a/two"
	look := func() []string {
		u, out := b.s.objects[key("Namespace", "", DefaultNamespace)].u(), []string{}
		for _, l := range []string{"istio-injection", "warden"} {
			if u.GetLabels()[l] == "enabled" && u.GetAnnotations()["note-"+l] == "a" {
				out = append(out, l)
			}
		}
		return out
	}
	b.reconcile(first)
	b.reconcile(second)
	if diff := cmp.Diff([]string{"istio-injection", "warden"}, look()); diff != "" {
		t.Errorf("labels of the namespace: -want, +got:\n%s", diff)
	}
	b.s.took()
	b.restart()
	b.reconcile(first)
	if got := b.s.took(); len(hookWrites(got)) > 0 {
		t.Errorf("writes at rest: %q", got)
	}
	first.Installs[0] = install("web", configMap("a"))
	b.reconcile(first)
	for range 5 {
		if b.take(second).Gone {
			break
		}
	}
	if b.s.uidOf(key("Namespace", "", DefaultNamespace)) == "" {
		t.Error("the namespace of the inventories was deleted")
	}
}
