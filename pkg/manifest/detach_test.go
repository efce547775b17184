// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

// installedObjects returns the objects that are neither inventories, release records, nor namespaces, without their version and
// owners.
func (b *bench) installedObjects() map[string]map[string]any {
	b.s.mu.Lock()
	defer b.s.mu.Unlock()
	out := map[string]map[string]any{}
	for k, o := range b.s.objects {
		if k.Kind != "Secret" && k.Kind != "Namespace" {
			u := o.u().DeepCopy()
			u.SetResourceVersion("")
			out[k.String()] = u.Object
		}
	}
	return out
}

// marks returns what the engine has set on objects: labels, annotations and owners of fields.
func (b *bench) marks(s *Bundle) []string {
	b.s.mu.Lock()
	defer b.s.mu.Unlock()
	var out []string
	for k, o := range b.s.objects {
		if k.Kind == "Secret" || k.Kind == "Namespace" {
			continue
		}
		for _, l := range append(slices.Collect(maps.Keys(s.Labels)), object.LabelPartOf, object.LabelManagedBy) {
			if o.u().GetLabels()[l] != "" {
				out = append(out, k.String()+" label "+l)
			}
		}
		for a := range o.u().GetAnnotations() {
			if strings.HasPrefix(a, "kyma.m.crossplane.io/") {
				out = append(out, k.String()+" annotation "+a)
			}
		}
		for who := range o.owners {
			if strings.HasPrefix(who, DefaultFieldManager) {
				out = append(out, k.String()+" owner "+who)
			}
		}
	}
	slices.Sort(out)
	return out
}

func (b *bench) detach(s *Bundle) {
	b.t.Helper()
	if err := b.Detach(b.t.Context(), b.c, s); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) isDetached(s *Bundle) bool {
	b.t.Helper()
	is, err := b.IsDetached(b.t.Context(), b.c, s)
	if err != nil {
		b.t.Fatal(err)
	}
	return is
}

// ignoringMarks ignores the labels of the engine.
func ignoringMarks(objects map[string]map[string]any, labels map[string]string) map[string]map[string]any {
	for _, o := range objects {
		u := &unstructured.Unstructured{Object: o}
		all := u.GetLabels()
		maps.DeleteFunc(all, func(l, _ string) bool {
			_, ours := labels[l]
			return ours || l == object.LabelPartOf || l == object.LabelManagedBy
		})
		u.SetLabels(nil)
		if len(all) > 0 {
			u.SetLabels(all)
		}
	}
	return objects
}

