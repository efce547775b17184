// SPDX-License-Identifier: Apache-2.0

package source

import (
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestSourceDigestsStay fixes the digest of each source, because inventories in target clusters depend on it. With another digest,
// an upgrade of the library would apply everything again. Do not update the values.
func TestSourceDigestsStay(t *testing.T) {
	const zeros = "sha256:0000000000000000000000000000000000000000000000000000000000000000"
	made := func(l Layer, err error) Layer {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	got := map[string]string{
		"YAML":            YAML([]byte("a: b\n")).Digest,
		"NoYAML":          YAML(nil).Digest,
		"FS":              made(FS(fstest.MapFS{"b/c.yaml": {Data: []byte("c")}, "a.yaml": {Data: []byte("a: b\n")}})).Digest,
		"Objects":         made(Objects(&unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "a"}}})).Digest,
		"Tag":             made(OCI("oci://r.example.org/charts/web:1.2.3")).Digest,
		"Digest":          made(OCI("r.example.org/charts/web@" + zeros)).Digest,
		"Both":            made(OCI("r.example.org/charts/web:1.2.3@" + zeros)).Digest,
		"ChartRepository": made(ChartRepository("https://charts.example.org/", "web", "^1.0.0")).Digest,
	}
	want := map[string]string{
		"YAML":            "files 8b35e8a95f036de23a350e16ac136b89579b461b0776db937de0769be2128604",
		"NoYAML":          "files aebdf33c88f8fb587274026029988c722028c080d27d2a5bbff691442b1db8d1",
		"FS":              "files 00dd5afc4f2f0ac7e95937c0c141d7ea17a95538e8efe6c59fd007354102af66",
		"Objects":         "files b980a8e937afb444e3d78a0118004bdff678769c5200c30ec8489f7e30de5a06",
		"Tag":             "oci r.example.org/charts/web:1.2.3",
		"Digest":          "oci r.example.org/charts/web@" + zeros,
		"Both":            "oci r.example.org/charts/web:1.2.3@" + zeros,
		"ChartRepository": "helm-chart https://charts.example.org/ web ^1.0.0",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}
