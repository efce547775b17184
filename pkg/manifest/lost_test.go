// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/hook"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

// TestLostInventoryRemoved checks that a bundle whose inventory was deleted is removed nevertheless, also by a process that has not
// watched anything yet.
func TestLostInventoryRemoved(t *testing.T) {
	namespace, crd := key("Namespace", "", "shared"), key("CustomResourceDefinition", "", "widgets.example.org")
	mine := key("Widget", "apps", "mine")
	custom := strings.ReplaceAll(tmplWidget, "%s", "mine")
	cases := map[string]struct {
		reason  string
		bundle  func(t *testing.T) *Bundle
		harm    func(b *bench)
		options []CallOption
		kept    []cluster.ObjectRef
		// left are objects that stay, besides the namespace that the engine created.
		left []string
	}{
		"Charts": {
			reason: "All objects and release records are removed.",
			bundle: func(*testing.T) *Bundle {
				return bundleOf(install("web", webTemplates...), plainOf("raw", configMap("four")))
			},
		},
		"Namespace": {
			reason: "All objects are removed if the namespace of the inventories was deleted with everything in it.",
			bundle: func(*testing.T) *Bundle { return bundleOf(install("web", webTemplates...)) },
			harm:   func(b *bench) { b.s.remove(key("Namespace", "", DefaultNamespace)) },
		},
		"Full": {
			reason: "The custom resource of the bundle goes. Its CRD stays, because others may have brought it.",
			bundle: func(t *testing.T) *Bundle { return fullBundle(t, false) },
			kept:   []cluster.ObjectRef{crd}, left: []string{crd.String()},
		},
		"DeleteAdopted": {
			reason: "The CRD goes if that is asked for.",
			bundle: func(t *testing.T) *Bundle { return fullBundle(t, false) }, options: []CallOption{DeleteAdopted()},
		},
		"Irreplaceable": {
			reason: "Namespaces stay, and so do custom resources that the bundle may have released to its users.",
			bundle: func(*testing.T) *Bundle {
				return bundleOf(plainOf("raw", tmplCRD), plainOf("more", namespaceOf("shared"), custom, configMap("four")))
			},
			kept: []cluster.ObjectRef{crd, namespace, mine}, left: []string{crd.String(), namespace.String(), mine.String()},
		},
		"OfChart": {
			reason: "A custom resource of a chart is not one that was released.",
			bundle: func(*testing.T) *Bundle { return bundleOf(install("web", "crds/"+tmplCRD, custom)) },
			kept:   []cluster.ObjectRef{crd}, left: []string{crd.String()},
		},
		"Copied": {
			reason: "What another client made with the same labels was not installed.",
			bundle: func(*testing.T) *Bundle { return bundleOf(install("web", tmplConfig)) },
			harm: func(b *bench) {
				u := manifestOf(b.t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: copy, namespace: apps}}")
				u.SetLabels(b.s.objects[key("ConfigMap", "apps", "web")].u().GetLabels())
				b.s.put(u.Object)
			},
			left: []string{"ConfigMap apps/copy"},
		},
		"Stripped": {
			reason: "An object without the label of the watch is found by its other label.",
			bundle: func(*testing.T) *Bundle { return bundleOf(install("web", webTemplates...)) },
			harm:   func(b *bench) { b.s.edit(webDeployment, stripped(object.LabelManagedBy)); b.restart() },
		},
		"StrippedWatched": {
			reason: "The watch does not show an object from which another client removed the label of the watch.",
			bundle: func(*testing.T) *Bundle { return bundleOf(install("web", webTemplates...)) },
			harm:   func(b *bench) { b.s.edit(webDeployment, stripped(object.LabelManagedBy)) },
		},
		"Deleted": {
			reason: "The objects of the bundle are already deleted.",
			bundle: func(*testing.T) *Bundle { return bundleOf(plainOf("raw", configMap("four"))) },
			harm:   func(b *bench) { b.s.remove(key("ConfigMap", "apps", "four")) },
		},
	}
	for name, tc := range cases {
		for _, restarts := range []bool{false, true} {
			t.Run(name+map[bool]string{true: "Restarted"}[restarts], func(t *testing.T) {
				b := newBench(t)
				s := tc.bundle(t)
				b.reconcile(s)
				b.s.remove(parentSecret)
				if tc.harm != nil {
					tc.harm(b)
				}
				if restarts {
					b.restart()
				}
				s.Installed = true
				kept, rebuilt, removed := map[cluster.ObjectRef]bool{}, 0, false
				for range 10 {
					exists, err := b.Exists(t.Context(), b.c, s)
					if err != nil {
						t.Fatal(err)
					}
					if removed = !exists; removed {
						break
					}
					r := b.take(s, tc.options...)
					if r.Rebuilt != nil {
						rebuilt += r.Rebuilt.Objects
					}
					for _, ref := range r.KeptAdopted {
						kept[ref] = true
					}
				}
				if !removed {
					t.Fatalf("\n%s\nthe bundle is not removed", tc.reason)
				}
				if diff := cmp.Diff(setOf(tc.kept), kept); diff != "" {
					t.Errorf("\n%s\nkept: -want, +got:\n%s", tc.reason, diff)
				}
				left := append([]string{"Namespace apps"}, tc.left...)
				slices.Sort(left)
				if diff := cmp.Diff(left, b.s.keys()); diff != "" {
					t.Errorf("\n%s\nleft: -want, +got:\n%s", tc.reason, diff)
				}
				if found := name != "Deleted"; found != (rebuilt > 0) {
					t.Errorf("\n%s\nrebuilt from %d objects", tc.reason, rebuilt)
				}
			})
		}
	}
}

