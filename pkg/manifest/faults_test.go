// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"
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
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/source"
)

// forbid forbids applying a kind.
func forbid(kind string) func(verb string, k cluster.ObjectRef) *metav1.Status {
	return refuse(kind, refusal(http.StatusForbidden, metav1.StatusReasonForbidden, "%s is forbidden: exceeded quota: small", kind))
}

func refuse(kind string, st *metav1.Status) func(verb string, k cluster.ObjectRef) *metav1.Status {
	return func(verb string, k cluster.ObjectRef) *metav1.Status {
		if verb == "patch" && k.Kind == kind {
			return st
		}
		return nil
	}
}

func TestFaults(t *testing.T) {
	cases := map[string]struct {
		reason string
		fault  func(verb string, k cluster.ObjectRef) *metav1.Status
		setup  func(b *bench)
		want   string
	}{
		"Quota": {
			reason: "The error must name the object, and the reason of the server.",
			fault:  forbid("ConfigMap"),
			want:   "bad: ConfigMap apps/bad: ConfigMap is forbidden: exceeded quota: small",
		},
		"Invalid": {
			reason: "The error must name the field, in one line.",
			fault:  refuse("ConfigMap", refusal(http.StatusUnprocessableEntity, metav1.StatusReasonInvalid, "ConfigMap \"bad\" is invalid:\n* data.k: Invalid value")),
			want:   `bad: ConfigMap apps/bad: ConfigMap "bad" is invalid: * data.k: Invalid value`,
		},
		"Schema": {
			reason: "If the kind does not have the field, the server answers with an internal error, whose text names the field.",
			fault:  refuse("ConfigMap", refusal(http.StatusInternalServerError, "", "failed to create typed patch object (apps/bad; /v1, Kind=ConfigMap): .dat: field not declared in schema")),
			want:   "bad: ConfigMap apps/bad: failed to create typed patch object (apps/bad; /v1, Kind=ConfigMap): .dat: field not declared in schema",
		},
		"Foreign": {
			reason: "An object of another owner is not changed.",
			setup: func(b *bench) {
				b.s.put(manifestOf(b.t, strings.ReplaceAll(configMap("bad"), `{name: "bad"}`, "{name: bad, namespace: apps}")).Object)
			},
			want: "bad: ConfigMap apps/bad: already exists and does not belong to this module; remove the object, or set adopt",
		},
		"ForeignRelease": {
			reason: "A Helm release of another client is not taken over.",
			setup: func(b *bench) {
				b.s.put(manifestOf(b.t, "apiVersion: v1\nkind: Secret\nmetadata: {name: sh.helm.release.v1.bad.v1, namespace: apps, labels: {owner: helm, name: bad}}").Object)
			},
			want: "bad: Helm release bad in namespace apps already exists and does not belong to this module; uninstall the release, or set adopt",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.s.put(manifestOf(t, namespaceOf("apps")).Object)
			if tc.setup != nil {
				tc.setup(b)
			}
			b.s.fault = tc.fault
			good := install("good", tmplRole, tmplDeploy)
			s := bundleOf(good, install("bad", configMap("bad")))
			_, err := b.Apply(t.Context(), b.c, s)
			if err == nil || err.Error() != tc.want {
				t.Errorf("\n%s\nerror: want %q, got %v", tc.reason, tc.want, err)
			}
			o := b.observe(s)
			if o.State != Error || o.Message != tc.want || o.Parts[0].State != Ready || o.UpToDate {
				t.Errorf("\n%s\nobservation: %+v", tc.reason, o)
			}
			for range 2 { // A failure must not cause changes to other objects.
				b.s.took()
				_, _ = b.Apply(t.Context(), b.c, s)
				for _, r := range b.s.took() {
					if strings.Contains(r, "team-a-web") || strings.Contains(r, "Deployment") {
						t.Errorf("\n%s\nunwanted request: %s", tc.reason, r)
					}
				}
			}
			b.s.fault = nil
			s.Adopt = true
			b.reconcile(s)
			if o := b.observe(s); o.State != Ready {
				t.Errorf("\n%s\nafter the fault: %+v", tc.reason, o)
			}
		})
	}
}

func TestTerminatingNamespace(t *testing.T) {
	b := newBench(t)
	k := b.s.put(manifestOf(t, "apiVersion: v1\nkind: Namespace\nmetadata: {name: apps, finalizers: [x/y]}").Object)
	b.s.terminate(b.s.objects[k])
	s := bundleOf(install("web", configMap("x")))
	_, err := b.Apply(t.Context(), b.c, s)
	if err == nil || !strings.HasPrefix(err.Error(), "web: ConfigMap apps/x: the namespace is being deleted: ") {
		t.Errorf("error: %v", err)
	}
	b.s.remove(k)
	b.reconcile(s)
}

// An install that cannot be rendered may contain what another one no longer contains. It keeps its objects.
func TestNoPruneWhileAnInstallCannotBePlanned(t *testing.T) {
	b := newBench(t)
	b.reconcile(bundleOf(install("a", configMap("x"), configMap("y")), install("b", configMap("z"))))
	broken := install("b", configMap("y"), configMap("z"))
	fetch := broken.Fetch
	broken.Fetch = func(context.Context) (source.Content, error) { return source.Content{}, errors.New("registry is down") }
	s := bundleOf(install("a", configMap("x")), broken)
	uid := b.s.uidOf(key("ConfigMap", "apps", "y"))
	_, err := b.Apply(t.Context(), b.c, s)
	if err == nil || err.Error() != "b: registry is down" {
		t.Errorf("error: %v", err)
	}
	if o := b.observe(s); o.State != Error || o.Message != "b: registry is down" || o.UpToDate {
		t.Errorf("observation: %+v", o)
	}
	s.Installs[1].Fetch = fetch
	b.reconcile(s)
	if got := b.s.uidOf(key("ConfigMap", "apps", "y")); got != uid {
		t.Errorf("ConfigMap y was recreated: want %s, got %s", uid, got)
	}
}

