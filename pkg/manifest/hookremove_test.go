// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/observe"
)

func TestRandomHooks(t *testing.T) {
	b := newBench(t)
	b.s.unready = true
	s := bundleOf(install("web", strings.Replace(tmplConfig, "{{ .Values.greeting }}", "{{ randAlphaNum 8 }}", 1), hookJob("last", "post-install")))
	greeting := func() any {
		return b.s.objects[key("ConfigMap", "apps", "web")].content["data"].(map[string]any)["greeting"]
	}
	b.apply(s)
	first := greeting()
	b.restart()
	b.apply(s)
	completeJob(b, "last")
	b.reconcile(s)
	b.s.remove(key("ConfigMap", "apps", "web"))
	b.reconcile(s)
	if got := greeting(); got != first {
		t.Errorf("a random value changed from %v to %v while a hook ran", first, got)
	}
}

// TestRandomInterrupted interrupts the installation of a chart with random values after each write, and lets objects be refused after the
// random value was applied. The value must stay the same, whichever hooks run.
func TestRandomInterrupted(t *testing.T) {
	random := strings.Replace(tmplConfig, "{{ .Values.greeting }}", "{{ randAlphaNum 8 }}", 1)
	without := bundleOf(install("web", random, tmplDeploy, hookJob("first", "pre-install")))
	without.Config = configOf(entryFor("web", "DisableHooks=true", ""))
	waits := bundleOf(install("web", random, tmplDeploy))
	waits.Config = configOf(entryFor("web", "Wait=true", ""))
	cases := map[string]struct {
		reason string
		before *Bundle
		bundle *Bundle
		// unready is set if the objects never become ready.
		unready bool
		hooks   int
	}{
		"None":     {reason: "The chart has no hooks.", bundle: bundleOf(install("web", random, tmplDeploy))},
		"Wait":     {reason: "Without hooks, nothing waits until the objects are ready.", bundle: waits, unready: true},
		"Disabled": {reason: "The config disables the hooks, also when the installation continues.", bundle: without},
		"Post":     {reason: "A hook follows the objects.", bundle: bundleOf(install("web", random, tmplDeploy, hookJob("first", "post-install"))), hooks: 1},
		"Upgrade":  {reason: "A revision was deployed before.", before: bundleOf(install("web", tmplConfig)), bundle: bundleOf(install("web", random, tmplDeploy))},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			// end returns the value that the interrupted call applied, and the value in the end.
			end := func(interrupt, resume func(b *bench)) (first, last any) {
				b := newBench(t)
				b.s.unready = tc.unready
				greeting := func() any {
					if o := b.s.objects[key("ConfigMap", "apps", "web")]; o != nil {
						return o.content["data"].(map[string]any)["greeting"]
					}
					return nil
				}
				if tc.before != nil {
					b.reconcile(tc.before)
				}
				old := greeting()
				interrupt(b)
				for range 3 {
					_, _ = b.Apply(t.Context(), b.c, tc.bundle)
					if first == nil && greeting() != old {
						first = greeting()
					}
				}
				b.restart()
				resume(b)
				b.reconcile(tc.bundle)
				// A repair shows whether the record has the same value.
				b.s.remove(key("ConfigMap", "apps", "web"))
				b.reconcile(tc.bundle)
				if n := b.s.made[jobKey("first")]; n != tc.hooks {
					t.Errorf("\n%s\nthe hook ran %d times", tc.reason, n)
				}
				return first, greeting()
			}
			for n, cut := 1, true; cut; n++ {
				first, last := end(func(b *bench) { b.c.cutAfter(n, false) }, func(*bench) {})
				if first != nil && first != last {
					t.Errorf("\n%s\ncut after %d writes: the random value changed from %v to %v", tc.reason, n, first, last)
				}
				cut = n < 12
			}
			first, last := end(func(b *bench) {
				b.s.fault = func(verb string, k cluster.ObjectRef) *metav1.Status {
					if verb == "patch" && k.Kind == "Deployment" {
						return refusal(http.StatusInternalServerError, metav1.StatusReasonInternalError, "no webhook")
					}
					return nil
				}
			}, func(b *bench) { b.s.fault = nil })
			if first == nil || first != last {
				t.Errorf("\n%s\nan object was refused: the random value changed from %v to %v", tc.reason, first, last)
			}
		})
	}
}

