// SPDX-License-Identifier: Apache-2.0

package module

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/fuzztest"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/archive"
	"github.com/crossplane-contrib/provider-kyma/internal/ocm"
)

const (
	digestA = "sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	digestB = "sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
)

func TestChart(t *testing.T) {
	located := &ocm.Location{BaseURL: "https://reg.example.org", SubPath: "modules"}
	hashed := &ocm.Location{BaseURL: "reg.example.org/modules", Mapping: ocm.SHA256Digest}
	digest := func(normalisation, d string) *ocm.Digest {
		return &ocm.Digest{HashAlgorithm: "SHA-256", NormalisationAlgorithm: normalisation, Value: strings.TrimPrefix(d, "sha256:")}
	}
	blob := func(repo, name string) *v1alpha1.Source {
		return &v1alpha1.Source{Type: v1alpha1.SourceTypeOCIRef, Repo: repo, Name: name, Ref: digestA}
	}
	chart := func(url, name, version string) *v1alpha1.Source {
		return &v1alpha1.Source{Type: v1alpha1.SourceTypeHelmChart, URL: url, ChartName: name, Version: version}
	}
	type want struct {
		source *v1alpha1.Source
		err    string
	}
	cases := map[string]struct {
		reason   string
		location *ocm.Location
		access   ocm.Access
		digest   *ocm.Digest
		want     want
	}{
		"LocalOCIBlob": {
			reason:   "A local blob is a layer of the component; the scheme is removed from the repository.",
			location: located,
			access:   ocm.Access{Type: ocm.AccessLocalOCIBlob, Digest: digestA},
			want:     want{source: blob("reg.example.org/modules/component-descriptors", sample)},
		},
		"LocalBlob": {
			reason:   "A local blob of OCM is handled in the same way, and its digest is compared.",
			location: hashed,
			access:   ocm.Access{Type: ocm.AccessLocalBlob, Digest: digestA},
			digest:   digest(blobDigest, digestA),
			want:     want{source: blob("reg.example.org/modules", strings.TrimPrefix(sum([]byte(sample)), "sha256:"))},
		},
		"OtherDigest": {
			reason:   "The fetched content must be the signed content.",
			location: located,
			access:   ocm.Access{Type: ocm.AccessLocalBlob, Digest: digestB},
			digest:   digest(blobDigest, digestA),
			want:     want{err: "access localBlob refers to " + digestB + ", but the digest of the resource is " + digestA + ": they must be equal"},
		},
		"ExcludedDigest": {
			reason:   "A digest that is explicitly excluded is not compared.",
			location: located,
			access:   ocm.Access{Type: ocm.AccessLocalBlob, Digest: digestA},
			digest:   &ocm.Digest{HashAlgorithm: "NO-DIGEST", NormalisationAlgorithm: "EXCLUDE-FROM-SIGNATURE", Value: "NO-DIGEST"},
			want:     want{source: blob("reg.example.org/modules/component-descriptors", sample)},
		},
		"NoDigest": {
			reason:   "A local blob must have a digest.",
			location: located,
			access:   ocm.Access{Type: ocm.AccessLocalOCIBlob, Digest: "1.0.0"},
			want:     want{err: `access localOciBlob has malformed digest "1.0.0": must be sha256: followed by 64 hexadecimal digits`},
		},
		"NoLocation": {
			reason: "A local blob requires a repository.",
			access: ocm.Access{Type: ocm.AccessLocalOCIBlob, Digest: digestA},
			want:   want{err: "access localOciBlob requires a repository context of type ociRegistry, but the descriptor has none"},
		},
		"OCIBlob": {
			reason: "A blob may be in another repository.",
			access: ocm.Access{Type: ocm.AccessOCIBlob, Reference: "https://other.example.org:5000/a/b", Digest: digestA},
			want:   want{source: blob("other.example.org:5000/a", "b")},
		},
		"ArtifactPinned": {
			reason: "A chart that is specified by digest is fetched by digest.",
			access: ocm.Access{Type: ocm.AccessOCIArtifact, Reference: "reg.example.org/charts/mysql:9.4.1@" + digestA},
			want:   want{source: blob("reg.example.org/charts", "mysql")},
		},
		"ArtifactDigest": {
			reason: "A chart is also pinned by the digest of its resource.",
			access: ocm.Access{Type: ocm.AccessOCIRegistry, Reference: "reg.example.org/charts/mysql:9.4.1"},
			digest: digest(artifactDigest, digestA),
			want:   want{source: blob("reg.example.org/charts", "mysql")},
		},
		"ArtifactContradiction": {
			reason: "Two different digests are an error.",
			access: ocm.Access{Type: ocm.AccessOCIRegistry, Reference: "reg.example.org/charts/mysql@" + digestB},
			digest: digest(artifactDigest, digestA),
			want:   want{err: "access ociRegistry refers to " + digestB + ", but the digest of the resource is " + digestA + ": they must be equal"},
		},
		"ArtifactTag": {
			reason: "A chart without a digest is fetched by version.",
			access: ocm.Access{Type: ocm.AccessOCIRegistry, Reference: "reg.example.org:5000/charts/mysql:9.4.1"},
			want:   want{source: chart("oci://reg.example.org:5000/charts", "mysql", "9.4.1")},
		},
		"ArtifactBare": {
			reason: "A chart must have a version.",
			access: ocm.Access{Type: ocm.AccessOCIRegistry, Reference: "reg.example.org:5000/charts/mysql"},
			want:   want{err: `access ociRegistry refers to "reg.example.org:5000/charts/mysql", which has neither a tag nor a digest`},
		},
		"Relative": {
			reason:   "A relative reference starts at the repository context.",
			location: located,
			access:   ocm.Access{Type: ocm.AccessRelativeOCI, Reference: "charts/mysql:9.4.1"},
			want:     want{source: chart("oci://reg.example.org/modules/charts", "mysql", "9.4.1")},
		},
		"RelativePinned": {
			reason:   "A chart that is a separate artifact of the module is pulled by its digest.",
			location: located,
			access:   ocm.Access{Type: ocm.AccessRelativeOCI, Reference: "charts/mysql:9.4.1_b@sha256:" + strings.Repeat("a", 64)},
			want: want{source: &v1alpha1.Source{
				Type: v1alpha1.SourceTypeOCIRef, Repo: "reg.example.org/modules/charts", Name: "mysql", Ref: "sha256:" + strings.Repeat("a", 64),
			}},
		},
		"RelativeNowhere": {
			reason: "Such a chart requires a repository.",
			access: ocm.Access{Type: ocm.AccessRelativeOCI, Reference: "charts/mysql:9.4.1"},
			want:   want{err: "access relativeOciReference requires a repository context"},
		},
		"ChartRepository": {
			reason: "A chart may be in a chart repository.",
			access: ocm.Access{Type: ocm.AccessHelmChart, ChartURL: "https://charts.example.org", ChartName: "mysql", ChartVersion: "9.4.1"},
			want:   want{source: chart("https://charts.example.org", "mysql", "9.4.1")},
		},
		"ChartWithoutVersion": {
			reason: "A chart in a chart repository must have a version.",
			access: ocm.Access{Type: ocm.AccessHelmChart, ChartURL: "https://charts.example.org", ChartName: "mysql"},
			want:   want{err: "the version of the chart is missing"},
		},
		"ChartAtFile": {
			reason: "A chart repository must not be a file URL.",
			access: ocm.Access{Type: ocm.AccessHelmChart, ChartURL: "file:///etc", ChartName: "mysql", ChartVersion: "1.0.0"},
			want:   want{err: `malformed chart URL "file:///etc"`},
		},
		"ChartCredentials": {
			reason: "Credentials in a URL are rejected, and not shown.",
			access: ocm.Access{Type: ocm.AccessHelmChart, ChartURL: "https://user:pass@charts.example.org", ChartName: "mysql", ChartVersion: "1.0.0"},
			want:   want{err: "the URL of the chart contains credentials"},
		},
		"ReferenceCredentials": {
			reason: "Credentials that contain a slash are not shown.",
			access: ocm.Access{Type: ocm.AccessOCIRegistry, Reference: "user:pass/word@reg.example.org/charts/mysql:1"},
			want:   want{err: "access ociRegistry: the text after @ in the reference must be a digest"},
		},
		"ChartName": {
			reason: "The name of a chart must be valid for the API.",
			access: ocm.Access{Type: ocm.AccessHelmChart, ChartURL: "https://charts.example.org", ChartName: "my sql", ChartVersion: "1.0.0"},
			want:   want{err: `invalid chart name "my sql"`},
		},
		"ChartURL": {
			reason: "The API limits the length of a URL.",
			access: ocm.Access{Type: ocm.AccessHelmChart, ChartURL: "https://charts.example.org/" + strings.Repeat("a", 2048), ChartName: "mysql", ChartVersion: "1.0.0"},
			want:   want{err: "the URL of the chart is longer than 2048 characters"},
		},
		"ChartVersion": {
			reason: "The version of a chart must be valid for the API.",
			access: ocm.Access{Type: ocm.AccessHelmChart, ChartURL: "https://charts.example.org", ChartName: "mysql", ChartVersion: strings.Repeat("1", 129)},
			want:   want{err: "chart version "},
		},
		"Host": {
			reason:   "The host of a URL must be valid.",
			location: &ocm.Location{BaseURL: "reg example.org/modules"},
			access:   ocm.Access{Type: ocm.AccessLocalBlob, Digest: digestA},
			want:     want{err: `repository "reg example.org/modules/component-descriptors"`},
		},
		"Web": {
			reason: "The error for an unsupported access type names it.",
			access: ocm.Access{Type: "web"},
			want:   want{err: `access "web" is not supported for charts`},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := &sourcer{component: sample, location: tc.location}
			got, err := s.chart(&ocm.Resource{Name: "chart", Type: "helm-chart", Access: tc.access, Digest: tc.digest})
			if err == nil {
				err = validateSource(got)
			}
			if tc.want.err != "" {
				if err == nil || !strings.HasPrefix(err.Error(), tc.want.err) || strings.Contains(err.Error(), "user:pass") {
					t.Errorf("\n%s\nchart(...): want error %q, got %v", tc.reason, tc.want.err, err)
				}
				return
			}
			if diff := cmp.Diff(tc.want.source, got); err != nil || diff != "" {
				t.Errorf("\n%s\nchart(...): %v, -want, +got:\n%s", tc.reason, err, diff)
			}
		})
	}
}