// A source fails even if its error has no text.
func TestFailureWithoutReason(t *testing.T) {
	for _, said := range []string{"", " \n"} {
		b := newBench(t)
		silent := install("web", configMap("x"))
		silent.Fetch = func(context.Context) (source.Content, error) { return source.Content{}, errors.New(said) }
		s := bundleOf(silent)
		const want = "web: failed for an unknown reason"
		if _, err := b.Apply(t.Context(), b.c, s); err == nil || err.Error() != want {
			t.Errorf("Apply(...) after %q: want %q, got %v", said, want, err)
		}
		if o := b.observe(s); o.State != Error || o.Message != want {
			t.Errorf("Observe(...) after %q: want %q, got %s %q", said, want, o.State, o.Message)
		}
		if p, err := b.Plan(t.Context(), b.c, s); err != nil || len(p.Problems) != 1 || p.Problems[0] != want {
			t.Errorf("Plan(...) after %q: want %q, got %q, %v", said, want, p.Problems, err)
		}
	}
}

// An object that cannot be read only holds back what waits for it.
func TestUnreadableObject(t *testing.T) {
	b := newBench(t)
	s := bundleOf(install("first", configMap("first")), install("second", configMap("second")))
	s.Config = configOf(entryFor("first", "Wait=true", ""))
	s.Readiness = []Rule{{CEL: "true", For: key("ConfigMap", "", "").GroupKind()}}
	b.reconcile(s)
	b.restart()
	first, second := key("ConfigMap", "apps", "first"), key("ConfigMap", "apps", "second")
	b.s.remove(second)
	b.s.fault = func(verb string, k cluster.ObjectRef) *metav1.Status {
		if verb == "get" && k == first {
			return refusal(http.StatusInternalServerError, metav1.StatusReasonInternalError, "no answer")
		}
		return nil
	}
	keep := WithCheckpoint([]byte("one"))
	if _, err := b.Apply(t.Context(), b.c, s, keep); err != nil || b.s.uidOf(second) == "" {
		t.Errorf("Apply(...): another object must be repaired: %v", err)
	}
	if inv := b.inventory(s); inv.Checkpoint != nil {
		t.Errorf("Apply(...): no checkpoint must be kept of what cannot read the status: %q", inv.Checkpoint)
	}

	s.Installs[1].Values = map[string]any{"a": "b"}
	r, err := b.Apply(t.Context(), b.c, s, keep)
	const held = "waits until install first is ready, because the config layer sets Wait: "
	if err != nil || !strings.HasPrefix(r.Waiting, held) || !strings.Contains(r.Waiting, "no answer") {
		t.Errorf("Apply(...): want the later install to wait, and why, got %q, %v", r.Waiting, err)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := b.Apply(over, b.c, s, keep); !errors.Is(err, context.Canceled) {
		t.Errorf("Apply(...): want the end of the call, got %v", err)
	}

	b.s.fault = nil
	b.reconcile(s, keep)
	if o := b.observe(s, keep); o.State != Ready || string(o.Checkpoint) != "one" {
		t.Errorf("Observe(...): %+v", o)
	}
}

func TestObjectOfTwoInstalls(t *testing.T) {
	b := newBench(t)
	s := bundleOf(install("a", configMap("x")), install("b", configMap("x"), configMap("y")))
	want := "b: ConfigMap apps/x is also part of a"
	for range 2 {
		if _, err := b.Apply(t.Context(), b.c, s); err == nil || err.Error() != want {
			t.Errorf("error: want %q, got %v", want, err)
		}
	}
	if diff := cmp.Diff(1, len(b.inventory(s).Objects)); diff != "" {
		t.Errorf("entries of the inventory: -want, +got:\n%s", diff)
	}
}

func TestParentIsForeign(t *testing.T) {
	b := newBench(t)
	b.s.put(manifestOf(t, namespaceOf(DefaultNamespace)).Object)
	k := b.s.put(manifestOf(t, "apiVersion: v1\nkind: Secret\nmetadata: {name: team-a-web, namespace: kyma-system}\ndata: {a: Yg==}").Object)
	before := b.s.objects[k].u().GetResourceVersion()
	_, err := b.Apply(t.Context(), b.c, bundleOf(install("web", configMap("x"))))
	if err == nil || !strings.Contains(err.Error(), "Secret kyma-system/team-a-web is not the inventory of this module") {
		t.Errorf("error: %v", err)
	}
	if after := b.s.objects[k].u().GetResourceVersion(); after != before {
		t.Error("the foreign Secret was changed")
	}
}

func TestParentLostItsLabel(t *testing.T) {
	b := newBench(t)
	s := bundleOf(install("web", webTemplates...))
	b.reconcile(s)
	k := key("Secret", DefaultNamespace, "team-a-web")
	unlabel := func() {
		b.s.edit(k, func(u *unstructured.Unstructured) {
			unstructured.RemoveNestedField(u.Object, "metadata", "labels", object.LabelManagedBy)
		})
	}
	unlabel()
	b.restart()
	if o := b.observe(s); o.Exists {
		t.Fatal("the watch must not show the inventory")
	}
	b.apply(s)
	if o := b.observe(s); !o.Exists || !o.UpToDate || o.State != Ready {
		t.Errorf("observation after the label is back: %+v", o)
	}
	unlabel()
	if r := b.take(s); !r.Gone || slices.Contains(b.s.keys(), k.String()) || len(b.s.keys()) != 1 {
		t.Errorf("removal %+v left %q", r, b.s.keys())
	}
}
