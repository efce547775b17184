// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/hook"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/observe"
)

func TestDriftIsRepaired(t *testing.T) {
	config, deploy, account := key("ConfigMap", "apps", "web"), key("Deployment", "apps", "web"), key("ServiceAccount", "apps", "web")
	set := func(v any, fields ...string) func(u *unstructured.Unstructured) {
		return func(u *unstructured.Unstructured) {
			if err := unstructured.SetNestedField(u.Object, v, fields...); err != nil {
				panic(err)
			}
		}
	}
	cases := map[string]struct {
		reason  string
		harm    func(b *bench)
		seen    []observe.Drift
		message string
		want    []observe.Drift
	}{
		"Deleted": {
			reason:  "A deleted object is restored.",
			harm:    func(b *bench) { b.s.remove(config) },
			seen:    []observe.Drift{{Key: config, Kind: observe.DriftDeleted}},
			message: "web: ConfigMap apps/web was deleted",
			want:    []observe.Drift{{Key: config, Kind: observe.DriftDeleted}},
		},
		"Edited": {
			reason:  "A changed field is restored, and named.",
			harm:    func(b *bench) { b.s.edit(deploy, set(int64(3), "spec", "replicas")) },
			seen:    []observe.Drift{{Key: deploy}},
			message: "web: Deployment apps/web was changed",
			want:    []observe.Drift{{Key: deploy, Fields: []string{"spec.replicas"}}},
		},
		"Two": {
			reason: "Repairs are reported in the order of names, whichever was made first.",
			harm: func(b *bench) {
				b.s.edit(deploy, set(int64(3), "spec", "replicas"))
				b.s.remove(account)
			},
			seen:    []observe.Drift{{Key: account, Kind: observe.DriftDeleted}, {Key: deploy}},
			message: "web: ServiceAccount apps/web was deleted",
			want:    []observe.Drift{{Key: deploy, Fields: []string{"spec.replicas"}}, {Key: account, Kind: observe.DriftDeleted}},
		},
		"Unlabelled": {
			reason: "An object without the label of the watch is still known by its UID.",
			harm: func(b *bench) {
				b.s.edit(config, func(u *unstructured.Unstructured) { u.SetLabels(nil) })
			},
			seen:    []observe.Drift{{Key: config, Kind: observe.DriftDeleted}},
			message: "web: ConfigMap apps/web was deleted",
			want: []observe.Drift{{Key: config, Fields: []string{
				"metadata.labels.app", `metadata.labels.app.kubernetes.io/managed-by`, "metadata.labels." + object.LabelPartOf,
				"metadata.labels." + object.LabelManagedBy, "metadata.labels.team",
			}}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			s := bundleOf(install("web", webTemplates...))
			b.reconcile(s)
			tc.harm(b)
			o := b.observe(s)
			if diff := cmp.Diff(tc.seen, o.Drift); diff != "" {
				t.Errorf("\n%s\nseen: -want, +got:\n%s", tc.reason, diff)
			}
			if o.UpToDate || o.State != Processing || o.Message != tc.message {
				t.Errorf("\n%s\nobservation: %+v", tc.reason, o)
			}
			r := b.apply(s)
			if diff := cmp.Diff(tc.want, r.Repaired); diff != "" {
				t.Errorf("\n%s\nrepaired: -want, +got:\n%s", tc.reason, diff)
			}
			if o := b.observe(s); !o.UpToDate || o.State != Ready {
				t.Errorf("\n%s\nafter the repair: %+v", tc.reason, o)
			}
			if got := b.inventory(s).Parts["web"].Revision; got != 1 {
				t.Errorf("\n%s\na repair makes no revision, got %d", tc.reason, got)
			}
			if got := b.s.objects[config].content["data"].(map[string]any)["revision"]; got != "1" {
				t.Errorf("\n%s\na repair renders the revision that it repairs, got %v", tc.reason, got)
			}
		})
	}
}

// A failed repair is reported as long as the drift exists, and not after that.
func TestRepairFails(t *testing.T) {
	b := newBench(t)
	s := bundleOf(install("web", configMap("x")))
	b.reconcile(s)
	k := key("ConfigMap", "apps", "x")
	uid := b.s.uidOf(k)
	b.s.remove(k)
	b.s.fault = forbid("ConfigMap")
	if _, err := b.Apply(t.Context(), b.c, s); err == nil {
		t.Fatal("the repair must fail")
	}
	if o := b.observe(s); o.State != Error || o.UpToDate || o.Message != "web: ConfigMap apps/x: ConfigMap is forbidden: exceeded quota: small" {
		t.Errorf("observation: %+v", o)
	}
	b.s.fault = nil
	b.reconcile(s)
	if o := b.observe(s); o.State != Ready || b.s.uidOf(k) == uid {
		t.Errorf("after the repair: %+v", o)
	}
}

