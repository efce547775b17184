// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

var webDeployment = key("Deployment", "apps", "web")

// stripped removes labels of an object, as kubectl label web label- does.
func stripped(labels ...string) func(u *unstructured.Unstructured) {
	return func(u *unstructured.Unstructured) {
		l := u.GetLabels()
		for _, name := range labels {
			delete(l, name)
		}
		u.SetLabels(l)
	}
}

// TestStripped checks that objects that lost the labels of the watch are still removed and pruned, and that objects of other
// owners stay and are reported.
func TestStripped(t *testing.T) {
	keptAnnotation := func(u *unstructured.Unstructured) {
		stripped(object.LabelManagedBy)(u)
		u.SetAnnotations(map[string]string{object.AnnotationResourcePolicy: object.PolicyKeep})
	}
	cases := map[string]struct {
		reason string
		harm   func(b *bench)
		stays  bool
		left   []LeftBehind
		kept   []cluster.ObjectRef
	}{
		"Watched":   {reason: "The other label shows that the object belongs to the bundle.", harm: func(b *bench) { b.s.edit(webDeployment, stripped(object.LabelManagedBy)) }},
		"Both":      {reason: "The UID shows that the object is the applied one, even without both labels.", harm: func(b *bench) { b.s.edit(webDeployment, stripped(object.LabelManagedBy, object.LabelPartOf)) }},
		"PartOf":    {reason: "The UID shows that the object is the applied one, even without the label of the ApplySet.", harm: func(b *bench) { b.s.edit(webDeployment, stripped(object.LabelPartOf)) }},
		"AllLabels": {reason: "The UID shows that the object is the applied one, even without any labels.", harm: func(b *bench) { b.s.edit(webDeployment, func(u *unstructured.Unstructured) { u.SetLabels(nil) }) }},
		"Gone":      {reason: "The object is already gone.", harm: func(b *bench) { b.s.remove(webDeployment) }},
		"Replaced": {
			reason: "Another client put a different object in its place.", stays: true,
			left: []LeftBehind{{Object: webDeployment, Reason: "recreated by another client"}},
			harm: func(b *bench) {
				b.s.remove(webDeployment)
				b.s.put(manifestOf(b.t, "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: apps}, spec: {replicas: 1}}").Object)
			},
		},
		"Adopted": {
			reason: "Another bundle took over the object.", stays: true,
			left: []LeftBehind{{Object: webDeployment, Reason: "belongs to another owner, label applyset.kubernetes.io/part-of: other"}},
			harm: func(b *bench) {
				b.s.edit(webDeployment, func(u *unstructured.Unstructured) {
					u.SetLabels(map[string]string{object.LabelPartOf: "other", object.LabelManagedBy: object.DefaultManagedBy})
				})
			},
		},
		"Keep": {reason: "The annotation of the object says that it must be kept.", stays: true, kept: []cluster.ObjectRef{webDeployment}, harm: func(b *bench) { b.s.edit(webDeployment, keptAnnotation) }},
	}
	for name, tc := range cases {
		for _, policy := range []DriftPolicy{DriftRepair, DriftReport, DriftIgnore} {
			t.Run(name+string(policy), func(t *testing.T) {
				for _, blind := range []bool{false, true} {
					b := newBench(t)
					s := bundleOf(install("web", webTemplates...))
					s.Drift = policy
					b.reconcile(s)
					tc.harm(b)
					b.c.blind["Deployment"] = blind
					b.s.took()
					var left []LeftBehind
					var kept []cluster.ObjectRef
					last := Removal{}
					for range 10 {
						last = b.take(s)
						left, kept = append(left, last.LeftBehind...), append(kept, last.Kept...)
						if last.Gone {
							break
						}
					}
					if !last.Gone {
						t.Fatalf("the removal does not end: %+v", last)
					}
					if diff := cmp.Diff([]any{tc.left, tc.kept}, []any{left, kept}); diff != "" {
						t.Errorf("%s\nblind %t: left behind, and kept: -want, +got:\n%s", tc.reason, blind, diff)
					}
					if got := slices.Contains(b.s.keys(), webDeployment.String()); got != tc.stays {
						t.Errorf("%s\nblind %t: stays: want %t, got %v", tc.reason, blind, tc.stays, b.s.keys())
					}
					gets := 0
					for _, r := range b.s.took() {
						if r == "get "+webDeployment.String() {
							gets++
						}
					}
					if gets > 2 {
						t.Errorf("%s\nblind %t: it was asked for %d times", tc.reason, blind, gets)
					}
				}
			})
		}
	}
}

// TestPruneStripped checks the same for objects that a new version does not contain.
func TestPruneStripped(t *testing.T) {
	for _, policy := range []DriftPolicy{DriftRepair, DriftReport, DriftIgnore} {
		b := newBench(t)
		s := bundleOf(install("web", webTemplates...))
		s.Drift = policy
		b.reconcile(s)
		b.s.edit(webDeployment, stripped(object.LabelManagedBy))
		service := key("Service", "apps", "web")
		b.s.remove(service)
		b.s.put(manifestOf(t, "{apiVersion: v1, kind: Service, metadata: {name: web, namespace: apps}}").Object)
		s.Installs = []Install{install("web", tmplConfig)}
		var pruned []cluster.ObjectRef
		var left []LeftBehind
		for range 4 {
			r := b.apply(s)
			pruned, left = append(pruned, r.Pruned...), append(left, r.LeftBehind...)
		}
		if !slices.Contains(pruned, webDeployment) || slices.Contains(pruned, service) {
			t.Errorf("policy %q: pruned: %v", policy, pruned)
		}
		if diff := cmp.Diff([]LeftBehind{{Object: service, Reason: "recreated by another client"}}, left); diff != "" {
			t.Errorf("policy %q: left behind: -want, +got:\n%s", policy, diff)
		}
		if got := strings.Join(b.s.keys(), " "); strings.Contains(got, "Deployment") || !strings.Contains(got, "Service apps/web") {
			t.Errorf("policy %q: there is %s", policy, got)
		}
		b.takeAll(s)
	}
}

// TestRemovalAsksOnce checks that the removal of unchanged objects sends no extra requests, except for one that confirms that the inventory
// is current before release records are deleted.
func TestRemovalAsksOnce(t *testing.T) {
	b := newBench(t)
	s := bundleOf(install("web", webTemplates...))
	b.reconcile(s)
	b.s.took()
	b.takeAll(s)
	for _, r := range b.s.took() {
		if strings.HasPrefix(r, "get ") && r != "get "+parentSecret.String() {
			t.Errorf("request %q", r)
		}
	}
}

// TestOwnerOfCollision checks that the error about a collision names the owner of the object.
func TestOwnerOfCollision(t *testing.T) {
	b := newBench(t)
	first := bundleOf(install("web", tmplConfig))
	b.reconcile(first)
	second := bundleOf(install("web2", tmplConfig, tmplAccount))
	second.Name, second.Owner = "team-b-web", "Manifest team-b/web"
	want := "web2: ConfigMap apps/web: already exists and belongs to Manifest team-a/web; remove the object there, or set adopt"
	if _, err := b.Apply(t.Context(), b.c, second); err == nil || err.Error() != want {
		t.Errorf("want %q, got %v", want, err)
	}
	b.s.remove(parentSecret)
	if _, err := b.Apply(t.Context(), b.c, second); err == nil || !strings.Contains(err.Error(), "belongs to another owner (label applyset.kubernetes.io/part-of: "+b.ID(first)+")") {
		t.Errorf("want the ID where there is no inventory, got %v", err)
	}
}
