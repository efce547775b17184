// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/release"
)

// ofBundle returns everything in the cluster that belongs to a bundle: its members and hooks, its release records, and its
// inventory.
func (b *bench) ofBundle(s *Bundle) []string {
	b.t.Helper()
	b.s.mu.Lock()
	defer b.s.mu.Unlock()
	var out []string
	for k, o := range b.s.objects {
		if l := o.u().GetLabels(); l[object.LabelPartOf] == b.ID(s) || l[release.LabelSet] == b.ID(s) || k == parentSecret {
			out = append(out, k.String())
		}
	}
	return out
}

// TestStaleStepLeavesNothing removes the bundle completely from another process, at each request of a step. The step has read
// the inventory and plans to upgrade or to repair. When it ends, nothing is left of the bundle: neither what the step created
// after the removal nor what it updated.
func TestStaleStepLeavesNothing(t *testing.T) {
	old := bundleOf(install("web", tmplConfig, tmplRole), install("extra", configMap("one")))
	hooked := bundleOf(install("web", tmplConfig, tmplAccount, tmplDeploy, hookJob("first", "pre-upgrade"), hookJob("last", "post-upgrade")),
		install("extra", configMap("one"), configMap("two")))
	plain := bundleOf(install("web", strings.ReplaceAll(tmplConfig, "app: web", "app: other"), tmplAccount, tmplDeploy), install("extra", configMap("one"), configMap("two")))
	cases := map[string]struct {
		reason string
		wanted *Bundle
		before func(b *bench)
	}{
		"Upgrade": {reason: "An upgrade creates, updates and prunes objects, and records a revision.", wanted: plain, before: func(*bench) {}},
		"Hooks":   {reason: "A hook is started before the objects.", wanted: hooked, before: func(*bench) {}},
		"Repair": {reason: "A repair recreates what users deleted, and updates what they changed.", wanted: old, before: func(b *bench) {
			b.s.remove(key("ConfigMap", "apps", "one"))
			b.s.edit(key("ConfigMap", "apps", "web"), func(u *unstructured.Unstructured) { u.SetLabels(map[string]string{"a": "b"}) })
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for n, met := 0, true; met; n++ {
				b := newBench(t)
				b.reconcile(old)
				tc.before(b)
				other := b.another()
				met = false
				b.c.before = atRequest(n, func() { met = true; other.takeAll(old) })
				_, err := b.Apply(t.Context(), b.c, tc.wanted)
				if !met {
					break
				}
				if diff := cmp.Diff([]string(nil), b.ofBundle(old)); diff != "" {
					t.Errorf("\n%s\nremoved at request %d, the step ended with %v\nleft behind: %s", tc.reason, n, err, diff)
				}
			}
		})
	}
}

// TestStaleStepIsRepaired upgrades the bundle from another process at each request of a step with older content. The older
// content does not stay: the process that upgraded the bundle detects what the step wrote afterwards, and no object remains
// that its inventory does not list.
func TestStaleStepIsRepaired(t *testing.T) {
	config := func(mode string) string {
		return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\ndata: {mode: " + mode + "}\n"
	}
	web := key("ConfigMap", "apps", "web")
	old := bundleOf(install("web", config("old"), configMap("kept")))
	newer := bundleOf(install("web", config("newer"), configMap("kept"), configMap("newer")))
	cases := map[string]struct {
		reason string
		stale  *Bundle
		before func(b *bench)
	}{
		"Upgrade": {
			reason: "The step changes and creates objects.",
			stale:  bundleOf(install("web", config("stale"), configMap("kept"), configMap("stale"))), before: func(*bench) {},
		},
		"Repair": {
			reason: "The step repairs an object, for which it does not save the inventory.",
			stale:  old, before: func(b *bench) { b.s.edit(web, set("drifted", "data", "mode")) },
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			for n, met := 0, true; met; n++ {
				b := newBench(t)
				b.reconcile(old)
				tc.before(b)
				other := b.another()
				met = false
				b.c.before = atRequest(n, func() { met = true; other.reconcile(newer) })
				_, err := b.Apply(t.Context(), b.c, tc.stale)
				b.c.before = nil
				if !met {
					break
				}
				other.reconcile(newer)
				got, _, _ := unstructured.NestedString(b.s.objects[web].u().Object, "data", "mode")
				if diff := cmp.Diff("newer", got); diff != "" {
					t.Errorf("\n%s\nupgraded at request %d, the step ended with %v\nwhat stays: -want, +got:\n%s", tc.reason, n, err, diff)
				}
				if diff := cmp.Diff([]string(nil), b.unlisted(newer)); diff != "" {
					t.Errorf("\n%s\nupgraded at request %d, the step ended with %v\nunknown objects: %s", tc.reason, n, err, diff)
				}
			}
		})
	}
}

