// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/oci"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/archive"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/pull"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/source"
)

const digest = "sha256:0000000000000000000000000000000000000000000000000000000000000000"

func named(namespace, name string, mod ...func(m *v1alpha1.Manifest)) *v1alpha1.Manifest {
	m := &v1alpha1.Manifest{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	for _, fn := range mod {
		fn(m)
	}
	return m
}

// pulled records the requests to a puller.
type pulled struct {
	calls []string
	err   error
}

func (p *pulled) Blob(_ context.Context, _ oci.Registries, repo, digest string) ([]byte, error) {
	p.calls = append(p.calls, "Blob "+repo+" "+digest)
	return nil, p.err
}

func (p *pulled) Layer(_ context.Context, _ oci.Registries, repo, digest string) ([]byte, error) {
	p.calls = append(p.calls, "Layer "+repo+" "+digest)
	return nil, p.err
}

func (p *pulled) ChartByDigest(_ context.Context, _ oci.Registries, repo, digest string) ([]byte, error) {
	p.calls = append(p.calls, "ChartByDigest "+repo+" "+digest)
	return nil, p.err
}

func (p *pulled) Chart(_ context.Context, _ oci.Registries, url, chart, version string) (pull.Artifact, error) {
	p.calls = append(p.calls, strings.Join([]string{"Chart", url, chart, version}, " "))
	return pull.Artifact{}, p.err
}

func (p *pulled) RepoChart(_ context.Context, _ oci.Registries, url, chart, version string) (pull.Artifact, error) {
	p.calls = append(p.calls, strings.Join([]string{"RepoChart", url, chart, version}, " "))
	return pull.Artifact{}, p.err
}

func installs(sources ...v1alpha1.Source) func(m *v1alpha1.Manifest) {
	return func(m *v1alpha1.Manifest) {
		for i, s := range sources {
			m.Spec.ForProvider.Installs = append(m.Spec.ForProvider.Installs,
				v1alpha1.Install{Name: string(rune('a' + i)), Namespace: "ns", Source: s})
		}
	}
}

func TestSetOf(t *testing.T) {
	type want struct {
		digests []string
		calls   []string
		forms   []manifest.Form // Requests for content other than charts.
		paths   []string        // Requests for bundles.
		config  string
		err     string
	}
	cases := map[string]struct {
		reason string
		mr     *v1alpha1.Manifest
		want   want
	}{
		"OCIRef": {
			reason: "A layer is pulled by its digest, which also identifies it.",
			mr:     named("n", "m", installs(v1alpha1.Source{Type: v1alpha1.SourceTypeOCIRef, Repo: "r.example.org/x", Name: "y/z", Ref: digest})),
			want:   want{digests: []string{"oci-ref " + digest}, calls: []string{"ChartByDigest r.example.org/x/y/z " + digest}},
		},
		"OCIChart": {
			reason: "A chart in a registry is pulled by version.",
			mr: named("n", "m", installs(v1alpha1.Source{
				Type: v1alpha1.SourceTypeHelmChart, URL: "oci://r.example.org/charts", ChartName: "web", Version: "1.2.3",
			})),
			want: want{
				digests: []string{"helm-chart oci://r.example.org/charts web 1.2.3"},
				calls:   []string{"Chart oci://r.example.org/charts web 1.2.3"},
			},
		},
		"ChartRepository": {
			reason: "A chart in a chart repository is looked up in the index.",
			mr: named("n", "m", installs(v1alpha1.Source{
				Type: v1alpha1.SourceTypeHelmChart, URL: "https://charts.example.org", ChartName: "web",
			})),
			want: want{
				digests: []string{"helm-chart https://charts.example.org web "},
				calls:   []string{"RepoChart https://charts.example.org web "},
			},
		},
		"Raw": {
			reason: "Plain YAML in a layer is pulled by digest.",
			mr:     named("n", "m", installs(v1alpha1.Source{Type: v1alpha1.SourceTypeRaw, Repo: "r.example.org/x", Name: "y/z", Ref: digest})),
			want:   want{digests: []string{"raw " + digest}, calls: []string{"Layer r.example.org/x/y/z " + digest}, forms: []manifest.Form{manifest.FormPlain}},
		},
		"Kustomize": {
			reason: "A kustomization in a directory of a layer is pulled by digest.",
			mr:     named("n", "m", installs(v1alpha1.Source{Type: v1alpha1.SourceTypeKustomize, Repo: "r.example.org/x", Name: "y/z", Ref: digest, Path: "overlay"})),
			want: want{
				digests: []string{"kustomize " + digest}, calls: []string{"Layer r.example.org/x/y/z " + digest},
				forms: []manifest.Form{manifest.FormKustomize}, paths: []string{"overlay"},
			},
		},
		"Config": {
			reason: "The config is a blob, and is identified by its digest.",
			mr: named("n", "m", func(m *v1alpha1.Manifest) {
				m.Spec.ForProvider.Config = &v1alpha1.LayerSource{Repo: "r.example.org/x", Name: "y/z", Ref: digest}
			}),
			want: want{config: "config " + digest, calls: []string{"Blob r.example.org/x/y/z " + digest}},
		},
		"BadValues": {
			reason: "The error for values that are not an object names the install.",
			mr: named("n", "m", installs(v1alpha1.Source{Type: v1alpha1.SourceTypeOCIRef}), func(m *v1alpha1.Manifest) {
				m.Spec.ForProvider.Installs[0].Values = &runtime.RawExtension{Raw: []byte(`[]`)}
			}),
			want: want{err: `spec.forProvider.installs["a"]: values must be an object`},
		},
		"ResourceWithoutName": {
			reason: "A custom resource must have a name, because it is created only once.",
			mr: named("n", "m", func(m *v1alpha1.Manifest) {
				m.Spec.ForProvider.Resource = &runtime.RawExtension{Raw: []byte(`{"apiVersion":"v1","kind":"Foo","metadata":{}}`)}
			}),
			want: want{err: "spec.forProvider.resource: metadata.name is missing"},
		},
		"ResourceIgnored": {
			reason: "With the policy Ignore, the custom resource is ignored.",
			mr: named("n", "m", func(m *v1alpha1.Manifest) {
				m.Spec.ForProvider.CustomResourcePolicy = v1alpha1.CustomResourcePolicyIgnore
				m.Spec.ForProvider.Resource = &runtime.RawExtension{Raw: []byte(`{}`)}
			}),
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			p := &pulled{err: context.Canceled}
			c := &content{puller: p, limits: archive.DefaultLimits(), regs: func(context.Context) (oci.Registries, error) { return nil, nil }}
			bundle, err := c.bundleOf(tc.mr)
			got := want{}
			if err != nil {
				if tc.want.err == "" || !strings.Contains(err.Error(), tc.want.err) {
					t.Errorf("\n%s\nbundleOf(...): want error %q, got %v", tc.reason, tc.want.err, err)
				}
				return
			}
			for _, in := range bundle.Installs {
				got.digests = append(got.digests, in.Digest)
				if in.Form != manifest.FormChart {
					got.forms = append(got.forms, in.Form)
				}
				if in.Path != "" {
					got.paths = append(got.paths, in.Path)
				}
				if _, err := in.Fetch(t.Context()); err == nil {
					t.Errorf("\n%s\nFetch(...): the error of the puller is lost", tc.reason)
				}
			}
			if bundle.Config != nil {
				got.config = bundle.Config.Digest
				if _, err := bundle.Config.Fetch(t.Context()); err == nil {
					t.Errorf("\n%s\nFetch(...): the error of the puller is lost", tc.reason)
				}
			}
			got.calls = p.calls
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("\n%s\nbundleOf(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// bytesPuller returns the same bytes for all requests.
type bytesPuller struct {
	Puller

	data []byte
}

func (p bytesPuller) Blob(context.Context, oci.Registries, string, string) ([]byte, error) {
	return p.data, nil
}

func (p bytesPuller) Layer(context.Context, oci.Registries, string, string) ([]byte, error) {
	return p.data, nil
}

func TestPlainFiles(t *testing.T) {
	const text = "a: b\n"
	cases := map[string]struct {
		reason string
		inline string
		layer  []byte
		config bool
		want   []source.File
		err    string
	}{
		"Inline":      {reason: "What is inline is not pulled.", inline: text, want: []source.File{{Name: "inline.yaml", Data: []byte(text)}}},
		"Bare":        {reason: "A layer may be YAML as it is.", layer: []byte(text), want: []source.File{{Name: "layer.yaml", Data: []byte(text)}}},
		"Empty":       {reason: "A layer that is empty is hardly what was meant.", layer: []byte{}, err: "the archive contains no files"},
		"Config":      {reason: "A config is YAML as it is.", layer: []byte(text), config: true, want: []source.File{{Name: "layer.yaml", Data: []byte(text)}}},
		"EmptyConfig": {reason: "A config may be empty.", layer: []byte{}, config: true, want: []source.File{}},
		"Binary":      {reason: "Other content is refused.", layer: []byte("a\x00b"), err: "not a tar archive, a tar.gz archive or text"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := &content{puller: bytesPuller{data: tc.layer}, regs: func(context.Context) (oci.Registries, error) { return nil, nil }}
			src := v1alpha1.Source{Type: v1alpha1.SourceTypeRaw, Inline: tc.inline}
			if tc.inline == "" {
				src.Repo, src.Name, src.Ref = "r.example.org", "x", digest
			}
			bundle, err := c.bundleOf(named("n", "m", installs(src), func(m *v1alpha1.Manifest) { m.Spec.ForProvider.Config = &v1alpha1.LayerSource{} }))
			if err != nil {
				t.Fatal(err)
			}
			layer := bundle.Installs[0].Layer
			if tc.config {
				layer = *bundle.Config
			}
			got, err := layer.Fetch(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			files, err := got.Files()
			if (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
				t.Errorf("\n%s\nFiles(): want error %q, got %v", tc.reason, tc.err, err)
			}
			if diff := cmp.Diff(tc.want, files); diff != "" {
				t.Errorf("\n%s\nFiles(): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestInlineDigest(t *testing.T) {
	digestOf := func(inline string) string {
		in, err := (&content{}).installOf(&v1alpha1.Install{Source: v1alpha1.Source{Type: v1alpha1.SourceTypeRaw, Inline: inline}})
		if err != nil {
			t.Fatal(err)
		}
		return in.Digest
	}
	if one, two := digestOf("a: b"), digestOf("a: c"); one == two || !strings.HasPrefix(one, "raw inline sha256:") {
		t.Errorf("the digest must be that of the text: %s, %s", one, two)
	}
}

func TestRulesOf(t *testing.T) {
	got, err := rulesOf([]v1alpha1.ReadinessRule{
		{CEL: "true"},
		{CEL: "false", For: &v1alpha1.TypeSelector{APIVersion: "apps/v1", Kind: "Deployment"}},
	})
	want := []manifest.Rule{{CEL: "true"}, {CEL: "false", For: schema.GroupKind{Group: "apps", Kind: "Deployment"}}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("rulesOf(...): %v, -want, +got:\n%s", err, diff)
	}
	if _, err := rulesOf([]v1alpha1.ReadinessRule{{For: &v1alpha1.TypeSelector{APIVersion: "a/b/c"}}}); err == nil {
		t.Error("rulesOf(...): an apiVersion that is none must be refused")
	}
}

func TestLabels(t *testing.T) {
	c := &content{}
	mr := named("n", "m")
	mr.Labels = map[string]string{"operator.kyma-project.io/module-name": "x", "mine": "y"}
	bundle, err := c.bundleOf(mr)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"operator.kyma-project.io/module-name": "x"}, bundle.Labels); diff != "" {
		t.Errorf("only labels of the original are handed on: -want, +got:\n%s", diff)
	}
}

func TestImmutableFields(t *testing.T) {
	for policy, want := range map[v1alpha1.ImmutableFieldsPolicy]bool{
		v1alpha1.ImmutableFieldsPolicyRecreate: true, v1alpha1.ImmutableFieldsPolicyRefuse: false, "": false,
	} {
		mr := named("n", "m", func(m *v1alpha1.Manifest) { m.Spec.ForProvider.ImmutableFields = policy })
		bundle, err := (&content{}).bundleOf(mr)
		if err != nil {
			t.Fatal(err)
		}
		if bundle.Recreate != want {
			t.Errorf("bundleOf(...) with immutableFields %q: want Recreate %t, got %t", policy, want, bundle.Recreate)
		}
	}
}

func TestInstalled(t *testing.T) {
	cases := map[string]struct {
		reason string
		status v1alpha1.ManifestObservation
		want   bool
	}{
		"New":        {reason: "There is no status yet."},
		"Reported":   {reason: "A Manifest that may not be created has counts, too.", status: v1alpha1.ManifestObservation{Resources: &v1alpha1.ResourceCounts{}}},
		"Installed":  {reason: "The cluster is recorded with the inventory.", status: v1alpha1.ManifestObservation{ClusterUID: "a"}, want: true},
		"UnknownUID": {reason: "Some credentials can't read it.", status: v1alpha1.ManifestObservation{Resources: &v1alpha1.ResourceCounts{Total: 1}}, want: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			mr := named("n", "m", func(m *v1alpha1.Manifest) { m.Status.AtProvider = tc.status })
			if got := outlineOf(mr).Installed; got != tc.want {
				t.Errorf("\n%s\noutlineOf(...): want Installed %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}
