// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest"
)

// TestSourceDigestsStay checks the digest of each source type, which is stored in inventories. If a digest changed, an upgrade
// of the provider would apply everything again. Do not update the values.
func TestSourceDigestsStay(t *testing.T) {
	layer := func(kind v1alpha1.SourceType) v1alpha1.Source {
		return v1alpha1.Source{Type: kind, Repo: "r.example.org/x", Name: "y/z", Ref: digest}
	}
	pathed := func(path string) v1alpha1.Source {
		s := layer(v1alpha1.SourceTypeKustomize)
		s.Path = path
		return s
	}
	chart := func(url, version string) v1alpha1.Source {
		return v1alpha1.Source{Type: v1alpha1.SourceTypeHelmChart, URL: url, ChartName: "web", Version: version}
	}
	const zeros = "sha256:0000000000000000000000000000000000000000000000000000000000000000"
	type want struct {
		Digest string
		Form   manifest.Form
		Path   string
	}
	cases := map[string]struct {
		reason string
		source v1alpha1.Source
		want   want
	}{
		"OCIRef":          {reason: "A chart can be identified by its digest.", source: layer(v1alpha1.SourceTypeOCIRef), want: want{Digest: "oci-ref " + zeros}},
		"OCIChart":        {reason: "A chart in a registry is identified by its digest.", source: chart("oci://r.example.org/charts", "1.2.3"), want: want{Digest: "helm-chart oci://r.example.org/charts web 1.2.3"}},
		"ChartRepository": {reason: "A chart in a chart repository is identified by its digest.", source: chart("https://charts.example.org/", "1.x"), want: want{Digest: "helm-chart https://charts.example.org/ web 1.x"}},
		"LatestChart":     {reason: "A chart without a version ends in a space.", source: chart("https://charts.example.org", ""), want: want{Digest: "helm-chart https://charts.example.org web "}},
		"Raw":             {reason: "Plain YAML of a layer is identified by its digest.", source: layer(v1alpha1.SourceTypeRaw), want: want{Digest: "raw " + zeros, Form: "plain"}},
		"Inline": {
			reason: "Plain YAML in the spec is identified by its digest.", source: v1alpha1.Source{Type: v1alpha1.SourceTypeRaw, Inline: "a: b\n"},
			want: want{Digest: "raw inline sha256:52c9693cf3f219d51ba6af4362ee092c55fb5e6f96d6f9da13c8ede7eff8e71b", Form: "plain"},
		},
		"Kustomize":    {reason: "A kustomization at the root of a layer is identified by its digest.", source: pathed(""), want: want{Digest: "kustomize " + zeros, Form: "kustomize"}},
		"KustomizeDir": {reason: "The directory is not part of the digest of the source.", source: pathed("overlay/a"), want: want{Digest: "kustomize " + zeros, Form: "kustomize", Path: "overlay/a"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			bundle, err := (&content{}).bundleOf(named("n", "m", installs(tc.source)))
			if err != nil {
				t.Fatal(err)
			}
			in := &bundle.Installs[0]
			if diff := cmp.Diff(tc.want, want{Digest: in.Digest, Form: in.Form, Path: in.Path}); diff != "" {
				t.Errorf("\n%s\nbundleOf(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
	bundle, err := (&content{}).bundleOf(named("n", "m", func(m *v1alpha1.Manifest) {
		l := &v1alpha1.LayerSource{Type: v1alpha1.LayerSourceTypeOCIRef, Repo: "r.example.org/x", Name: "y/z", Ref: digest}
		m.Spec.ForProvider.CRDs, m.Spec.ForProvider.Config = l, l
	}))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"crds " + zeros, "config " + zeros}, []string{bundle.CRDs.Digest, bundle.Config.Digest}); diff != "" {
		t.Errorf("layers: -want, +got:\n%s", diff)
	}
}