// TestStaleStepRecordsWhatItCannotUndo upgrades the bundle from another process before a step with older content creates an object, which
// the step then cannot delete. The inventory lists the object, so that the other process prunes it.
func TestStaleStepRecordsWhatItCannotUndo(t *testing.T) {
	old, newer := bundleOf(install("web", configMap("kept"))), bundleOf(install("web", configMap("kept"), configMap("newer")))
	stale := bundleOf(install("web", configMap("kept"), configMap("stale")))
	made := key("ConfigMap", "apps", "stale")
	b := newBench(t)
	b.reconcile(old)
	other := b.another()
	b.interrupt(http.MethodPatch, "/configmaps/stale", func() { other.reconcile(newer) })
	b.s.fault = func(verb string, k cluster.ObjectRef) *metav1.Status {
		if verb == "delete" && k == made {
			return refusal(http.StatusTooManyRequests, metav1.StatusReasonTooManyRequests, "busy")
		}
		return nil
	}
	if _, err := b.Apply(t.Context(), b.c, stale); !errors.As(err, new(*ChangedError)) || !strings.Contains(err.Error(), "cannot undo") {
		t.Fatalf("want an error about the change and what could not be undone, got %v", err)
	}
	b.s.fault = nil
	if b.s.objects[made] == nil {
		t.Fatal("the step did not create the object, so the test proves nothing")
	}
	if diff := cmp.Diff([]string(nil), b.unlisted(newer)); diff != "" {
		t.Errorf("objects that no inventory lists: %s", diff)
	}
	other.reconcile(newer)
	if b.s.objects[made] != nil {
		t.Error("the object is left")
	}
}

// TestStaleStepWithoutPermission upgrades the bundle from another process while a step repairs objects. From then on, no inventory can be
// written. The step still deletes what it recreated and the inventory no longer lists.
func TestStaleStepWithoutPermission(t *testing.T) {
	config := func(mode string) string {
		return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\ndata: {mode: " + mode + "}\n"
	}
	old, newer := bundleOf(install("web", configMap("dropped"), config("old"))), bundleOf(install("web", config("newer")))
	dropped, web := key("ConfigMap", "apps", "dropped"), key("ConfigMap", "apps", "web")
	b := newBench(t)
	b.reconcile(old)
	b.s.remove(dropped)
	b.s.edit(web, set("drifted", "data", "mode"))
	other, made := b.another(), b.s.made[dropped]
	b.interrupt(http.MethodPatch, "/configmaps/dropped", func() {
		other.reconcile(newer)
		b.s.fault = func(verb string, k cluster.ObjectRef) *metav1.Status {
			if verb == "patch" && k == parentSecret {
				return refusal(http.StatusForbidden, metav1.StatusReasonForbidden, "may not")
			}
			return nil
		}
	})
	if _, err := b.Apply(t.Context(), b.c, old); !errors.As(err, new(*ChangedError)) {
		t.Fatalf("want an error about the change, got %v", err)
	}
	b.s.fault = nil
	if b.s.made[dropped] == made {
		t.Fatal("the step did not recreate the object, so the test proves nothing")
	}
	if diff := cmp.Diff([]string(nil), b.unlisted(newer)); diff != "" {
		t.Errorf("objects that no inventory lists: %s", diff)
	}
}