// An object that is being deleted is not changed. It is recreated once it is gone.
func TestTerminatingObject(t *testing.T) {
	b := newBench(t)
	s := bundleOf(install("web", configMap("x")))
	b.reconcile(s)
	k := key("ConfigMap", "apps", "x")
	b.s.edit(k, func(u *unstructured.Unstructured) { u.SetFinalizers([]string{"x/y"}) })
	b.s.terminate(b.s.objects[k])
	s.Installs[0] = install("web", configMap("x"), configMap("two"))
	want := "ConfigMap apps/x: is being deleted, waiting for finalizer x/y"
	s.Labels = map[string]string{"team": "b"} // Both objects change.
	r := b.apply(s)
	if r.Waiting != want {
		t.Errorf("waiting: want %q, got %q", want, r.Waiting)
	}
	if o := b.observe(s); o.State != Processing || o.Message != "web: "+want {
		t.Errorf("observation: %+v", o)
	}
	b.s.remove(k)
	b.reconcile(s)
	if got := b.s.objects[k].u().GetLabels()["team"]; got != "b" {
		t.Errorf("label of the new object: %q", got)
	}
}

// If a kind cannot be watched, its objects are read one by one.
func TestBlindKind(t *testing.T) {
	b := newBench(t)
	s := bundleOf(install("web", webTemplates...))
	b.reconcile(s)
	b.c.blind = map[string]bool{"ConfigMap": true, "Secret": true}
	b.restart()
	b.s.took()
	if o := b.observe(s); !o.UpToDate || o.State != Ready {
		t.Errorf("observation: %+v", o)
	}
	if diff := cmp.Diff([]string{"get Secret kyma-system/team-a-web", "get ConfigMap apps/web"}, b.s.took()); diff != "" {
		t.Errorf("requests: -want, +got:\n%s", diff)
	}
	b.s.remove(key("ConfigMap", "apps", "web"))
	if o := b.observe(s); o.UpToDate || len(o.Drift) != 1 {
		t.Errorf("observation after a deletion: %+v", o)
	}
	b.reconcile(s)
	if r := b.take(s); !r.Gone || len(b.s.keys()) != 1 {
		t.Errorf("removal: %+v, left %q", r, b.s.keys())
	}
}