func TestFailedDeleteHook(t *testing.T) {
	b := newBench(t)
	s := hookedWeb("one")
	b.reconcile(s)
	b.s.unready = true
	b.take(s)
	failJob(b, "bye")
	var left Removal
	for range 3 {
		left = b.take(s)
	}
	if left.State != Warning || !strings.HasPrefix(left.Message, "web: hook pre-delete Job apps/bye failed: BackoffLimitExceeded") {
		t.Errorf("removal: %+v", left)
	}
	if diff := cmp.Diff([]string{"1 uninstalling"}, b.statuses()); diff != "" {
		t.Errorf("records: -want, +got:\n%s", diff)
	}
	if b.s.objects[key("ConfigMap", "apps", "web")] == nil {
		t.Error("objects went before the hook succeeded")
	}
	again := WithRetryToken("again")
	if left = b.take(s, again); left.State != Deleting || left.Message != "web: hook pre-delete Job apps/bye is running" {
		t.Errorf("the hook was not run again: %+v", left)
	}
	failJob(b, "bye")
	b.take(s, again, ForceRemoval())
	failJob(b, "gone")
	for range 3 {
		if left = b.take(s, again, ForceRemoval()); left.Gone {
			break
		}
	}
	if !left.Gone || !slices.ContainsFunc(left.HookFailures, isFailureOfGone) || len(b.statuses()) != 0 {
		t.Errorf("a hook after the removal keeps nothing: %+v", left)
	}
}

func isFailureOfGone(failure string) bool {
	return strings.HasPrefix(failure, "web: hook post-delete Job apps/gone failed: BackoffLimitExceeded")
}

// A hook that fails while an install is pruned blocks nothing, and is reported once.
func TestFailedDeleteHookOfOneInstall(t *testing.T) {
	b := newBench(t)
	s := hookedWeb("one")
	s.Installs = append(s.Installs, install("extra", configMap("one")))
	b.reconcile(s)
	b.s.unready = true
	s.Installs = s.Installs[1:]
	b.apply(s)
	completeJob(b, "bye")
	b.apply(s)
	failJob(b, "gone")
	var failures []string
	for range 3 {
		failures = append(failures, b.apply(s).HookFailures...)
	}
	if len(failures) != 1 || !isFailureOfGone(failures[0]) || len(b.statuses()) != 0 {
		t.Errorf("hooks that failed: %q, releases: %v", failures, b.statuses())
	}
}

func TestDeleteHooksOfOneInstall(t *testing.T) {
	b := newBench(t)
	s := hookedWeb("one")
	s.Installs = append(s.Installs, install("extra", configMap("one")))
	b.reconcile(s)
	b.s.took()
	s.Installs = s.Installs[1:]
	b.reconcile(s)
	want := []string{"patch Job apps/bye", "delete Job apps/bye", "delete ConfigMap apps/web", "patch Job apps/gone", "delete CustomResourceDefinition widgets.example.org"}
	if diff := cmp.Diff(want, hookWrites(b.s.took())); diff != "" {
		t.Errorf("removal: -want, +got:\n%s", diff)
	}
	if len(b.statuses()) != 0 {
		t.Error("a record is left")
	}
}

