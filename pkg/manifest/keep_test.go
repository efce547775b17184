// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

// kept adds Helm's annotation for keeping an object to its template. It is read as Helm reads it.
func kept(template string) string {
	return strings.Replace(template, "metadata: {", "metadata: {annotations: {helm.sh/resource-policy: \" Keep \"}, ", 1)
}

func TestKeep(t *testing.T) {
	one := key("ConfigMap", "apps", "one")
	two := bundleOf(install("web", configMap("two")))
	cases := map[string]struct {
		reason string
		before *Bundle
		change func(b *bench)
		act    func(b *bench) []cluster.ObjectRef // Returns what was kept.
		want   []cluster.ObjectRef
		left   []string
	}{
		"Pruned": {
			reason: "A new version does not contain the object.",
			before: bundleOf(install("web", kept(configMap("one")), configMap("two"))),
			act:    func(b *bench) []cluster.ObjectRef { return b.apply(two).Kept }, want: []cluster.ObjectRef{one}, left: []string{"ConfigMap apps/one", "ConfigMap apps/two"},
		},
		"Plain": {
			reason: "The annotation counts for plain objects, too.",
			before: bundleOf(plainOf("web", kept(configMap("one")), configMap("two"))),
			act:    func(b *bench) []cluster.ObjectRef { return b.apply(bundleOf(plainOf("web", configMap("two")))).Kept }, want: []cluster.ObjectRef{one},
			left: []string{"ConfigMap apps/one", "ConfigMap apps/two"},
		},
		"Install": {
			reason: "The install of the object was removed.",
			before: bundleOf(install("web", configMap("two")), install("extra", kept(configMap("one")))),
			act:    func(b *bench) []cluster.ObjectRef { return b.apply(two).Kept }, want: []cluster.ObjectRef{one}, left: []string{"ConfigMap apps/one", "ConfigMap apps/two"},
		},
		"Set": {
			reason: "The bundle was removed.",
			before: bundleOf(install("web", kept(configMap("one")), configMap("two"))),
			act:    func(b *bench) []cluster.ObjectRef { return b.take(two).Kept }, want: []cluster.ObjectRef{one}, left: []string{"ConfigMap apps/one"},
		},
		"Live": {
			reason: "A user added the annotation in the cluster, which helm upgrade respects as well.",
			before: bundleOf(install("web", configMap("one"), configMap("two"))),
			change: func(b *bench) {
				b.s.edit(one, func(u *unstructured.Unstructured) {
					a := u.GetAnnotations()
					a[object.AnnotationResourcePolicy] = object.PolicyKeep
					u.SetAnnotations(a)
				})
			},
			act: func(b *bench) []cluster.ObjectRef { return b.take(two).Kept }, want: []cluster.ObjectRef{one}, left: []string{"ConfigMap apps/one"},
		},
		"Namespace": {
			reason: "An object cannot exist without its namespace.",
			before: bundleOf(plainOf("web", namespaceOf("own"), kept(strings.Replace(configMap("one"), "name:", "namespace: own, name:", 1)))),
			act:    func(b *bench) []cluster.ObjectRef { return b.take(two).Kept },
			want:   []cluster.ObjectRef{key("Namespace", "", "own"), key("ConfigMap", "own", "one")}, left: []string{"ConfigMap own/one", "Namespace own"},
		},
		"CRD": {
			reason: "A custom resource cannot exist without its CRD.",
			before: bundleOf(install("web", "crds/"+tmplCRD, kept(fmt.Sprintf(tmplWidget, "main")))),
			act:    func(b *bench) []cluster.ObjectRef { return b.take(two).Kept },
			want:   []cluster.ObjectRef{key("CustomResourceDefinition", "", "widgets.example.org"), key("Widget", "apps", "main")},
			left:   []string{"CustomResourceDefinition widgets.example.org", "Widget apps/main"},
		},
		"KeptCRD": {
			reason: "If a CRD stays, its objects block nothing.",
			before: bundleOf(install("web", "crds/"+kept(tmplCRD), configMap("two"))),
			change: func(b *bench) { b.s.put(widgetNamed(b.t, "mine")) },
			act:    func(b *bench) []cluster.ObjectRef { return b.take(two).Kept },
			want:   []cluster.ObjectRef{key("CustomResourceDefinition", "", "widgets.example.org")},
			left:   []string{"CustomResourceDefinition widgets.example.org", "Widget default/mine"},
		},
		"NoLonger": {
			reason: "The objects of a version that removes the annotation are deleted.",
			before: bundleOf(install("web", kept(configMap("one")))),
			change: func(b *bench) { b.reconcile(bundleOf(install("web", configMap("one")))) },
			act:    func(b *bench) []cluster.ObjectRef { return b.take(two).Kept },
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.s.put(manifestOf(t, namespaceOf("apps")).Object)
			b.reconcile(tc.before)
			if tc.change != nil {
				tc.change(b)
			}
			if diff := cmp.Diff(tc.want, tc.act(b)); diff != "" {
				t.Errorf("\n%s\nkept: -want, +got:\n%s", tc.reason, diff)
			}
			left := slices.DeleteFunc(b.s.keys(), func(k string) bool { return k == "Namespace apps" || strings.HasPrefix(k, "Secret ") })
			if diff := cmp.Diff(tc.left, left, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("\n%s\nleft: -want, +got:\n%s", tc.reason, diff)
			}
			for _, k := range tc.want {
				for l := range b.s.objects[k].u().GetLabels() {
					if l == object.LabelPartOf || l == object.LabelManagedBy || l == "team" {
						t.Errorf("\n%s\n%s has label %s", tc.reason, k, l)
					}
				}
				if inv := b.inventory(two); inv != nil && inv.Find(k) != nil {
					t.Errorf("\n%s\n%s is in the inventory", tc.reason, k)
				}
			}
		})
	}
}

