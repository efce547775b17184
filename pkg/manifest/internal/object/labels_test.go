// SPDX-License-Identifier: Apache-2.0

package object

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestAddRelease(t *testing.T) {
	u := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": "a"}}}
	AddRelease(u, "web", "apps")
	want := map[string]any{"metadata": map[string]any{
		"name": "a", "labels": map[string]any{LabelHelmManagedBy: "Helm"},
		"annotations": map[string]any{AnnotationReleaseName: "web", AnnotationReleaseNamespace: "apps"},
	}}
	if diff := cmp.Diff(want, u.Object); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}
