// SPDX-License-Identifier: Apache-2.0

package source

import (
	"context"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/oci"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/archive"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/pull"
	"github.com/crossplane-contrib/provider-kyma/package/crds"
	engine "github.com/crossplane-contrib/provider-kyma/pkg/manifest"
)

const zeros = "sha256:0000000000000000000000000000000000000000000000000000000000000000"

func kustomization(path string) *v1alpha1.Source {
	return &v1alpha1.Source{Type: v1alpha1.SourceTypeKustomize, Repo: "r.example.org/x", Name: "y/z", Ref: zeros, Path: path}
}

func inlined(text string) *v1alpha1.Source {
	return &v1alpha1.Source{Type: v1alpha1.SourceTypeRaw, Inline: text}
}

// TestAllTypes verifies that exactly the types of the API are registered.
func TestAllTypes(t *testing.T) {
	files, err := fs.Glob(crds.Files, "*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	schemas := 0
	for _, name := range files {
		data, err := crds.Files.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var doc any
		if err := yaml.Unmarshal(data, &doc); err != nil {
			t.Fatal(err)
		}
		for _, enum := range typesIn(doc) {
			schemas++
			if diff := cmp.Diff(enum, slices.Sorted(maps.Keys(types))); diff != "" {
				t.Errorf("%s: types of the API, types that are registered: -want, +got:\n%s", name, diff)
			}
		}
	}
	if schemas < 2 {
		t.Errorf("Manifests and ModuleTemplates have sources, and only %d schemas were found", schemas)
	}
}

// typesIn returns the sorted values of the field type of each Source in a schema. A LayerSource has no chartName.
func typesIn(node any) [][]v1alpha1.SourceType {
	var out [][]v1alpha1.SourceType
	switch n := node.(type) {
	case []any:
		for _, child := range n {
			out = append(out, typesIn(child)...)
		}
	case map[string]any:
		field, _ := n["type"].(map[string]any)
		if enum, ok := field["enum"].([]any); ok && n["chartName"] != nil && n["inline"] != nil {
			var values []v1alpha1.SourceType
			for _, v := range enum {
				values = append(values, v1alpha1.SourceType(v.(string)))
			}
			slices.Sort(values)
			out = append(out, values)
		}
		for _, child := range n {
			out = append(out, typesIn(child)...)
		}
	}
	return out
}

// calls records the calls of a Puller.
type calls []string

func (c *calls) call(parts ...string) error {
	*c = append(*c, strings.Join(parts, " "))
	return errors.New("down")
}

func (c *calls) Blob(_ context.Context, _ oci.Registries, repo, digest string) ([]byte, error) {
	return nil, c.call("Blob", repo, digest)
}

func (c *calls) Layer(_ context.Context, _ oci.Registries, repo, digest string) ([]byte, error) {
	return nil, c.call("Layer", repo, digest)
}

func (c *calls) ChartByDigest(_ context.Context, _ oci.Registries, repo, digest string) ([]byte, error) {
	return nil, c.call("ChartByDigest", repo, digest)
}

func (c *calls) Chart(_ context.Context, _ oci.Registries, url, chartName, version string) (pull.Artifact, error) {
	return pull.Artifact{}, c.call("Chart", url, chartName, version)
}

func (c *calls) RepoChart(_ context.Context, _ oci.Registries, url, chartName, version string) (pull.Artifact, error) {
	return pull.Artifact{}, c.call("RepoChart", url, chartName, version)
}

func TestSources(t *testing.T) {
	type want struct {
		Address string
		Signed  string
		Refused string
		Digest  string
		Form    engine.Form
		Path    string
		Call    string
	}
	const at = "r.example.org/x/y/z"
	cases := map[string]struct {
		reason string
		source *v1alpha1.Source
		want   want
	}{
		"OCIRef": {
			reason: "A chart can be specified by digest.", source: OCIRef("r.example.org/x", "y/z", zeros),
			want: want{Address: at + "@" + zeros, Signed: zeros, Digest: "oci-ref " + zeros, Call: "ChartByDigest " + at + " " + zeros},
		},
		"NoRef": {
			reason: "A source without a digest cannot be signed.", source: OCIRef("r.example.org/x", "y/z", ""),
			want: want{Address: at + "@", Refused: "content without a digest cannot be verified", Digest: "oci-ref ", Call: "ChartByDigest " + at + " "},
		},
		"Registry": {
			reason: "A chart in a registry can be specified by version.", source: HelmChart("oci://r.example.org/c", "web", "1.2.3"),
			want: want{
				Address: "oci://r.example.org/c/web:1.2.3", Refused: "a chart that is specified by version cannot be verified",
				Digest: "helm-chart oci://r.example.org/c web 1.2.3", Call: "Chart oci://r.example.org/c web 1.2.3",
			},
		},
		"Repository": {
			reason: "A chart in a chart repository can be specified by version.", source: HelmChart("https://c.example.org/", "web", "1.x"),
			want: want{
				Address: "https://c.example.org/web:1.x", Refused: "a chart that is specified by version cannot be verified",
				Digest: "helm-chart https://c.example.org/ web 1.x", Call: "RepoChart https://c.example.org/ web 1.x",
			},
		},
		"Raw": {
			reason: "Plain YAML can be in a layer.", source: Raw("r.example.org/x", "y/z", zeros),
			want: want{Address: at + "@" + zeros, Signed: zeros, Digest: "raw " + zeros, Form: engine.FormPlain, Call: "Layer " + at + " " + zeros},
		},
		"Inline": {
			reason: "Plain YAML in the spec is not pulled.", source: inlined("a: b\n"),
			want: want{
				Address: "inline", Refused: "content without a digest cannot be verified", Form: engine.FormPlain,
				Digest: "raw inline sha256:52c9693cf3f219d51ba6af4362ee092c55fb5e6f96d6f9da13c8ede7eff8e71b",
			},
		},
		"Kustomize": {
			reason: "A kustomization can be in a directory of a layer.", source: kustomization("overlay"),
			want: want{
				Address: at + "@" + zeros, Signed: zeros, Digest: "kustomize " + zeros, Form: engine.FormKustomize, Path: "overlay",
				Call: "Layer " + at + " " + zeros,
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			src, err := New(*tc.source)
			if err != nil {
				t.Fatal(err)
			}
			if err := src.Validate(); err != nil {
				t.Errorf("\n%s\nValidate(): %v", tc.reason, err)
			}
			var asked calls
			in := src.Content().Install(&asked, anyRegistry, archive.Limits{})
			got := want{Address: src.String(), Digest: in.Digest, Form: in.Form, Path: in.Path}
			if got.Signed, err = src.SignedDigest(); err != nil {
				got.Refused, _, _ = strings.Cut(strings.SplitN(err.Error(), ";", 2)[0], ", because")
			}
			if _, err := in.Fetch(t.Context()); (err == nil) != (tc.want.Call == "") {
				t.Errorf("\n%s\nFetch(...): %v", tc.reason, err)
			}
			got.Call = strings.Join(asked, ", ")
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\n-want, +got:\n%s", tc.reason, diff)
			}
			if isChart := tc.want.Form == engine.FormChart; IsChart(*tc.source) != isChart {
				t.Errorf("\n%s\nIsChart(...): want %t", tc.reason, isChart)
			}
		})
	}
}