func TestTests(t *testing.T) {
	pod := func(name string) cluster.ObjectRef {
		return cluster.ObjectRef{Kind: "Pod", Namespace: "apps", Name: name}
	}
	b := newBench(t)
	s := hookedWeb("one")
	b.reconcile(s)
	b.s.unready = true
	now := WithTestToken("now")
	if o := b.observe(s, now); o.UpToDate || o.State != Ready {
		t.Errorf("before: %+v", o)
	}
	s.Installs[0].Fetch = nil // The source is not needed.
	b.apply(s, now)
	b.restart()
	want := []observe.TestState{{Install: "web", Key: cluster.ObjectRef{Kind: "Pod", Namespace: "apps", Name: "ping"}, State: Processing}, {Install: "web", Key: cluster.ObjectRef{Kind: "Pod", Namespace: "apps", Name: "probe"}, State: Processing}}
	o := b.observe(s, now)
	if diff := cmp.Diff(want, o.Tests); diff != "" || o.UpToDate || o.State != Ready || o.TestToken != "now" {
		t.Errorf("while they run: %+v, -want, +got:\n%s", o, diff)
	}
	b.s.status(pod("ping"), map[string]any{"phase": "Succeeded"})
	b.apply(s, now)
	b.s.status(pod("probe"), map[string]any{"phase": "Failed", "message": "it is wet"})
	r := b.apply(s, now)
	want[0].State, want[1] = Ready, observe.TestState{Install: "web", Key: cluster.ObjectRef{Kind: "Pod", Namespace: "apps", Name: "probe"}, State: Error, Message: "hook test Pod apps/probe failed: it is wet"}
	if diff := cmp.Diff(want, r.Tested); diff != "" {
		t.Errorf("result: -want, +got:\n%s", diff)
	}
	b.restart()
	b.s.took()
	o = b.observe(s, now)
	if diff := cmp.Diff(want, o.Tests); diff != "" || !o.UpToDate || o.State != Ready {
		t.Errorf("after: %+v, -want, +got:\n%s", o, diff)
	}
	if r = b.apply(s, now); r.Tested != nil {
		t.Errorf("tests ran twice for one token: %+v", r)
	}
	b.s.unready = false
	if r = b.apply(s, WithTestToken("again")); len(r.Tested) != 2 || r.Tested[1].State != Ready {
		t.Errorf("another token: %+v", r)
	}
}

func TestForcedRemovalOfHook(t *testing.T) {
	b := newBench(t)
	s := hookedWeb("one")
	b.reconcile(s)
	b.s.fault = func(verb string, k cluster.ObjectRef) *metav1.Status {
		if verb == "patch" && k.Kind == "Job" {
			return refusal(http.StatusForbidden, metav1.StatusReasonForbidden, "no more Jobs")
		}
		return nil
	}
	if _, err := b.Remove(t.Context(), b.c, s); err == nil || !strings.Contains(err.Error(), "no more Jobs") {
		t.Errorf("a hook that cannot be created: %v", err)
	}
	var left Removal
	for range 5 {
		if left = b.take(s, ForceRemoval()); left.Gone {
			break
		}
	}
	if !left.Gone || !strings.Contains(strings.Join(left.HookFailures, "\n"), "no more Jobs") {
		t.Errorf("a removal that is forced: %+v", left)
	}
}

// TestRenamedInstall checks that an install that is renamed, but keeps the release that the config names, is an upgrade of this release.
func TestRenamedInstall(t *testing.T) {
	const operation = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ if .Release.IsInstall }}new{{ else }}old{{ end }}}\n"
	type want struct {
		Bye, Up, New int
		Records      []string
	}
	cases := map[string]struct {
		reason string
		more   []string
		want   want
	}{
		"Hooks": {
			reason: "The hooks of an upgrade run, and no deletion hooks.", more: []string{hookJob("bye", "pre-delete"), hookJob("up", "pre-upgrade")},
			want: want{Up: 1, New: 1, Records: []string{"apps/shop.v1 superseded", "apps/shop.v2 deployed"}},
		},
		"None": {
			reason: "Without hooks, nothing of an install is applied either.",
			want:   want{New: 1, Records: []string{"apps/shop.v1 superseded", "apps/shop.v2 deployed"}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			of := func(name string) *Bundle {
				s := bundleOf(install(name, append([]string{tmplConfig, operation}, tc.more...)...))
				s.Config = configOf(entryFor(name, "ReleaseName=shop", ""))
				return s
			}
			b := newBench(t)
			b.reconcile(of("web"))
			b.reconcile(of("server"))
			got := want{
				Bye: b.s.made[jobKey("bye")], Up: b.s.made[jobKey("up")], New: b.s.made[key("ConfigMap", "apps", "new")], Records: b.records(),
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nafter the install was renamed: -want, +got:\n%s", tc.reason, diff)
			}
			if b.s.objects[key("ConfigMap", "apps", "web")] == nil {
				t.Errorf("\n%s\nan object of the release was deleted", tc.reason)
			}
			hooks := min(len(tc.more), 1)
			if r := b.take(of("server")); !r.Gone || b.s.made[jobKey("bye")] != hooks {
				t.Errorf("\n%s\nremoval: %+v, and the deletion hook ran %d times", tc.reason, r, b.s.made[jobKey("bye")])
			}
		})
	}
}