// TestKeepBehindWatch checks that the policy and the owner in the cluster count, even if the watch does not show them yet.
func TestKeepBehindWatch(t *testing.T) {
	one := key("ConfigMap", "apps", "one")
	cases := map[string]struct {
		reason string
		change func(u *unstructured.Unstructured)
		kept   []cluster.ObjectRef
	}{
		"Kept": {
			reason: "A user added the annotation just now.", kept: []cluster.ObjectRef{one},
			change: func(u *unstructured.Unstructured) {
				u.SetAnnotations(map[string]string{object.AnnotationResourcePolicy: object.PolicyKeep})
			},
		},
		"Adopted": {
			reason: "Another bundle adopted the object just now.",
			change: func(u *unstructured.Unstructured) {
				u.SetLabels(map[string]string{object.LabelManagedBy: object.DefaultManagedBy, object.LabelPartOf: "applyset-other-v1"})
			},
		},
	}
	for name, tc := range cases {
		// The event arrives late, or between the decision to keep objects and the deletion.
		for _, lag := range []int{1000, 3, 2, 1} {
			t.Run(fmt.Sprint(name, lag), func(t *testing.T) {
				b := newBench(t)
				s := bundleOf(plainOf("web", namespaceOf("own"), configMap("one"), configMap("two")))
				b.reconcile(s)
				b.c.watch = newFakeWatch(b.s)
				b.c.watch.lag("ConfigMap", lag)
				b.s.edit(one, tc.change)
				var kept []cluster.ObjectRef
				for range 3 {
					kept = append(kept, b.take(s).Kept...)
				}
				if diff := cmp.Diff(tc.kept, kept); diff != "" {
					t.Errorf("\n%s\nkept: -want, +got:\n%s", tc.reason, diff)
				}
				if diff := cmp.Diff([]string{"ConfigMap apps/one", "Namespace apps"}, b.s.keys()); diff != "" {
					t.Errorf("\n%s\nleft: -want, +got:\n%s", tc.reason, diff)
				}
			})
		}
	}
}

