// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

func TestRemoveInReverseOrder(t *testing.T) {
	b := newBench(t)
	s := fullBundle(t, false)
	b.reconcile(s)
	b.s.took()
	if r := b.take(s); !r.Gone {
		t.Fatalf("removal: %+v", r)
	}
	var got []string
	for _, r := range b.s.took() {
		if d, ok := strings.CutPrefix(r, "delete "); ok {
			got = append(got, d)
		}
	}
	want := []string{
		"Widget default/main", "Deployment apps/web", "ConfigMap apps/five", "ConfigMap apps/four", "ConfigMap apps/turned",
		"ConfigMap apps/one", "ConfigMap apps/two", "ConfigMap apps/web",
		"Service apps/web", "ServiceAccount apps/web", "ClusterRole web", "CustomResourceDefinition widgets.example.org",
		"Secret kyma-system/team-a-web",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("order: -want, +got:\n%s", diff)
	}
	if r := b.take(s); !r.Gone {
		t.Errorf("what is gone is gone: %+v", r)
	}
}

func TestRemoveWaits(t *testing.T) {
	cases := map[string]struct {
		reason string
		block  func(b *bench)
		want   Removal
		stays  cluster.ObjectRef
		free   func(b *bench)
	}{
		"Finalizer": {
			reason: "The controller of a custom resource must outlive it.",
			block: func(b *bench) {
				b.s.edit(widget, func(u *unstructured.Unstructured) { u.SetFinalizers([]string{"example.org/x"}) })
			},
			want:  Removal{State: Deleting, Message: "Widget default/main: is being deleted, waiting for finalizer example.org/x"},
			stays: key("Deployment", "apps", "web"),
			free:  func(b *bench) { b.s.remove(widget) },
		},
		"Remaining": {
			reason: "Objects of its kinds that other clients created are not deleted, and prevent the removal of their controller.",
			block: func(b *bench) {
				for _, n := range []string{"mine", "yours"} {
					b.s.put(manifestOf(b.t, strings.ReplaceAll(fmt.Sprintf(tmplWidget, n), "name: "+n, "namespace: default, name: "+n)).Object)
				}
			},
			want: Removal{State: Warning, Message: "2 objects of kinds that this module defines still exist: Widget default/mine, Widget default/yours; " +
				"delete the ones that you do not need, or set annotation kyma.m.crossplane.io/force-removal: \"true\" on the Manifest to delete all of them"},
			stays: key("Deployment", "apps", "web"),
			free: func(b *bench) {
				b.s.remove(key("Widget", "default", "mine"))
				b.s.remove(key("Widget", "default", "yours"))
			},
		},
		"CRD": {
			reason: "The removal waits for a CRD like for any other object.",
			block: func(b *bench) {
				b.s.edit(key("CustomResourceDefinition", "", "widgets.example.org"), func(u *unstructured.Unstructured) { u.SetFinalizers([]string{"a"}) })
			},
			want:  Removal{State: Deleting, Message: "CustomResourceDefinition widgets.example.org: is being deleted, waiting for finalizer a"},
			stays: key("Secret", DefaultNamespace, "team-a-web"),
			free:  func(b *bench) { b.s.remove(key("CustomResourceDefinition", "", "widgets.example.org")) },
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			s := fullBundle(t, false)
			b.reconcile(s)
			tc.block(b)
			for range 2 {
				if diff := cmp.Diff(tc.want, b.take(s)); diff != "" {
					t.Errorf("\n%s\n-want, +got:\n%s", tc.reason, diff)
				}
				b.restart()
			}
			if b.s.uidOf(tc.stays) == "" {
				t.Errorf("\n%s\n%s is gone", tc.reason, tc.stays)
			}
			tc.free(b)
			if r := b.take(s); !r.Gone {
				t.Errorf("\n%s\nin the end: %+v", tc.reason, r)
			}
		})
	}
}

