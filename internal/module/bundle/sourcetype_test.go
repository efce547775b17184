// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/source/sourcetest"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest"
)

// TestNewSourceType shows that a bundle can render and describe a new source type without changes.
func TestNewSourceType(t *testing.T) {
	p := &v1alpha1.ManifestParameters{Installs: []v1alpha1.Install{
		{Name: "plain", Namespace: "default", Source: *sourcetest.Tree("https://trees.example.org/a", "sha256:1")},
	}}
	set, err := bundleOf(p, puller{})
	if err != nil {
		t.Fatal(err)
	}
	previews, err := manifest.PreviewOf(t.Context(), set, KubeVersion)
	if err != nil {
		t.Fatal(err)
	}
	got := installOf(p, &previews[0])
	want := []shown{{Name: "plain", Kind: KindRaw, Objects: []string{"ConfigMap default/from-tree"}}}
	if diff := cmp.Diff(want, show([]Install{got})); diff != "" || got.Source != "https://trees.example.org/a@sha256:1" {
		t.Errorf("source %s, -want, +got:\n%s", got.Source, diff)
	}
	p.Installs[0].Source.Type = "svn"
	if _, err := bundleOf(p, puller{}); err == nil || err.Error() != `install plain: unknown source type "svn"` {
		t.Errorf("bundleOf(...): want the type that is unknown, got %v", err)
	}
}
