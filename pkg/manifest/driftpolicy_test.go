// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/fieldset"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inspect"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/observe"
)

func TestDriftPolicies(t *testing.T) {
	config, deploy := key("ConfigMap", "apps", "web"), key("Deployment", "apps", "web")
	replace := func(labels map[string]any) func(b *bench) {
		return func(b *bench) {
			b.s.remove(config)
			b.s.put(map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{
				"name": "web", "namespace": "apps", "labels": labels}})
		}
	}
	type want struct {
		Drift   []observe.Drift
		State   State
		Message string
		Works   bool
		Ready   int
	}
	cases := map[string]struct {
		reason string
		policy DriftPolicy
		harm   func(b *bench)
		want   want
	}{
		"ReportEdited": {
			reason: "A changed object is reported with its fields, and its state counts as it is.",
			policy: DriftReport,
			harm:   func(b *bench) { b.s.edit(deploy, set("evil", "spec", "template", "spec", "image")) },
			want: want{
				Drift: []observe.Drift{{Key: deploy, Fields: []string{"spec.template.spec.image"}}},
				State: Warning, Message: "web: Deployment apps/web was changed at spec.template.spec.image", Works: true, Ready: 5,
			},
		},
		"ReportDeleted": {
			reason: "A missing object is not ready.",
			policy: DriftReport,
			harm:   func(b *bench) { b.s.remove(config) },
			want: want{
				Drift: []observe.Drift{{Key: config, Kind: observe.DriftDeleted}},
				State: Warning, Message: "web: ConfigMap apps/web was deleted", Ready: 4,
			},
		},
		"ReportUnlabelled": {
			reason: "An object without the label of the watch is not gone, although its state is unknown.",
			policy: DriftReport,
			harm:   func(b *bench) { b.s.edit(config, set("other", "metadata", "labels", object.LabelManagedBy)) },
			want: want{
				Drift: []observe.Drift{{Key: config, Fields: []string{"metadata.labels." + object.LabelManagedBy}}},
				State: Warning, Message: "web: ConfigMap apps/web was changed at metadata.labels." + object.LabelManagedBy, Ready: 4,
			},
		},
		"ReportForeign": {
			reason: "An object of another owner does not belong to the bundle.",
			policy: DriftReport,
			harm:   replace(map[string]any{}),
			want: want{
				Drift: []observe.Drift{{Key: config, Kind: observe.DriftForeign}},
				State: Warning, Message: "web: ConfigMap apps/web was replaced by an object of another owner", Ready: 4,
			},
		},
		"ReportHPA": {
			reason: "Replicas that an autoscaler sets are not drift.",
			policy: DriftReport,
			harm: func(b *bench) {
				b.s.put(manifestOf(t, tmplHPA).Object)
				for _, o := range b.s.objects {
					if o.u().GetKind() == "HorizontalPodAutoscaler" {
						o.u().SetNamespace("apps")
					}
				}
				b.s.objects[cluster.ObjectRef{Group: "autoscaling", Kind: "HorizontalPodAutoscaler", Namespace: "apps", Name: "web"}] = b.s.objects[cluster.ObjectRef{Group: "autoscaling", Kind: "HorizontalPodAutoscaler", Name: "web"}]
				b.s.scale(deploy, 3, kcm)
			},
			want: want{State: Ready, Ready: 5},
		},
		"IgnoreEdited": {
			reason: "A changed object counts like an unchanged one.",
			policy: DriftIgnore,
			harm:   func(b *bench) { b.s.edit(deploy, set("evil", "spec", "template", "spec", "image")) },
			want:   want{State: Ready, Ready: 5},
		},
		"IgnoreDeleted": {
			reason: "A missing object is reported as missing.",
			policy: DriftIgnore,
			harm:   func(b *bench) { b.s.remove(config) },
			want:   want{State: Ready, Message: "web: ConfigMap apps/web is missing", Ready: 4},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			s := bundleOf(install("web", webTemplates...))
			s.Drift = tc.policy
			b.reconcile(s)
			tc.harm(b)
			inventory := b.s.versionOf(key("Secret", DefaultNamespace, s.Name))
			var version string
			if b.s.uidOf(config) != "" {
				version = b.s.versionOf(config)
			}
			for _, again := range []string{"first", "again"} {
				b.s.took()
				o := b.observe(s)
				got := want{Drift: o.Drift, State: o.State, Message: o.Message, Works: o.Works, Ready: o.Ready}
				if diff := cmp.Diff(tc.want, got); diff != "" || !o.UpToDate {
					t.Errorf("\n%s\n%s: up to date %v, -want, +got:\n%s", tc.reason, again, o.UpToDate, diff)
				}
				if log := b.s.took(); again == "again" && len(log) > 0 {
					t.Errorf("\n%s\nnothing is asked for at rest: %q", tc.reason, log)
				}
			}
			if r := b.apply(s); len(r.Repaired)+r.Updated+r.Created > 0 {
				t.Errorf("\n%s\nnothing must be done: %+v", tc.reason, r)
			}
			if got := b.s.versionOf(key("Secret", DefaultNamespace, s.Name)); got != inventory {
				t.Errorf("\n%s\nthe inventory was written", tc.reason)
			}
			if version != "" && b.s.versionOf(config) != version {
				t.Errorf("\n%s\nthe ConfigMap was written", tc.reason)
			}
			b.restart()
			if o := b.observe(s); o.Message != tc.want.Message {
				t.Errorf("\n%s\nafter a restart: %q", tc.reason, o.Message)
			}
		})
	}
}