// A chart with random values is repaired from the record of its release, not with new random values.
func TestRepairOfAnImpureChart(t *testing.T) {
	b := newBench(t)
	s := bundleOf(install("web", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata: {k: {{ randAlphaNum 20 | quote }}}\n"))
	b.reconcile(s)
	k := key("ConfigMap", "apps", "x")
	secret := func() any { return b.s.objects[k].content["data"].(map[string]any)["k"] }
	want := secret()
	b.s.remove(k)
	b.reconcile(s)
	if got := secret(); got != want {
		t.Errorf("want the value of before, %v, got %v", want, got)
	}
	b.s.remove(k)
	b.s.remove(key("Secret", "apps", "sh.helm.release.v1.web.v1"))
	_, err := b.Apply(t.Context(), b.c, s)
	if err == nil || err.Error() != "web: the record of release web revision 1 no longer exists, and the chart renders differently each time, "+
		"so the revision cannot be restored; change a value to install a new one" {
		t.Errorf("error without the record: %v", err)
	}
}

// An object of the bundle that the watch does not show and that is being deleted is not changed either.
func TestTerminatingUnseen(t *testing.T) {
	b := newBench(t)
	s := bundleOf(install("web", configMap("x")))
	b.reconcile(s)
	k := key("ConfigMap", "apps", "x")
	b.s.edit(k, func(u *unstructured.Unstructured) {
		u.SetLabels(map[string]string{object.LabelPartOf: b.ID(s)})
		u.SetFinalizers([]string{"x/y"})
	})
	b.s.terminate(b.s.objects[k])
	version := b.s.objects[k].u().GetResourceVersion()
	b.apply(s)
	if got := b.s.objects[k].u().GetResourceVersion(); got != version {
		t.Error("it was changed")
	}
	b.s.remove(k)
	b.reconcile(s)
}

func TestRepairIsSentOnce(t *testing.T) {
	// Because the second install has hooks, the stages of CRDs and namespaces run twice in one call.
	b := newBench(t)
	first := install("crds", "crds/"+tmplCRD)
	b.reconcile(bundleOf(first, install("web", tmplConfig, hookJob("first", "pre-install,pre-upgrade", policies(string(hook.Succeeded))))))
	changed := bundleOf(first, install("web", tmplConfig, configMap("new"), hookJob("first", "pre-install,pre-upgrade", policies(string(hook.Succeeded)))))
	b.s.remove(key("CustomResourceDefinition", "", "widgets.example.org"))
	r := b.apply(changed)
	if len(r.Repaired) != 1 {
		t.Errorf("a CRD that was deleted is repaired once: %+v", r.Repaired)
	}
}

// A Job that sets ttlSecondsAfterFinished is deleted by its controller, so its absence is not drift. It runs again if its content changes.
func TestExpiredJob(t *testing.T) {
	const (
		ttl  = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: once}\nspec: {ttlSecondsAfterFinished: 0, template: {spec: {image: {{ .Values.greeting }}}}}\n"
		keep = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: kept}\nspec: {ttlSecondsAfterFinished: null, template: {spec: {image: web}}}\n"
	)
	b := newBench(t)
	s := bundleOf(install("web", ttl, keep, configMap("x")), install("extra", configMap("one")))
	s.Config = configOf(entryFor("web", "Wait=true", ""))
	ran := func(reason string, once, kept int) {
		t.Helper()
		b.reconcile(s)
		if o := b.observe(s); o.State != Ready || len(o.Drift) > 0 {
			t.Errorf("%s: %+v", reason, o)
		}
		if diff := cmp.Diff([]int{once, kept}, []int{b.s.made[jobKey("once")], b.s.made[jobKey("kept")]}); diff != "" {
			t.Errorf("%s: the Jobs were created: -want, +got:\n%s", reason, diff)
		}
	}
	ran("install", 1, 1)
	b.s.remove(jobKey("once"))
	b.s.took()
	b.observe(s)
	if log := b.s.took(); len(log) > 0 {
		t.Errorf("requests at rest: %q", log)
	}
	ran("after the Job expired", 1, 1)
	b.restart()
	b.s.remove(jobKey("kept"))
	b.s.remove(key("ConfigMap", "apps", "x"))
	ran("a repair of other objects", 1, 2)
	s.Installs[1] = install("extra", configMap("one"), configMap("two"))
	ran("an upgrade of an install that waits", 1, 2)
	s.Labels = map[string]string{"team": "b"}
	ran("other labels", 1, 2)
	s.Installs[0].Values = map[string]any{"greeting": "two"}
	ran("an upgrade", 2, 2)
	b.s.edit(jobKey("once"), func(u *unstructured.Unstructured) { u.SetFinalizers([]string{"foregroundDeletion"}) })
	b.s.terminate(b.s.objects[jobKey("once")])
	b.s.remove(key("ConfigMap", "apps", "x"))
	b.reconcile(s)
	b.s.remove(jobKey("once"))
	ran("a repair while the Job expires", 2, 2)
	if r := b.take(s); !r.Gone {
		t.Errorf("removal: %+v", r)
	}
}

// TestFailedJobExpires checks that a Job with ttlSecondsAfterFinished that was seen to fail is an error, and runs again after its deletion.
func TestFailedJobExpires(t *testing.T) {
	const ttl = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: once}\nspec: {ttlSecondsAfterFinished: 0}\n"
	cases := map[string]struct {
		reason string
		drift  DriftPolicy
		want   int
		state  State
	}{
		"Repair": {reason: "The Job runs again.", drift: DriftRepair, want: 2, state: Ready},
		"Report": {reason: "The Job is missing.", drift: DriftReport, want: 1, state: Warning},
		"Ignore": {reason: "It is not ignored that the Job failed.", drift: DriftIgnore, want: 1, state: Warning},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			s := bundleOf(install("web", ttl, configMap("x")))
			s.Drift = tc.drift
			b.reconcile(s)
			failJob(b, "once")
			if o := b.observe(s); o.State != Error || o.UpToDate {
				t.Errorf("\n%s\na Job that failed: %+v", tc.reason, o)
			}
			b.reconcile(s)
			b.s.took()
			if o := b.observe(s); o.State != Error || !o.UpToDate || len(b.s.took()) > 0 {
				t.Errorf("\n%s\nafter the failure is recorded: %+v", tc.reason, o)
			}
			b.restart()
			b.s.remove(jobKey("once"))
			b.reconcile(s)
			if o := b.observe(s); o.State != tc.state || o.Works || b.s.made[jobKey("once")] != tc.want {
				t.Errorf("\n%s\nafter the Job expired: want %s and %d Jobs, got %+v and %d", tc.reason, tc.state, tc.want, o, b.s.made[jobKey("once")])
			}
		})
	}
}