func TestNew(t *testing.T) {
	if _, err := New(v1alpha1.Source{Type: "svn"}); err == nil || err.Error() != `unknown source type "svn"` {
		t.Errorf("New(...): got %v", err)
	}
	if IsChart(v1alpha1.Source{}) {
		t.Error("IsChart(...): a source without a type is not a chart")
	}
	defer func() {
		if recover() == nil {
			t.Error("Register(...): a type that is registered twice must panic")
		}
	}()
	Register(v1alpha1.SourceTypeRaw, nil)
}

func TestValidate(t *testing.T) {
	cases := map[string]struct {
		reason string
		source *v1alpha1.Source
		want   string
	}{
		"Repo":         {reason: "A repository contains no spaces.", source: OCIRef("r example.org", "a", zeros), want: `repository "r example.org" with name "a" is malformed or too long`},
		"Name":         {reason: "A name contains no tag.", source: Raw("r.example.org", "a:b", zeros), want: `repository "r.example.org" with name "a:b" is malformed or too long`},
		"NoRepository": {reason: "A layer requires a repository.", source: &v1alpha1.Source{Type: v1alpha1.SourceTypeKustomize}, want: `repository "" with name "" is malformed or too long`},
		"Chart":        {reason: "The name of a chart contains no spaces.", source: HelmChart("https://c.example.org", "my sql", "1"), want: `invalid chart name "my sql": must consist of at most 253 letters, digits, '.', '_', '-' or '/'`},
		"URL":          {reason: "The length of a URL is limited.", source: HelmChart("https://c.example.org/"+strings.Repeat("a", 2048), "a", "1"), want: "the URL of the chart is longer than 2048 characters"},
		"Version":      {reason: "The length of a version is limited.", source: HelmChart("https://c.example.org", "a", strings.Repeat("1", 129)), want: "chart version " + `"` + strings.Repeat("1", 100) + `"… is longer than 128 characters`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			src, err := New(*tc.source)
			if err != nil {
				t.Fatal(err)
			}
			if err := src.Validate(); err == nil || err.Error() != tc.want {
				t.Errorf("\n%s\nValidate(): want error %q, got %v", tc.reason, tc.want, err)
			}
		})
	}
}

