// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/internal/fuzztest"
	"github.com/crossplane-contrib/provider-kyma/internal/oci"
	"github.com/crossplane-contrib/provider-kyma/internal/ocm"
)

func TestChartOf(t *testing.T) {
	digest := "sha256:" + strings.Repeat("a", 64)
	signed := &ocm.Digest{HashAlgorithm: "sha256", NormalisationAlgorithm: ocm.NormalisationArtifact, Value: strings.Repeat("a", 64)}
	cases := map[string]struct {
		reason   string
		resource ocm.Resource
		want     *Chart
	}{
		"Ours":      {"What we write is read.", relative("charts/web:1.0.0@"+digest, signed), &Chart{Repository: "charts/web", Tag: "1.0.0", Digest: digest}},
		"Untagged":  {"A digest is enough.", relative("charts/web@"+digest, nil), &Chart{Repository: "charts/web", Digest: digest}},
		"Signed":    {"The digest may be that of the resource.", relative("/charts/web:1.0.0", signed), &Chart{Repository: "charts/web", Tag: "1.0.0", Digest: digest}},
		"Unpinned":  {"A tag can move.", relative("charts/web:1.0.0", nil), nil},
		"Elsewhere": {"A module writes to no repository of another client.", relative("component-descriptors/example.org/x:1.0.0@"+digest, signed), nil},
		"Deeper":    {"A module writes to no repository below that of its charts.", relative("charts/x/web:1.0.0@"+digest, signed), nil},
		"Dots":      {"A module writes to no repository above that of its charts.", relative("charts/..:1.0.0@"+digest, signed), nil},
		"Host":      {"A module writes to no repository in another registry.", relative("charts/web.example.org:5000/x@"+digest, signed), nil},
		"Digest":    {"A malformed digest is refused.", relative("charts/web:1.0.0@sha256:aa", nil), nil},
		"Image":     {"Images are not charts.", ocm.Resource{Type: "ociImage", Access: ocm.Access{Type: ocm.AccessRelativeOCI, Reference: "charts/web@" + digest}}, nil},
		"Layer":     {"Layers are in the module.", ocm.Resource{Type: "helm-chart", Access: ocm.Access{Type: ocm.AccessLocalOCIBlob, Digest: digest}}, nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, ok := ChartOf(&tc.resource)
			if !ok {
				got = nil
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nChartOf(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func relative(reference string, d *ocm.Digest) ocm.Resource {
	return ocm.Resource{Type: "helm-chart", Access: ocm.Access{Type: ocm.AccessRelativeOCI, Reference: reference}, Digest: d}
}

// FuzzChartOf checks that, regardless of the descriptor, a chart that is transferred with a module stays in its directory.
func FuzzChartOf(f *testing.F) {
	for _, s := range []string{"charts/web:1.0.0@sha256:" + strings.Repeat("a", 64), "charts/../x@", "/charts/a:b:c", "charts//a", "component-descriptors/x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		defer fuzztest.Within(t, fuzztest.Limits{Base: 1 << 20, PerByte: 1 << 10}, len(s))()
		r := relative(s, &ocm.Digest{HashAlgorithm: "sha256", NormalisationAlgorithm: ocm.NormalisationArtifact, Value: strings.Repeat("b", 64)})
		c, ok := ChartOf(&r)
		if !ok {
			return
		}
		repository, err := c.In(ocm.Location{BaseURL: "registry.example.org/m", Mapping: ocm.URLPath})
		if err != nil || !strings.HasPrefix(repository, "registry.example.org/m/charts/") || strings.Count(repository, "/") != 3 || strings.Contains(repository, "..") {
			t.Errorf("%q leads to %q, %v", s, repository, err)
		}
		if !oci.ValidDigest(c.Digest) || !oci.ValidTag(c.LayoutTag()) {
			t.Errorf("%q gives digest %q and tag %q", s, c.Digest, c.LayoutTag())
		}
	})
}