// TestKeptIsAdoptedAgain checks that a kept object is adopted again only by the bundle that orphaned it.
func TestKeptIsAdoptedAgain(t *testing.T) {
	b := newBench(t)
	of := func() *Bundle { return bundleOf(install("web", kept(configMap("one")))) }
	b.reconcile(of())
	uid := b.s.uidOf(key("ConfigMap", "apps", "one"))
	b.take(of())
	other := of()
	other.Name = "team-b-web"
	if _, err := b.Apply(t.Context(), b.c, other); err == nil || !strings.Contains(err.Error(), "ConfigMap apps/one: already exists and does not belong to this module") {
		t.Errorf("another bundle: %v", err)
	}
	b.take(other)
	b.reconcile(of())
	if got := b.s.uidOf(key("ConfigMap", "apps", "one")); got != uid {
		t.Errorf("it is another one: %s, %s", uid, got)
	}
	if o := b.observe(of()); o.State != Ready || o.Total != 1 {
		t.Errorf("observation: %+v", o)
	}
}

// An object that Helm kept is taken over as Helm does it, unless its release exists.
func TestKeptByHelm(t *testing.T) {
	for _, installed := range []bool{false, true} {
		b := newBench(t)
		b.s.put(manifestOf(t, namespaceOf("apps")).Object)
		b.s.put(manifestOf(t, `{apiVersion: v1, kind: ConfigMap, metadata: {namespace: apps, name: one, labels: {app.kubernetes.io/managed-by: Helm},
			annotations: {helm.sh/resource-policy: keep, meta.helm.sh/release-name: web, meta.helm.sh/release-namespace: apps}}}`).Object)
		if installed {
			b.s.put(manifestOf(t, `{apiVersion: v1, kind: Secret, metadata: {namespace: apps, name: sh.helm.release.v1.web.v1, labels: {owner: helm, name: web, version: "1"}}}`).Object)
		}
		_, err := b.Apply(t.Context(), b.c, bundleOf(install("web", configMap("one"))))
		if (err != nil) != installed {
			t.Errorf("release installed %v: %v", installed, err)
		}
	}
}

// A process that dies at any write keeps what must be kept.
func TestKeepCrash(t *testing.T) {
	for _, lost := range []bool{false, true} {
		for n := range 7 {
			b := newBench(t)
			s := bundleOf(plainOf("web", namespaceOf("own"), kept(strings.Replace(configMap("one"), "name:", "namespace: own, name:", 1)), configMap("two")))
			b.s.put(manifestOf(t, namespaceOf("apps")).Object)
			b.reconcile(s)
			b.c.cutAfter(n, lost)
			_, _ = b.Remove(t.Context(), b.c, s)
			b.restart()
			if r := b.take(s); !r.Gone {
				t.Errorf("cut after %d writes, lost %v: %+v", n, lost, r)
			}
			if diff := cmp.Diff([]string{"ConfigMap own/one", "Namespace apps", "Namespace own"}, b.s.keys()); diff != "" {
				t.Errorf("cut after %d writes, lost %v: -want, +got:\n%s", n, lost, diff)
			}
		}
	}
}

func TestPlanOfKept(t *testing.T) {
	b := newBench(t)
	keep := func(text string) string {
		return strings.Replace(text, "metadata: {", "metadata: {annotations: {helm.sh/resource-policy: keep}, ", 1)
	}
	s := bundleOf(install("web", tmplConfig), plainOf("raw", keep(configMap("kept"))))
	b.reconcile(s)
	without := bundleOf(s.Installs[0])
	b.reconcile(without)
	p, err := b.Plan(t.Context(), b.c, s)
	if err != nil || len(p.Problems) > 0 {
		t.Errorf("what was left behind is adopted again: %+v, %v", p, err)
	}
}