// TestDetach checks that a detached bundle leaves its objects as they are, and that another owner with the same name manages them again
// without changing anything else, running hooks, or adding a revision.
func TestDetach(t *testing.T) {
	b := newBench(t)
	s := of(crashBundle(t, false), "1", "control-plane")
	b.reconcile(s)
	for _, job := range []string{"first", "last"} {
		if b.s.uidOf(jobKey(job)) != "" {
			completeJob(b, job)
		}
	}
	b.reconcile(s)
	b.s.remove(jobKey("last"))
	before, statuses := ignoringMarks(b.installedObjects(), s.Labels), b.statuses()
	if b.isDetached(s) {
		t.Fatal("want a bundle that is not detached")
	}

	b.detach(s)
	if diff := cmp.Diff([]string(nil), b.marks(s)); diff != "" {
		t.Errorf("left on the objects: -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff(before, ignoringMarks(b.installedObjects(), s.Labels)); diff != "" {
		t.Errorf("the objects: -before, +after:\n%s", diff)
	}
	if !b.isDetached(s) {
		t.Error("want a bundle that is detached")
	}
	b.s.took()
	b.detach(s)
	for _, r := range b.s.took() {
		if !strings.HasPrefix(r, "get") {
			t.Errorf("a detached bundle is changed: %s", r)
		}
	}

	b.restart()
	again := of(crashBundle(t, false), "2", "control-plane")
	b.reconcile(again)
	for _, r := range hookWrites(b.s.took()) {
		if !strings.HasPrefix(r, "patch ") && !strings.HasPrefix(r, "dry-run ") {
			t.Errorf("managed again: %s", r)
		}
	}
	if diff := cmp.Diff(before, ignoringMarks(b.installedObjects(), s.Labels)); diff != "" {
		t.Errorf("the objects that are managed again: -before, +after:\n%s", diff)
	}
	if diff := cmp.Diff(statuses, b.statuses()); diff != "" {
		t.Errorf("the revisions: -before, +after:\n%s", diff)
	}
	b.reconcile(of(crashBundle(t, true), "2", "control-plane"))
	b.takeAll(again)
}

// TestDetachIsRepeated checks that a call that is interrupted at any request can be repeated, and ends the same.
func TestDetachIsRepeated(t *testing.T) {
	start := func() (*bench, *Bundle) {
		b := newBench(t)
		s := fullBundle(t, false)
		b.reconcile(s)
		b.s.took()
		return b, s
	}
	b, s := start()
	b.detach(s)
	requests := len(b.s.took())
	for at := range requests {
		b, s := start()
		n := 0
		b.s.fault = func(string, cluster.ObjectRef) *metav1.Status {
			if n++; n > at {
				return &metav1.Status{Status: metav1.StatusFailure, Code: http.StatusInternalServerError, Reason: metav1.StatusReasonInternalError, Message: "died"}
			}
			return nil
		}
		if err := b.Detach(t.Context(), b.c, s); err == nil {
			t.Fatalf("interrupted at %d of %d: want an error", at, requests)
		}
		b.s.fault = nil
		b.restart()
		b.detach(s)
		if diff := cmp.Diff([]string(nil), b.marks(s)); diff != "" {
			t.Errorf("interrupted at %d: -want, +got:\n%s", at, diff)
		}
	}
}

// TestDetachLeavesOthers checks that objects that are not those of the bundle do not change, and that an edit at the same time is kept.
func TestDetachLeavesOthers(t *testing.T) {
	b := newBench(t)
	s := bundleOf(install("web", configMap("one"), configMap("two"), configMap("three"), configMap("four")))
	b.reconcile(s)
	one, two, three, four := key("ConfigMap", "apps", "one"), key("ConfigMap", "apps", "two"), key("ConfigMap", "apps", "three"), key("ConfigMap", "apps", "four")
	b.s.edit(one, func(u *unstructured.Unstructured) {
		l := u.GetLabels()
		l[object.LabelPartOf] = "applyset-other"
		u.SetLabels(l)
	})
	b.s.remove(two)
	b.s.put(manifestOf(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: two, namespace: apps, labels: {team: a}}}").Object)
	b.s.remove(three)
	edited := false
	b.s.fault = func(verb string, k cluster.ObjectRef) *metav1.Status {
		if o := b.s.objects[four]; verb == "patch" && k == four && !edited {
			edited = true
			o.content["data"].(map[string]any)["k"] = "edited"
			b.s.touch(o)
		}
		return nil
	}
	b.detach(s)
	want := []string{
		"ConfigMap apps/one label applyset.kubernetes.io/part-of", "ConfigMap apps/one label operator.kyma-project.io/managed-by",
		"ConfigMap apps/one label team", fmt.Sprintf("ConfigMap apps/one owner %s/Apply", DefaultFieldManager), "ConfigMap apps/two label team",
	}
	if diff := cmp.Diff(want, b.marks(s)); diff != "" {
		t.Errorf("marks: -want, +got:\n%s", diff)
	}
	if got := b.s.objects[four].content["data"].(map[string]any)["k"]; !edited || got != "edited" {
		t.Errorf("want the value of the edit, got %v", got)
	}
}

// TestDetachOfAnotherOwner checks that a bundle of another owner is not detached, and that a bundle without an inventory is.
func TestDetachOfAnotherOwner(t *testing.T) {
	b := newBench(t)
	s := of(bundleOf(install("web", tmplConfig)), "1", "control-plane")
	b.reconcile(s)
	before := b.marks(s)
	other := of(s, "2", "other-control-plane")
	if err := b.Detach(t.Context(), b.c, other); !errors.As(err, new(*OwnedError)) {
		t.Errorf("Detach(...): want an OwnedError, got %v", err)
	}
	if _, err := b.IsDetached(t.Context(), b.c, other); !errors.As(err, new(*OwnedError)) {
		t.Errorf("IsDetached(...): want an OwnedError, got %v", err)
	}
	if diff := cmp.Diff(before, b.marks(s)); diff != "" {
		t.Errorf("-before, +after:\n%s", diff)
	}
	none := *s
	none.Name = "team-a-none"
	b.detach(&none)
	if !b.isDetached(&none) {
		t.Error("want a bundle without an inventory to be detached")
	}
}

// TestDetachShared checks that a CRD that another bundle uses is handed over to it, and that neither bundle deletes it as long as the other
// one needs it.
func TestDetachShared(t *testing.T) {
	crd := key("CustomResourceDefinition", "", "widgets.example.org")
	b := newBench(t)
	owner := bundleOf(install("web", "crds/"+tmplCRD))
	user := bundleOf(install("other", "crds/"+tmplCRD))
	user.Name, user.Owner = "team-b-web", "Manifest team-b/web"
	b.reconcile(owner)
	b.reconcile(user)

	// The objects of the user need the CRD.
	b.detach(user)
	if diff := cmp.Diff([]string{user.Owner}, object.UsersOf(b.s.objects[crd].u().GetAnnotations(), "")); diff != "" || !b.isDetached(user) {
		t.Errorf("users: -want, +got:\n%s", diff)
	}
	b.restart()
	b.reconcile(user)

	b.detach(owner)
	if !b.isDetached(owner) {
		t.Error("want the owner to be detached")
	}
	b.restart()
	b.reconcile(user)
	if got, want := b.s.objects[crd].u().GetLabels()[object.LabelPartOf], b.ID(user); got != want {
		t.Errorf("want the user as the owner %s, got %s", want, got)
	}
	b.take(user)
	if b.s.uidOf(crd) == "" {
		t.Fatal("want the CRD that the detached bundle needs to stay")
	}
	b.restart()
	b.reconcile(owner)
	if got, want := b.s.objects[crd].u().GetLabels()[object.LabelPartOf], b.ID(owner); got != want {
		t.Errorf("want the former owner %s, got %s", want, got)
	}
}
