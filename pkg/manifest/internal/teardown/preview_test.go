// SPDX-License-Identifier: Apache-2.0

package teardown

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

// Preview must return exactly what Run then deletes, in the same order.
func TestPreview(t *testing.T) {
	finalize := func(w *world, text string) cluster.ObjectRef {
		ref := named(text)
		w.c.Edit("x", ref, func(u *unstructured.Unstructured) { u.SetFinalizers([]string{"example.org/x"}) })
		return ref
	}
	cases := map[string]struct {
		reason string
		given  func(w *world)
		want   []string
	}{
		"Nothing": {reason: "No object is removed.", given: func(*world) {}},
		"All": {
			reason: "Custom resources of removed kinds are deleted first, followed by the stages in reverse order, and within each stage the parts.",
			given:  (*world).addAll,
			want: []string{
				"Widget apps/sample", "Widget apps/main", "ValidatingWebhookConfiguration web", "Deployment apps/web", "ConfigMap apps/web",
				"ConfigMap apps/db", "CustomResourceDefinition widgets.example.org", "Namespace apps",
			},
		},
		"Kept": {
			reason: "The namespace of an orphan is kept.",
			given: func(w *world) {
				w.add("web", aNamespace)
				w.add("web", aConfig).Keep = true
				w.add("web", bConfig)
			},
			want: []string{"ConfigMap apps/db"},
		},
		"KeptNow": {
			reason: "An object that received the keep policy later is kept.",
			given: func(w *world) {
				w.add("web", aNamespace)
				ref := w.add("web", aConfig).Ref()
				w.c.Set("kubectl", ref, object.PolicyKeep, "metadata", "annotations", object.AnnotationResourcePolicy)
			},
		},
		"KeptKind": {
			reason: "The CRD of an orphaned custom resource is kept.",
			given: func(w *world) {
				w.add(object.PartCRDs, aCRD)
				w.add("web", aWidget).Keep = true
				w.add("web", aConfig)
			},
			want: []string{"ConfigMap apps/web"},
		},
		"Deleting": {
			reason: "An object that is being deleted is not deleted again.",
			given: func(w *world) {
				w.add("web", aConfig)
				w.add("web", bConfig)
				w.c.Delete(finalize(w, aConfig))
			},
			want: []string{"ConfigMap apps/db"},
		},
		"Foreign": {
			reason: "Objects of other owners stay, and missing objects need no action.",
			given: func(w *world) {
				ref := w.add("web", aConfig).Ref()
				w.c.Set("kubectl", ref, "applyset-other", "metadata", "labels", object.LabelPartOf)
				w.enter("web", bConfig).UID = "gone"
				w.enter("web", aDeploy)
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, Prune)
			tc.given(w)
			states := map[cluster.ObjectRef]cluster.ObjectState{}
			for _, e := range w.in.Entries {
				if s, ok := w.c.Get(e.Ref()); ok {
					states[e.Ref()] = s
				}
			}
			w.log = nil
			got := names(Preview(w.in.Entries, states, ourSet, w.in.Parts, func(gvk schema.GroupVersionKind) (cluster.Mapping, error) {
				return w.c.Mapping(t.Context(), gvk)
			}))
			if diff := cmp.Diff(tc.want, got); diff != "" || len(w.log) > 0 {
				t.Errorf("\n%s\nPreview(...): requests %q, -want, +got:\n%s", tc.reason, w.log, diff)
			}
			var done []string
			for range 3 {
				for _, line := range w.outcome(t.Context()).Log {
					if ref, ok := strings.CutPrefix(line, "delete "); ok {
						done = append(done, ref)
					}
				}
			}
			if diff := cmp.Diff(tc.want, done); diff != "" {
				t.Errorf("\n%s\nRun(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