func TestLayers(t *testing.T) {
	l := ToLayer(Raw("r.example.org/x", "y/z", zeros))
	var asked calls
	for _, c := range []Content{CRDs(l), Config(l)} {
		if _, err := c.Layer(&asked, anyRegistry, archive.Limits{}).Fetch(t.Context()); err == nil {
			t.Error("Fetch(...): the error of the puller is lost")
		}
	}
	pull := "Blob r.example.org/x/y/z " + zeros
	got := append([]string{CRDs(l).Digest, Config(l).Digest}, asked...)
	if diff := cmp.Diff([]string{"crds " + zeros, "config " + zeros, pull, pull}, got); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
	if files, err := Config(l).Read(nil, archive.Limits{}); err != nil || len(files) != 0 {
		t.Errorf("Read(...): a config layer may be empty: %v", err)
	}
}

func anyRegistry(context.Context) (oci.Registries, error) { return nil, nil }

// TestRegistries verifies that each pull requests the allowed registries, and that nothing is pulled without them.
func TestRegistries(t *testing.T) {
	l := ToLayer(Raw("r.example.org/x", "y/z", zeros))
	contents := []Content{CRDs(l), Config(l)}
	for _, s := range []*v1alpha1.Source{
		OCIRef("r", "a", zeros), Raw("r", "a", zeros), kustomization(""), HelmChart("oci://r", "a", "1"), HelmChart("https://r", "a", "1"),
	} {
		src, err := New(*s)
		if err != nil {
			t.Fatal(err)
		}
		contents = append(contents, src.Content())
	}
	refused := errors.New("no ProviderConfig")
	for _, c := range contents {
		var asked int
		var pulled calls
		var refusal error
		layer := c.Layer(&pulled, func(context.Context) (oci.Registries, error) { asked++; return nil, refusal }, archive.Limits{})
		for range 2 {
			if _, err := layer.Fetch(t.Context()); errors.Is(err, refused) {
				t.Errorf("%s: %v", c.Digest, err)
			}
		}
		refusal = refused
		if _, err := layer.Fetch(t.Context()); !errors.Is(err, refused) {
			t.Errorf("%s: want %v, got %v", c.Digest, refused, err)
		}
		if asked != 3 || len(pulled) != 2 {
			t.Errorf("%s: the registries were asked for %d times, and it was pulled %d times", c.Digest, asked, len(pulled))
		}
	}
}
