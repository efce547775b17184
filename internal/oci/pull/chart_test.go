// SPDX-License-Identifier: Apache-2.0

package pull

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/internal/oci"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/layers"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/ocitest"
)

const imageConfig = "application/vnd.oci.image.config.v1+json"

func TestChartByDigest(t *testing.T) {
	s := ocitest.NewRegistry(t)
	data := ocitest.Chart(t, "digest")
	blob := s.Push(t, repo, data)
	helm := s.PushManifest(t, repo, "helm", layers.HelmConfig, layers.HelmContent, data)
	legacy := s.PushManifest(t, repo, "legacy", layers.HelmConfig, "application/tar+gzip", data)
	image := s.PushManifest(t, repo, "image", imageConfig, layers.HelmContent, data)
	empty := s.PushManifest(t, repo, "empty", layers.HelmConfig, "application/x", data)
	index := s.PushIndex(t, repo, helm)
	config := s.Push(t, repo, []byte(`{"name":"app","version":"1.0.0","apiVersion":"v2"}`))

	fetchEach(t, s, (*Client).ChartByDigest, map[string]byDigest{
		"Blob":     {reason: "Modules refer to the layer.", digest: blob, want: data},
		"Manifest": {reason: "The manifest of a chart leads to its layer.", digest: helm, want: data},
		"Legacy":   {reason: "Old charts have another type of layer.", digest: legacy, want: data},
		"Image":    {reason: "An image is not a chart.", digest: image, err: "not a chart: the config has type"},
		"NoLayer":  {reason: "A chart has a layer.", digest: empty, err: "not a chart: the manifest has no layer of type"},
		"Index":    {reason: "An index is not a chart.", digest: index, err: "not a chart: the digest is that of an index"},
		"Config":   {reason: "The configuration of a chart is named as what it is.", digest: config, err: "not a chart: the blob is JSON, such as the config of a chart; use the digest of the manifest, or of the layer of type \"application/vnd.cncf.helm.chart.content.v1.tar+gzip\""},
		"Missing":  {reason: "The digest is that of neither a blob nor a manifest.", digest: oci.DigestOf(nil), err: "(404 Not Found)"},
		"Tag":      {reason: "A tag can move.", digest: "helm", err: `"helm" is a tag or a version`},
	})
}

func TestChart(t *testing.T) {
	s := ocitest.NewRegistry(t)
	data := ocitest.Chart(t, "chart")
	manifest := s.PushManifest(t, "charts/sample", "1.2.3_build", layers.HelmConfig, layers.HelmContent, data)
	want := Artifact{Data: data, Digest: oci.DigestOf(data), Version: "1.2.3+build"}

	cases := map[string]struct {
		reason  string
		url     string
		chart   string
		version string
		want    Artifact
		err     string
	}{
		"Version":    {reason: "A plus cannot be in a tag.", url: "oci://" + s.Host() + "/charts", chart: "sample", version: "1.2.3+build", want: want},
		"Tag":        {reason: "The tag itself works as well, and so does a slash.", url: "oci://" + s.Host() + "/charts/", chart: "sample", version: "1.2.3_build", want: want},
		"WholeURL":   {reason: "The URL may name the chart.", url: "oci://" + s.Host() + "/charts/sample", version: "1.2.3_build", want: want},
		"Digest":     {reason: "The manifest is found by its digest.", url: "oci://" + s.Host() + "/charts", chart: "sample", version: manifest, want: want},
		"BlobDigest": {reason: "The layer is found by its digest, and says no version.", url: "oci://" + s.Host() + "/charts", chart: "sample", version: want.Digest, want: Artifact{Data: data, Digest: want.Digest}},
		"NoTag":      {reason: "A version that is not there is named.", url: "oci://" + s.Host() + "/charts", chart: "sample", version: "9.9.9", err: `has no tag "9.9.9" in repository "charts/sample" (404 Not Found)`},
		"Range":      {reason: "Ranges are for repositories with an index.", url: "oci://" + s.Host() + "/charts", chart: "sample", version: ">=1.0.0", err: "version ranges are only supported in http(s):// chart repositories"},
		"Empty":      {reason: "There is no newest.", url: "oci://" + s.Host() + "/charts", chart: "sample", err: "must be an exact version or a digest"},
		"Scheme":     {reason: "Only OCI registries are supported.", url: "https://" + s.Host() + "/charts", chart: "sample", version: "1.2.3", err: "does not begin with oci://"},
		"NotListed":  {reason: "Lists hold for charts too.", url: "oci://example.org/charts", chart: "sample", version: "1.2.3", err: `registry host "example.org" is not allowed`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := newClient(t).Chart(t.Context(), s.Plain("", ""), tc.url, tc.chart, tc.version)
			if tc.err == "" && err != nil || !strings.Contains(text(err), tc.err) {
				t.Errorf("\n%s\nChart(...): error %q does not contain %q", tc.reason, text(err), tc.err)
			}
			if tc.err != "" {
				return
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nChart(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestChartTag checks that a tag is resolved each time, with one HEAD request, and that a moved tag is detected.
func TestChartTag(t *testing.T) {
	s := ocitest.NewRegistry(t)
	one, two := ocitest.Chart(t, "one"), ocitest.Chart(t, "two")
	p := newClient(t)
	pull := func() []byte {
		t.Helper()
		s.Forget()
		a, err := p.Chart(t.Context(), s.Plain("", ""), "oci://"+s.Host()+"/charts", "sample", "1.2.3")
		if err != nil {
			t.Fatal(err)
		}
		return a.Data
	}
	s.PushManifest(t, "charts/sample", "1.2.3", layers.HelmConfig, layers.HelmContent, one)
	if got := pull(); !cmp.Equal(one, got) {
		t.Error("Chart(...): want the first chart")
	}
	if got := pull(); !cmp.Equal(one, got) || s.Count("HEAD", "/manifests/1.2.3") != 1 || s.Count("", "") != 1 {
		t.Errorf("Chart(...) again: want one HEAD, got %v", s.Requests())
	}
	s.PushManifest(t, "charts/sample", "1.2.3", layers.HelmConfig, layers.HelmContent, two)
	if got := pull(); !cmp.Equal(two, got) {
		t.Error("Chart(...) after the tag moved: want the second chart")
	}
}