// With other policies, an upgrade only applies its own changes. Policy Repair restores everything immediately.
func TestDriftPolicyAndUpgrade(t *testing.T) {
	for _, policy := range []DriftPolicy{DriftReport, DriftIgnore} {
		b := newBench(t)
		s := bundleOf(install("web", deployOf(1, "a"), configMap("x"), configMap("y")))
		s.Drift = policy
		b.reconcile(s)
		k, x, y := key("Deployment", "apps", "web"), key("ConfigMap", "apps", "x"), key("ConfigMap", "apps", "y")
		b.s.edit(k, set(int64(7), "spec", "replicas"))
		b.s.edit(x, set("theirs", "data", "k"))
		b.s.remove(y)
		s.Installs[0] = install("web", deployOf(1, "b"), configMap("x"), configMap("y"))
		b.reconcile(s)
		if b.replicas() != int64(1) || at(b.s.objects[x].content, fieldset.Parse(`{"f:data":{"f:k":{}}}`)) != `"theirs"` || b.s.uidOf(y) != "" {
			t.Errorf("%s: after an upgrade: %v %v %q", policy, b.replicas(), b.s.objects[x].content, b.s.uidOf(y))
		}
		s.Drift = DriftRepair
		if o := b.observe(s); o.UpToDate || len(o.Drift) != 2 {
			t.Errorf("%s: with Repair: %+v", policy, o)
		}
		b.reconcile(s)
		if b.observe(s).State != Ready || at(b.s.objects[x].content, fieldset.Parse(`{"f:data":{"f:k":{}}}`)) != `"v"` || b.s.uidOf(y) == "" {
			t.Errorf("%s: after the repair: %+v", policy, b.observe(s))
		}
	}
}

// If the fields cannot be determined, the object is reported anyway, and the engine tries again after a while.
func TestReportWithoutFields(t *testing.T) {
	b := newBench(t)
	now := time.Unix(1_700_000_000, 0)
	b.now = func() time.Time { return now }
	s := bundleOf(install("web", configMap("x")))
	s.Drift = DriftReport
	b.reconcile(s)
	x := key("ConfigMap", "apps", "x")
	b.s.edit(x, set("theirs", "data", "k"))
	b.s.fault = forbid("ConfigMap")
	if o := b.observe(s); o.Message != "web: ConfigMap apps/x was changed" || o.State != Warning {
		t.Errorf("observation: %+v", o)
	}
	b.s.fault = nil
	now = now.Add(inspect.ReportAge)
	if o := b.observe(s); o.Message != "web: ConfigMap apps/x was changed at data.k" {
		t.Errorf("later: %+v", o)
	}
}

