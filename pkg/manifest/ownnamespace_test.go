// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/observe"
)

// TestOwnNamespace checks that a namespace that a bundle contains is never created as one that it doesn't contain, because the bundle
// could then not apply it any more.
func TestOwnNamespace(t *testing.T) {
	namespace := key("Namespace", "", "own")
	of := func(value string) *Bundle {
		return bundleOf(plainOf("raw", namespaceOf("own"), "{apiVersion: v1, kind: ConfigMap, metadata: {name: in, namespace: own}, data: {k: "+value+"}}"))
	}
	cases := map[string]struct {
		reason string
		given  func(b *bench)
		harm   func(b *bench)
	}{
		"Deleted": {
			reason: "Another client deletes the namespace while the objects in it are applied.",
			given:  func(b *bench) { b.reconcile(of("one")) },
			harm: func(b *bench) {
				b.interrupt(http.MethodPatch, "/namespaces/own/configmaps/in", func() { b.s.remove(namespace) })
			},
		},
		"Refused": {
			reason: "A webhook refuses the namespace.",
			harm: func(b *bench) {
				b.s.fault = func(verb string, k cluster.ObjectRef) *metav1.Status {
					if verb == "patch" && k == namespace {
						return refusal(http.StatusBadRequest, "", "admission webhook denied the request")
					}
					return nil
				}
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			if tc.given != nil {
				tc.given(b)
			}
			tc.harm(b)
			if r, err := b.Apply(t.Context(), b.c, of("two")); err == nil {
				t.Errorf("\n%s\nApply(...): want an error, got %+v", tc.reason, r)
			}
			if o := b.s.objects[namespace]; o != nil {
				t.Errorf("\n%s\nthe namespace was created with the labels %v", tc.reason, o.u().GetLabels())
			}
			b.s.fault = nil
			b.reconcile(of("two"))
			if diff := cmp.Diff(b.ID(of("two")), b.s.objects[namespace].u().GetLabels()[object.LabelPartOf]); diff != "" {
				t.Errorf("\n%s\nowner of the namespace: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestOwnNamespaceOfRelease checks the same for the record and the hooks of a release, and that the next step is not a failure.
func TestOwnNamespaceOfRelease(t *testing.T) {
	namespace := key("Namespace", "", "apps")
	of := func(hooks ...string) *Bundle {
		return bundleOf(install("web", append(hooks, namespaceOf("apps"), tmplConfig)...))
	}
	cases := map[string]struct {
		reason       string
		bundle       *Bundle
		method, path string
	}{
		"Object": {reason: "An object is applied.", bundle: of(), method: http.MethodPatch, path: "/namespaces/apps/configmaps/web"},
		"Record": {reason: "The release is recorded.", bundle: of(), method: http.MethodPost, path: "/namespaces/apps/secrets"},
		"Hook":   {reason: "A hook runs.", bundle: of(hookJob("first", "pre-install")), method: http.MethodPatch, path: "/namespaces/apps/jobs/first"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			reached := false
			b.interrupt(tc.method, tc.path, func() {
				reached = true
				b.s.remove(namespace)
			})
			if r, err := b.Apply(t.Context(), b.c, tc.bundle); err == nil || !reached {
				t.Errorf("\n%s\nApply(...): want an error in the middle, got %+v", tc.reason, r)
			}
			if o := b.s.objects[namespace]; o != nil {
				t.Errorf("\n%s\nthe namespace was created with the labels %v", tc.reason, o.u().GetLabels())
			}
			if seen := b.observe(tc.bundle); seen.Parts[0].Phase != observe.PhaseRetrying {
				t.Errorf("\n%s\nObserve(...): want a part that is retried, got %+v", tc.reason, seen.Parts)
			}
			b.reconcile(tc.bundle)
			if diff := cmp.Diff(b.ID(tc.bundle), b.s.objects[namespace].u().GetLabels()[object.LabelPartOf]); diff != "" {
				t.Errorf("\n%s\nowner of the namespace: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
