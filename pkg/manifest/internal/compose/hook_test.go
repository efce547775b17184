// SPDX-License-Identifier: Apache-2.0

package compose

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/internal/render/record"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/bundle"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

func TestBuildHook(t *testing.T) {
	type want struct {
		Ref         string
		Labels      []string
		Annotations map[string]string
		Err         string
	}
	cases := map[string]struct {
		reason   string
		manifest string
		want     want
	}{
		"Job": {
			reason:   "A hook is in the namespace of its release, has the labels of the bundle, and is not a member of the release.",
			manifest: "{apiVersion: batch/v1, kind: Job, metadata: {name: j, annotations: {a: b}}}",
			want:     want{Ref: "Job apps/j", Labels: []string{object.LabelPartOf}, Annotations: map[string]string{"a": "b", object.AnnotationHookRun: "run"}},
		},
		"Elsewhere": {
			reason:   "A hook may name its namespace.",
			manifest: "{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: other}}",
			want:     want{Ref: "ConfigMap other/c", Labels: []string{object.LabelPartOf}, Annotations: map[string]string{object.AnnotationHookRun: "run"}},
		},
		"Nothing": {reason: "A hook is one object.", manifest: "# empty", want: want{Err: "must be a single object with a name"}},
		"Unknown": {reason: "The cluster must serve its kind.", manifest: "{apiVersion: v1, kind: Gadget, metadata: {name: g}}", want: want{Err: "Gadget g: the cluster does not serve kind Gadget in v1"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			o, err := composerOf(&bundle.Bundle{}).BuildHook(t.Context(), &Installation{Namespace: "apps", KeepNamespaces: true}, "web", &record.Hook{Manifest: tc.manifest}, "run")
			got := want{Err: textOf(err)}
			if err == nil {
				if !o.KeepNamespaces {
					t.Errorf("\n%s\na missing namespace would be created", tc.reason)
				}
				got.Ref, got.Labels, got.Annotations = o.Ref.String(), sortedKeys(labelsOf(t, &o)), o.Annotations()
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nBuildHook(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestBuildHookLearns checks that a hook may be of a kind that an earlier hook adds.
func TestBuildHookLearns(t *testing.T) {
	c := composerOf(&bundle.Bundle{})
	for _, manifest := range []string{widgetCRD, widget} {
		if _, err := c.BuildHook(t.Context(), &Installation{Namespace: "apps"}, "web", &record.Hook{Manifest: manifest}, "run"); err != nil {
			t.Error(err)
		}
	}
}