// A failed comparison, as can happen after a restart, does not mean that the drift has changed.
func TestReportAfterFailure(t *testing.T) {
	b := newBench(t)
	s := bundleOf(install("web", configMap("x"), configMap("y")))
	s.Drift = DriftReport
	b.reconcile(s)
	x := key("ConfigMap", "apps", "x")
	b.s.edit(x, set("theirs", "data", "k"))
	b.s.edit(key("ConfigMap", "apps", "y"), set("theirs", "data", "k"))
	before := b.observe(s)
	if len(before.Drift) != 2 {
		t.Fatalf("observation: %+v", before)
	}
	b.restart()
	b.s.fault = func(verb string, k cluster.ObjectRef) *metav1.Status {
		if verb == "patch" && k == x {
			return refusal(http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable, "busy")
		}
		return nil
	}
	if o := b.observe(s); len(o.Drift) > 0 || o.State != Warning || !o.Works || o.Message != "web: ConfigMap apps/x was changed" {
		t.Errorf("after a restart: %+v", o)
	}
	b.s.fault = nil
	later := b.now().Add(inspect.RetryAge)
	b.now = func() time.Time { return later }
	if diff := cmp.Diff(before, b.observe(s)); diff != "" {
		t.Errorf("later: -before, +got:\n%s", diff)
	}
}

// An object that was replaced belongs to the bundle if it has the bundle's label, and is a collision otherwise.
func TestReplaced(t *testing.T) {
	b := newBench(t)
	s := bundleOf(install("web", configMap("x")))
	b.reconcile(s)
	x := key("ConfigMap", "apps", "x")
	copied := b.s.objects[x].u().DeepCopy()
	uid := b.s.uidOf(x)
	b.s.remove(x)
	b.s.put(copied.Object)
	if o := b.observe(s); o.UpToDate || o.Message != "web: ConfigMap apps/x was replaced by another object" {
		t.Errorf("observation: %+v", o)
	}
	r := b.apply(s)
	if diff := cmp.Diff([]observe.Drift{{Key: x, Kind: observe.DriftReplaced}}, r.Repaired); diff != "" || b.s.uidOf(x) == uid {
		t.Errorf("-want, +got:\n%s", diff)
	}
	if o := b.observe(s); o.State != Ready || !o.UpToDate {
		t.Errorf("after the repair: %+v", o)
	}

	b.s.remove(x)
	b.s.put(manifestOf(t, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, namespace: apps}\ndata: {k: mine}\n").Object)
	version := b.s.versionOf(x)
	_, err := b.Apply(t.Context(), b.c, s)
	const want = "web: ConfigMap apps/x: already exists and does not belong to this module; remove the object, or set adopt"
	if err == nil || err.Error() != want || b.s.versionOf(x) != version {
		t.Errorf("a foreign one: %v", err)
	}
	if o := b.observe(s); o.State != Error || o.Message != want {
		t.Errorf("observation of a foreign one: %+v", o)
	}
}

// Fields that other clients add are not drift, and are not changed.
func TestForeignFields(t *testing.T) {
	b := newBench(t)
	s := bundleOf(install("web", webTemplates...))
	b.reconcile(s)
	k := key("Deployment", "apps", "web")
	b.s.edit(k, func(u *unstructured.Unstructured) {
		a := u.GetAnnotations()
		a["kubectl.kubernetes.io/restartedAt"] = "now"
		u.SetAnnotations(a)
		set("x", "spec", "template", "metadata", "annotations", "restartedAt")(u)
		set("y", "status", "other")(u)
	})
	b.s.took()
	if o := b.observe(s); !o.UpToDate || o.State != Ready || len(b.s.took()) > 0 {
		t.Errorf("observation: %+v", o)
	}
}