func TestRemoveLeavesOthersAlone(t *testing.T) {
	config := key("ConfigMap", "apps", "web")
	cases := map[string]struct {
		reason string
		change func(t *testing.T, b *bench)
		stays  bool
	}{
		"TakenOver": {
			reason: "An object that another bundle took over belongs to that bundle.",
			change: func(_ *testing.T, b *bench) {
				b.s.edit(config, func(u *unstructured.Unstructured) {
					u.SetLabels(map[string]string{object.LabelManagedBy: object.DefaultManagedBy, object.LabelPartOf: "applyset-other-v1"})
				})
			},
			stays: true,
		},
		"Replaced": {
			reason: "An object of the same name that another client created does not belong to the bundle.",
			change: func(t *testing.T, b *bench) {
				t.Helper()
				b.s.remove(config)
				b.s.put(manifestOf(t, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web, namespace: apps}").Object)
			},
			stays: true,
		},
		"KindGone": {
			reason: "Objects of a kind that is gone are gone.",
			change: func(_ *testing.T, b *bench) { b.s.remove(key("CustomResourceDefinition", "", "widgets.example.org")) },
		},
		"AllGone": {
			reason: "An object that was deleted earlier blocks nothing.",
			change: func(_ *testing.T, b *bench) { b.s.remove(key("Namespace", "", "apps")) },
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			s := fullBundle(t, false)
			b.reconcile(s)
			tc.change(t, b)
			if r := b.take(s); !r.Gone {
				t.Fatalf("\n%s\nremoval: %+v", tc.reason, r)
			}
			var want []string
			if tc.stays {
				want = []string{config.String()}
			}
			got := slices.DeleteFunc(b.s.keys(), func(k string) bool { return k == "Namespace apps" })
			if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("\n%s\nleft: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// An object that is replaced between its check and its deletion is checked again.
func TestRemoveMeetsAnotherUID(t *testing.T) {
	b := newBench(t)
	s := bundleOf(install("web", configMap("x")))
	b.reconcile(s)
	k := key("ConfigMap", "apps", "x")
	b.s.fault = func(verb string, of cluster.ObjectRef) *metav1.Status {
		if verb == "delete" && of == k {
			b.s.fault = nil
			b.s.objects[k].u().SetUID("another")
		}
		return nil
	}
	if r := b.take(s); r.Gone || r.Message != "ConfigMap apps/x: was replaced by another object" {
		t.Errorf("removal: %+v", r)
	}
	if r := b.take(s); !r.Gone || b.s.uidOf(k) != "" {
		t.Errorf("in the end: %+v, %q", r, b.s.keys())
	}
}

// If the creation of an object was not answered, and the watch does not show the object yet, it is searched for before the
// inventory forgets it.
func TestRemoveWhatTheWatchDoesNotShowYet(t *testing.T) {
	b := newBench(t)
	for _, n := range []string{"apps", DefaultNamespace} {
		b.s.put(manifestOf(t, namespaceOf(n)).Object)
	}
	s := bundleOf(install("web", configMap("x")))
	b.c.cutAfter(2, true) // The inventory is the first write, the object the second.
	if _, err := b.Apply(t.Context(), b.c, s); err == nil {
		t.Fatal("the install must be cut off")
	}
	k := key("ConfigMap", "apps", "x")
	b.c.left, b.c.late = -1, map[cluster.ObjectRef]bool{k: true}
	if b.s.uidOf(k) == "" {
		t.Fatal("the object must be there")
	}
	if r := b.take(s); !r.Gone || b.s.uidOf(k) != "" {
		t.Errorf("removal: %+v, left %q", r, b.s.keys())
	}
}

// A removal does not need the sources of the bundle.
func TestRemoveWithoutSources(t *testing.T) {
	b := newBench(t)
	s := fullBundle(t, false)
	b.reconcile(s)
	s.CRDs, s.Resource = nil, nil
	s.Installs = []Install{{Name: "web"}, {Name: "extra"}}
	ok, err := b.Exists(t.Context(), b.c, s)
	if !ok || err != nil {
		t.Errorf("exists: %v, %v", ok, err)
	}
	if r := b.take(s); !r.Gone || len(b.s.keys()) != 1 {
		t.Errorf("removal: %+v, left %q", r, b.s.keys())
	}
	if ok, err = b.Exists(t.Context(), b.c, s); ok || err != nil {
		t.Errorf("exists after the removal: %v, %v", ok, err)
	}
}

func TestRemoveUnreachable(t *testing.T) {
	b := newBench(t)
	s := bundleOf(install("web", configMap("x")))
	b.reconcile(s)
	b.restart()
	b.c.cutAfter(0, false)
	if r, err := b.Remove(t.Context(), b.c, s); err == nil || r.Gone {
		t.Errorf("removal from an unreachable cluster: %+v, %v", r, err)
	}
	b.restart()
	if r := b.take(s); !r.Gone {
		t.Errorf("once it is back: %+v", r)
	}
}

// The engine waits for the finalizers of what an upgrade prunes, without a write for each check.
func TestPruneWaits(t *testing.T) {
	b := newBench(t)
	b.reconcile(bundleOf(install("web", configMap("x"), configMap("two"))))
	k := key("ConfigMap", "apps", "x")
	b.s.edit(k, func(u *unstructured.Unstructured) { u.SetFinalizers([]string{"x/y"}) })
	s := bundleOf(install("web", configMap("two")))
	want := "ConfigMap apps/x: is being deleted, waiting for finalizer x/y"
	for i := range 3 {
		r := b.apply(s)
		if r.Waiting != want {
			t.Errorf("step %d waits for %q", i, r.Waiting)
		}
		if o := b.observe(s); o.UpToDate || o.Message != "web: "+want {
			t.Errorf("observation: %+v", o)
		}
		if got := b.s.took(); i > 0 && len(got) > 0 {
			t.Errorf("step %d made requests: %q", i, got)
		}
	}
	b.s.remove(k)
	if r := b.apply(s); !slices.Equal(r.Pruned, []cluster.ObjectRef{k}) {
		t.Errorf("pruned: %v", r.Pruned)
	}
	b.reconcile(s)
}

func TestAdopt(t *testing.T) {
	b := newBench(t)
	b.reconcile(&Bundle{Name: "other", Installs: []Install{install("web", tmplConfig, tmplRole)}})
	b.s.remove(key("Secret", DefaultNamespace, "other"))
	s := bundleOf(install("web", tmplConfig, tmplDeploy))
	if _, err := b.Apply(t.Context(), b.c, s); err == nil {
		t.Error("without adopt it must fail")
	}
	s.Adopt = true
	b.reconcile(s)
	rec := b.inventory(s).Parts["web"]
	if rec.Revision != 2 {
		t.Errorf("the next revision of the release is 2, got %d", rec.Revision)
	}
	if got := b.s.objects[key("ConfigMap", "apps", "web")].content["data"].(map[string]any)["revision"]; got != "2" {
		t.Errorf("it must be rendered as revision 2, got %v", got)
	}
	if r := b.take(s); !r.Gone {
		t.Errorf("removal: %+v", r)
	}
	if diff := cmp.Diff([]string{"ClusterRole web", "Namespace apps"}, b.s.keys()); diff != "" {
		t.Errorf("what was never in the bundle stays: -want, +got:\n%s", diff)
	}
}

// If the inventory was deleted, it is created again from the installed objects.
func TestLostInventory(t *testing.T) {
	b := newBench(t)
	s := bundleOf(install("web", webTemplates...))
	b.reconcile(s)
	b.s.remove(key("Secret", DefaultNamespace, "team-a-web"))
	b.reconcile(s)
	if diff := cmp.Diff(withWeb("1"), b.s.keys()); diff != "" {
		t.Errorf("cluster: -want, +got:\n%s", diff)
	}
	if got := b.inventory(s).Parts["web"].Revision; got != 1 {
		t.Errorf("revision: %d", got)
	}
}