// TestLostInventoryRunsHooks checks that the deletion hooks of charts run without an inventory.
func TestLostInventoryRunsHooks(t *testing.T) {
	b := newBench(t)
	s := bundleOf(install("web", tmplConfig, hookJob("bye", "pre-delete", policies(string(hook.Succeeded)))))
	b.reconcile(s)
	b.s.remove(parentSecret)
	b.restart()
	s.Installed = true
	b.takeAll(s)
	if b.s.made[jobKey("bye")] != 1 {
		t.Errorf("the hook ran %d times", b.s.made[jobKey("bye")])
	}
	if diff := cmp.Diff([]string{"Namespace apps"}, b.s.keys()); diff != "" {
		t.Errorf("left: -want, +got:\n%s", diff)
	}
}

// TestLostInventoryApplied checks that a bundle whose inventory was deleted is upgraded: what the new version lacks is pruned, or kept
// with a note if it may not be the bundle's own.
func TestLostInventoryApplied(t *testing.T) {
	shared, crd, mine := key("Namespace", "", "shared"), key("CustomResourceDefinition", "", "widgets.example.org"), key("Widget", "apps", "mine")
	before := func() *Bundle {
		return bundleOf(install("web", webTemplates...), plainOf("raw", tmplCRD, configMap("four"), configMap("five")),
			plainOf("more", namespaceOf("shared"), strings.ReplaceAll(tmplWidget, "%s", "mine")))
	}
	cases := map[string]struct {
		reason string
		after  *Bundle
		pruned []cluster.ObjectRef
		kept   []cluster.ObjectRef
		// left are objects that stay after a removal.
		left []string
	}{
		"Same": {
			reason: "Nothing is pruned. What cannot be replaced stays when the bundle is removed.", after: before(),
			left: []string{crd.String(), shared.String()},
		},
		"Upgraded": {
			reason: "What the new version lacks goes, or stays.", after: bundleOf(install("web", tmplConfig, tmplDeploy), plainOf("raw", configMap("five"))),
			pruned: []cluster.ObjectRef{key("ClusterRole", "", "web"), key("ConfigMap", "apps", "four"), key("Service", "apps", "web"), key("ServiceAccount", "apps", "web")},
			kept:   []cluster.ObjectRef{crd, shared, mine}, left: []string{crd.String(), shared.String(), mine.String()},
		},
	}
	for name, tc := range cases {
		for _, restarts := range []bool{false, true} {
			t.Run(name+map[bool]string{true: "Restarted"}[restarts], func(t *testing.T) {
				b := newBench(t)
				b.reconcile(before())
				b.s.remove(parentSecret)
				if restarts {
					b.restart()
				}
				s := tc.after
				s.Installed = true
				if o := b.observe(s); o.Exists || o.UpToDate || !strings.Contains(o.Message, "is being rebuilt") {
					t.Errorf("\n%s\nobservation: %+v", tc.reason, o)
				}
				rebuilt, pruned, kept := 0, map[cluster.ObjectRef]bool{}, map[cluster.ObjectRef]bool{}
				for range 5 {
					// A release is followed in the second step.
					r, _ := b.Apply(t.Context(), b.c, s)
					if r.Rebuilt != nil {
						rebuilt += r.Rebuilt.Objects
					}
					for _, ref := range r.Pruned {
						pruned[ref] = true
					}
					for _, ref := range r.KeptAdopted {
						kept[ref] = true
					}
				}
				if rebuilt != 10 {
					t.Errorf("\n%s\nrebuilt from %d objects, want 10", tc.reason, rebuilt)
				}
				if diff := cmp.Diff([]map[cluster.ObjectRef]bool{setOf(tc.pruned), setOf(tc.kept)}, []map[cluster.ObjectRef]bool{pruned, kept}); diff != "" {
					t.Errorf("\n%s\npruned, and kept: -want, +got:\n%s", tc.reason, diff)
				}
				if o := b.observe(s); !o.UpToDate || o.State != Ready {
					t.Errorf("\n%s\nobservation: %+v", tc.reason, o)
				}
				b.takeAll(s)
				left := append([]string{"Namespace apps"}, tc.left...)
				slices.Sort(left)
				if diff := cmp.Diff(left, b.s.keys()); diff != "" {
					t.Errorf("\n%s\nleft: -want, +got:\n%s", tc.reason, diff)
				}
			})
		}
	}
}

func setOf(refs []cluster.ObjectRef) map[cluster.ObjectRef]bool {
	out := map[cluster.ObjectRef]bool{}
	for _, ref := range refs {
		out[ref] = true
	}
	return out
}
