// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/source"
)

const (
	tmplFixed  = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: fixed}\ndata: {k: SIZE}\n"
	fixedError = "ConfigMap apps/fixed: data cannot be changed (field is immutable); to recreate the object, set immutableFields: Recreate, or annotation " +
		`kyma.m.crossplane.io/recreate: "true" on the object in the chart`
)

func invalid(causes ...metav1.StatusCause) *metav1.Status {
	st := refusal(http.StatusUnprocessableEntity, metav1.StatusReasonInvalid, "it is invalid")
	st.Details = &metav1.StatusDetails{Causes: causes}
	return st
}

// fixedBundle returns a bundle with a ConfigMap named fixed, which the server of the bench refuses to change.
func fixedBundle(b *bench, size string) *Bundle {
	k := key("ConfigMap", "apps", "fixed")
	b.s.fault = func(verb string, of cluster.ObjectRef) *metav1.Status {
		o := b.s.objects[of]
		if verb != "patch" || of != k || o == nil || o.u().GetDeletionTimestamp() != nil {
			return nil
		}
		return invalid(metav1.StatusCause{Field: "data", Message: "Forbidden: field is immutable"})
	}
	return bundleOf(install("web", strings.ReplaceAll(tmplFixed, "SIZE", size), configMap("other-"+size)))
}

func TestFixedFieldIsAnError(t *testing.T) {
	b := newBench(t)
	b.reconcile(fixedBundle(b, "small"))
	uid := b.s.uidOf(key("ConfigMap", "apps", "fixed"))
	s := fixedBundle(b, "large")
	for range 2 {
		if _, err := b.Apply(t.Context(), b.c, s); err == nil || err.Error() != "web: "+fixedError {
			t.Fatalf("error: %v", err)
		}
		if o := b.observe(s); o.State != Error || o.Message != "web: "+fixedError {
			t.Errorf("observation: %+v", o)
		}
	}
	if got := b.s.uidOf(key("ConfigMap", "apps", "fixed")); got != uid {
		t.Errorf("it was replaced: %s, %s", uid, got)
	}
	s.Recreate = true
	b.reconcile(s)
	if got := b.s.uidOf(key("ConfigMap", "apps", "fixed")); got == uid || got == "" {
		t.Errorf("it was not replaced: %s", got)
	}
}

func TestRecreate(t *testing.T) {
	fixed := key("ConfigMap", "apps", "fixed")
	cases := map[string]struct {
		reason string
		ask    func(s *Bundle)
	}{
		"Bundle": {reason: "The bundle may allow it.", ask: func(s *Bundle) { s.Recreate = true }},
		"Annotation": {
			reason: "The object may allow it.",
			ask: func(s *Bundle) {
				s.Installs[0] = install("web", strings.Replace(strings.ReplaceAll(tmplFixed, "SIZE", "large"),
					"name: fixed", "name: fixed, annotations: {kyma.m.crossplane.io/recreate: \"true\"}", 1), configMap("other-large"))
			},
		},
		"Force": {
			reason: "Helm's flag for it may allow it.",
			ask: func(s *Bundle) {
				l := layerOf([]source.File{{Name: "c.yaml", Data: []byte("configs: [{name: web, clientConfig: Force=true}]")}})
				s.Config = &l
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.reconcile(fixedBundle(b, "small"))
			uid := b.s.uidOf(fixed)
			b.s.edit(fixed, func(u *unstructured.Unstructured) { u.SetFinalizers([]string{"x/y"}) })
			s := fixedBundle(b, "large")
			tc.ask(s)
			r := b.apply(s)
			if !slices.Equal(r.Recreated, []cluster.ObjectRef{fixed}) {
				t.Errorf("\n%s\nrecreated: %v", tc.reason, r.Recreated)
			}
			for range 2 {
				if o := b.observe(s); o.State != Processing || !strings.Contains(o.Message, "ConfigMap apps/fixed: is being recreated: is being deleted, waiting for finalizer x/y") {
					t.Errorf("\n%s\nobservation: %+v", tc.reason, o)
				}
				b.s.took()
				if r := b.apply(s); len(r.Recreated) > 0 {
					t.Errorf("\n%s\nrecreated again: %v", tc.reason, r.Recreated)
				}
				for _, q := range b.s.took() {
					if strings.HasPrefix(q, "delete ") {
						t.Errorf("\n%s\nwhile it waits: %s", tc.reason, q)
					}
				}
			}
			b.s.remove(fixed)
			b.reconcile(s)
			if got := b.s.uidOf(fixed); got == uid || got == "" {
				t.Errorf("\n%s\nit was not replaced: %q", tc.reason, got)
			}
			if en := b.inventory(s).Find(fixed); en == nil || en.UID != string(b.s.uidOf(fixed)) {
				t.Errorf("\n%s\nentry: %+v", tc.reason, en)
			}
		})
	}
}

// If a process dies at any write of a recreation, the next one finishes the recreation, or removes everything.
func TestRecreateCrash(t *testing.T) {
	for _, lost := range []bool{false, true} {
		for n := range 8 {
			for _, remove := range []bool{false, true} {
				b := newBench(t)
				b.reconcile(fixedBundle(b, "small"))
				s := fixedBundle(b, "large")
				s.Recreate = true
				b.c.cutAfter(n, lost)
				_, _ = b.Apply(t.Context(), b.c, s)
				b.restart()
				if remove {
					if r := b.take(s); !r.Gone || b.s.uidOf(key("ConfigMap", "apps", "fixed")) != "" {
						t.Errorf("cut after %d writes, lost %v: removal %+v, left %q", n, lost, r, b.s.keys())
					}
					continue
				}
				b.reconcile(s)
				en := b.inventory(s).Find(key("ConfigMap", "apps", "fixed"))
				got := b.s.objects[en.Ref()]
				if en.UID != string(got.u().GetUID()) || got.content["data"].(map[string]any)["k"] != "large" {
					t.Errorf("cut after %d writes, lost %v: %+v, %+v", n, lost, en, got.content)
				}
			}
		}
	}
}

func TestNeverRecreated(t *testing.T) {
	ns := key("Namespace", "", "own")
	b := newBench(t)
	of := func(v string) *Bundle {
		s := bundleOf(install("web", strings.Replace(namespaceOf("own"), "name: own", "name: own, labels: {v: "+v+"}", 1)))
		s.Recreate = true
		return s
	}
	b.reconcile(of("one"))
	b.s.fault = func(verb string, of cluster.ObjectRef) *metav1.Status {
		if verb == "patch" && of == ns {
			return invalid(metav1.StatusCause{Field: "spec", Message: "Forbidden: field is immutable"})
		}
		return nil
	}
	_, err := b.Apply(t.Context(), b.c, of("two"))
	if err == nil || !strings.Contains(err.Error(), "its content would be lost") || b.s.uidOf(ns) == "" {
		t.Errorf("error: %v", err)
	}
}