// TestRenamedInstallRemoved removes a bundle while objects of an install that was renamed are still being pruned. The deletion hooks of the
// release that both names have must run once.
func TestRenamedInstallRemoved(t *testing.T) {
	of := func(name string, more ...string) *Bundle {
		s := bundleOf(install(name, append([]string{tmplConfig, hookJob("bye", "pre-delete")}, more...)...))
		s.Config = configOf(entryFor(name, "ReleaseName=shop", ""))
		return s
	}
	cases := map[string]struct{ reason, before, after string }{
		"Later":   {reason: "The new name comes after the old one.", before: "server", after: "web"},
		"Earlier": {reason: "The new name comes before the old one.", before: "web", after: "server"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.reconcile(of(tc.before, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: held}\n"))
			held := key("ConfigMap", "apps", "held")
			b.s.edit(held, func(u *unstructured.Unstructured) { u.SetFinalizers([]string{"x/y"}) })
			after := of(tc.after)
			b.apply(after)
			b.apply(after)
			if got := len(b.inventory(after).Parts); got != 2 {
				t.Fatalf("\n%s\nthe inventory has %d installs, not both", tc.reason, got)
			}
			b.take(after)
			completeJob(b, "bye")
			b.take(after)
			b.s.remove(held)
			b.takeAll(after)
			if got := b.s.made[jobKey("bye")]; got != 1 {
				t.Errorf("\n%s\nthe deletion hook ran %d times", tc.reason, got)
			}
			if got := b.records(); len(got) > 0 {
				t.Errorf("\n%s\nrecords are left: %q", tc.reason, got)
			}
		})
	}
}

// TestRenamedInstallDropped removes an install from a bundle while objects of its old name are still being pruned.
func TestRenamedInstallDropped(t *testing.T) {
	other := install("other", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: other}\n")
	of := func(name string, more ...string) *Bundle {
		s := bundleOf(install(name, append([]string{tmplConfig, hookJob("bye", "pre-delete")}, more...)...), other)
		s.Config = configOf(entryFor(name, "ReleaseName=shop", ""))
		return s
	}
	b := newBench(t)
	b.reconcile(of("server", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: held}\n"))
	held := key("ConfigMap", "apps", "held")
	b.s.edit(held, func(u *unstructured.Unstructured) { u.SetFinalizers([]string{"x/y"}) })
	renamed, without := of("web"), bundleOf(other)
	b.apply(renamed)
	b.apply(renamed)
	if got := len(b.inventory(renamed).Parts); got != 3 {
		t.Fatalf("the inventory has %d installs, not 3", got)
	}
	b.apply(without)
	completeJob(b, "bye")
	b.apply(without)
	b.s.remove(held)
	b.reconcile(without)
	if got := b.s.made[jobKey("bye")]; got != 1 {
		t.Errorf("the deletion hook ran %d times", got)
	}
	if b.s.objects[key("ConfigMap", "apps", "web")] != nil || b.s.objects[key("ConfigMap", "apps", "other")] == nil {
		t.Error("the wrong install was removed")
	}
}

// TestReleaseTaken checks that an install that takes over the name of a release from an install that stays is not an upgrade of it.
func TestReleaseTaken(t *testing.T) {
	const operation = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ if .Release.IsInstall }}new{{ else }}old{{ end }}}\n"
	before, after := bundleOf(install("web", tmplConfig)), bundleOf(install("web", tmplConfig), install("server", operation))
	before.Config = configOf(entryFor("web", "ReleaseName=shop", ""))
	after.Config = configOf(entryFor("web", "ReleaseName=store", ""), entryFor("server", "ReleaseName=shop", ""))
	b := newBench(t)
	b.reconcile(before)
	b.reconcile(after)
	if diff := cmp.Diff([]string{"apps/shop.v1 deployed", "apps/store.v1 deployed"}, b.records()); diff != "" {
		t.Errorf("records: -want, +got:\n%s", diff)
	}
	if b.s.objects[key("ConfigMap", "apps", "new")] == nil || b.s.objects[key("ConfigMap", "apps", "web")] == nil {
		t.Error("the new install was not installed, or the other one was removed")
	}
}
