// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/hook"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

// until applies until a condition holds.
func (b *bench) until(s *Bundle, holds func() bool) {
	b.t.Helper()
	for range 5 {
		if holds() {
			return
		}
		_, _ = b.Apply(b.t.Context(), b.c, s)
	}
	b.t.Fatalf("it does not hold after 5 steps: %+v", b.observe(s))
}

// TestDeletePolicies checks what is deleted when, in comparison with Helm.
func TestDeletePolicies(t *testing.T) {
	all := policies(string(hook.BeforeCreation), string(hook.Succeeded), string(hook.Failed))
	cases := map[string]struct {
		reason string
		hooks  []string
		fails  string
		want   []string
	}{
		"Succeeded": {
			reason: "All hooks are deleted after the last one, in reverse order.",
			hooks:  []string{hookJob("a", "pre-install", policies(string(hook.Succeeded))), hookJob("b", "pre-install", all), hookJob("c", "pre-install"), hookJob("d", "pre-install", policies(string(hook.Failed)))},
			want: []string{
				"patch Job apps/a", "patch Job apps/b", "patch Job apps/c", "patch Job apps/d", "delete Job apps/b", "delete Job apps/a", "patch ConfigMap apps/web",
			},
		},
		"Failed": {
			reason: "The failed hook is deleted by its own policy, earlier ones by theirs, and later ones do not run.",
			hooks:  []string{hookJob("a", "pre-install", policies(string(hook.Succeeded))), hookJob("b", "pre-install", policies(string(hook.Failed))), hookJob("c", "pre-install", all), hookJob("d", "pre-install")},
			fails:  "c",
			want:   []string{"patch Job apps/a", "patch Job apps/b", "patch Job apps/c", "delete Job apps/a", "delete Job apps/c"},
		},
		"Kept": {
			reason: "A failed hook stays for inspection, unless its policy says otherwise.",
			hooks:  []string{hookJob("a", "pre-install", policies(string(hook.BeforeCreation), string(hook.Succeeded)))},
			fails:  "a",
			want:   []string{"patch Job apps/a"},
		},
		"OtherKinds": {
			reason: "Hooks of any kind are deleted, except for CRDs.",
			hooks: []string{
				hookOf("v1", "ConfigMap", "settings", "pre-install", policies(string(hook.Succeeded))),
				strings.Replace(tmplCRD, "metadata: {name: widgets.example.org}", "metadata: {name: widgets.example.org, annotations: {helm.sh/hook: pre-install, helm.sh/hook-delete-policy: hook-succeeded}}", 1),
			},
			want: []string{"patch ConfigMap apps/settings", "patch CustomResourceDefinition widgets.example.org", "delete ConfigMap apps/settings", "patch ConfigMap apps/web"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			s := bundleOf(install("web", append(tc.hooks, tmplConfig)...))
			b.s.unready = tc.fails != ""
			if tc.fails == "" {
				b.reconcile(s)
			} else {
				done := map[string]bool{}
				b.until(s, func() bool {
					for _, n := range []string{"a", "b", "c", "d"} {
						if b.s.objects[jobKey(n)] == nil || done[n] {
							continue
						}
						if done[n] = true; n == tc.fails {
							failJob(b, n)
						} else {
							completeJob(b, n)
						}
					}
					return b.observe(s).State == Error
				})
			}
			if diff := cmp.Diff(tc.want, hookWrites(b.s.took())); diff != "" {
				t.Errorf("\n%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestHookTakenAway checks that a hook that another client deletes while it runs counts as complete, as in Helm, and is not
// recreated.
func TestHookTakenAway(t *testing.T) {
	b := newBench(t)
	b.s.unready = true
	s := bundleOf(install("web", tmplConfig, hookJob("first", "pre-install")))
	b.apply(s)
	b.restart()
	b.s.remove(jobKey("first"))
	b.reconcile(s)
	if made := b.s.made[jobKey("first")]; made != 1 || b.observe(s).State != Ready {
		t.Errorf("made %d times: %+v", made, b.observe(s))
	}
}

// TestHookRefused checks that the error names a hook that the API server rejects, and that the hook runs once the cause is
// fixed.
func TestHookRefused(t *testing.T) {
	b := newBench(t)
	s := bundleOf(install("web", tmplConfig, hookJob("first", "pre-install")))
	refused := true
	b.s.fault = func(verb string, k cluster.ObjectRef) *metav1.Status {
		if verb == "patch" && k == jobKey("first") && refused {
			return refusal(http.StatusForbidden, metav1.StatusReasonForbidden, "exceeded quota")
		}
		return nil
	}
	if got := b.fails(s); !strings.Contains(got, "web: hook pre-install: Job apps/first: exceeded quota") {
		t.Errorf("got %q", got)
	}
	if o := b.observe(s); o.State != Error || !strings.Contains(o.Message, "exceeded quota") || b.s.objects[key("ConfigMap", "apps", "web")] != nil {
		t.Errorf("observation: %+v", o)
	}
	refused = false
	b.reconcile(s)
	if o := b.observe(s); o.State != Ready || b.s.made[jobKey("first")] != 1 {
		t.Errorf("observation: %+v", o)
	}
	if diff := cmp.Diff([]string{"1 deployed"}, b.statuses()); diff != "" {
		t.Errorf("records: -want, +got:\n%s", diff)
	}
}

// TestHookCRD checks that a hook can be of a kind that an earlier hook adds, once its CRD is established. In the next
// run, this CRD causes a conflict, as in Helm.
func TestHookCRD(t *testing.T) {
	crd := strings.Replace(tmplCRD, "metadata: {name: widgets.example.org}",
		"metadata: {name: widgets.example.org, annotations: {helm.sh/hook: \"pre-install,pre-upgrade\", helm.sh/hook-weight: \"-1\"}}", 1)
	s := bundleOf(install("web", tmplConfig, crd, hookOf("example.org/v1", "Widget", "main", "pre-install")))
	b := newBench(t)
	b.s.unready = true
	if r := b.apply(s); r.Waiting != "hook pre-install CustomResourceDefinition widgets.example.org is not established" {
		t.Errorf("waits for %q", r.Waiting)
	}
	b.s.status(key("CustomResourceDefinition", "", "widgets.example.org"), map[string]any{"conditions": []any{
		map[string]any{"type": "NamesAccepted", "status": "True"}, map[string]any{"type": "Established", "status": "True"}}})
	b.restart()
	b.reconcile(s)
	want := []string{"patch CustomResourceDefinition widgets.example.org", "patch Widget apps/main", "patch ConfigMap apps/web"}
	if diff := cmp.Diff(want, hookWrites(b.s.took())); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
	s.Installs[0].Values = map[string]any{"greeting": "bye"}
	if got := b.fails(s); !strings.HasSuffix(got, "CustomResourceDefinition widgets.example.org already exists, and CRDs are never recreated; remove the CRD from the hooks") {
		t.Errorf("got %q", got)
	}
}

// TestHookAsHelmReadsIt checks that hooks are parsed like the other templates of a chart: of a duplicate key, the last value
// counts.
func TestHookAsHelmReadsIt(t *testing.T) {
	b := newBench(t)
	s := bundleOf(install("web", hookJob("first", "pre-install")+"  labels: {a: b}\n  labels: {a: c}\n"))
	b.reconcile(s)
	if got := b.s.objects[jobKey("first")].u().GetLabels()["a"]; got != "c" {
		t.Errorf("label a: %q", got)
	}
}

// TestObjectBecomesHook checks that an object which a new version turns into a hook is neither pruned nor counted, and that it is
// a member again with a version that turns it back into an object.
func TestObjectBecomesHook(t *testing.T) {
	b := newBench(t)
	member := bundleOf(install("web", tmplConfig, configMap("x")))
	b.reconcile(member)
	s := bundleOf(install("web", tmplConfig, hookOf("v1", "ConfigMap", "x", "pre-upgrade")))
	b.reconcile(s)
	if o := b.observe(s); o.Total != 1 || b.s.objects[key("ConfigMap", "apps", "x")] == nil {
		t.Errorf("as a hook: %+v, left %q", o, b.s.keys())
	}
	b.reconcile(member)
	x := b.s.objects[key("ConfigMap", "apps", "x")]
	if o := b.observe(member); o.Total != 2 || x == nil || x.u().GetAnnotations()[object.AnnotationHookRun] != "" {
		t.Errorf("as a member: %+v, %+v", o, x)
	}
	b.take(member)
	if b.s.objects[key("ConfigMap", "apps", "x")] != nil {
		t.Error("it must go with the bundle")
	}
}

// TestDefaultHookTimeout checks that a hook has Helm's five minutes, and that time during which no process ran counts after the second
// restart.
func TestDefaultHookTimeout(t *testing.T) {
	b := newBench(t)
	b.s.unready = true
	s := bundleOf(install("web", tmplConfig, hookJob("first", "pre-install")))
	b.apply(s)
	for _, seconds := range []int64{300, 599} {
		b.restart()
		b.now = func() time.Time { return time.Unix(1_700_000_000+seconds, 0) }
		if r := b.apply(s); r.Waiting == "" {
			t.Errorf("failed too early: %+v", r)
		}
	}
	b.restart()
	b.now = func() time.Time { return time.Unix(1_700_000_600, 0) }
	if got := b.fails(s); got != "web: hook pre-install Job apps/first did not finish within 5m0s: the hook is running" {
		t.Errorf("got %q", got)
	}
}

// TestDisableHooks checks that no hook runs from installation to removal, and that tests do run, as in Helm.
func TestDisableHooks(t *testing.T) {
	b := newBench(t)
	s := hookedWeb("one")
	s.Config = configOf(entryFor("web", "DisableHooks=true", ""))
	b.reconcile(s)
	s.Installs[0].Values = map[string]any{"greeting": "two"}
	b.reconcile(s)
	if r := b.apply(s, WithTestToken("now")); len(r.Tested) != 2 {
		t.Errorf("tests: %+v", r)
	}
	b.restart()
	if r := b.take(s); !r.Gone {
		t.Errorf("removal: %+v", r)
	}
	for _, name := range []string{"first", "last", "bye", "gone"} {
		if b.s.made[jobKey(name)] != 0 {
			t.Errorf("hook %s ran", name)
		}
	}
}

// TestWaitBeforeLastHooks checks that with Wait the last hooks run once everything is ready, as in Helm, and without it
// immediately.
func TestWaitBeforeLastHooks(t *testing.T) {
	for _, clientConfig := range []string{"Wait=true", "Wait=false"} {
		b := newBench(t)
		b.s.unready = true
		s := bundleOf(install("first", tmplDeploy, hookOf("v1", "ConfigMap", "last", "post-install,post-upgrade")))
		s.Config = configOf(entryFor("first", clientConfig, ""))
		b.apply(s)
		last := key("ConfigMap", "apps", "last")
		if waits := b.s.objects[last] == nil; waits != (clientConfig == "Wait=true") {
			t.Errorf("%s: the hook waits: %v", clientConfig, waits)
		}
		if clientConfig != "Wait=true" {
			continue
		}
		want := "first: waiting to run post-install hooks until the install is ready, because the config layer sets Wait: Deployment apps/web: 0 of 1 replicas available"
		if o := b.observe(s); o.State != Processing || o.UpToDate || o.Message != want {
			t.Errorf("observation: %+v", o)
		}
		b.restart()
		b.s.status(key("Deployment", "apps", "web"), map[string]any{"observedGeneration": int64(1), "replicas": int64(1), "readyReplicas": int64(1),
			"availableReplicas": int64(1), "updatedReplicas": int64(1), "conditions": []any{map[string]any{"type": "Available", "status": "True"}}})
		b.reconcile(s)
		if b.s.made[last] != 1 {
			t.Errorf("the hook was made %d times", b.s.made[last])
		}
	}
}