func TestLayer(t *testing.T) {
	s := &sourcer{component: sample}
	_, err := s.layer(&ocm.Resource{Name: "crds", Type: "yaml", Access: ocm.Access{Type: ocm.AccessOCIArtifact, Reference: "reg.example.org/a/b:1"}})
	if want := `access "ociArtifact" is not supported for type "yaml": must be localOciBlob, localBlob or ociBlob`; err == nil || err.Error() != want {
		t.Errorf("an artifact is not a layer\nlayer(...): want error %q, got %v", want, err)
	}
}

func FuzzParseReference(f *testing.F) {
	for _, s := range []string{"reg.example.org/a/b:1", "oci://reg.example.org:5000/a@" + digestA, "a", "user:pass@reg.example.org/a:1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		defer fuzztest.Within(t, fuzztest.Limits{Base: 1 << 20, PerByte: 1 << 10}, len(s))()
		r, err := parseReference(s)
		if err == nil && (r.repo == "" || r.name == "" || strings.Contains(r.repo, "@")) {
			t.Errorf("parseReference(%q) is %+v", s, r)
		}
	})
}

func FuzzDecodeCustomResource(f *testing.F) {
	f.Add([]byte("apiVersion: v1\nkind: X\n---\n"))
	f.Add([]byte(`{"apiVersion":"v1","kind":"X","spec":{"a":1e400}}`))
	f.Fuzz(func(t *testing.T, layer []byte) {
		defer fuzztest.Within(t, fuzztest.Limits{Base: 64 << 20, PerByte: 16 << 10}, len(layer))()
		got, err := decodeCustomResource(layer, archive.DefaultLimits())
		if err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("the error has more than one line: %q", err)
		}
		if err == nil && len(got.Raw) == 0 {
			t.Error("want an object")
		}
	})
}
