// SPDX-License-Identifier: Apache-2.0

package module

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/module/convert"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/archive"
)

var update = flag.Bool("update", false, "write the golden files")

const sample = "example.org/module/sample"

// TestFixtures checks how original templates from two eras are resolved.
func TestFixtures(t *testing.T) {
	files, err := filepath.Glob("testdata/moduletemplates/*.yaml")
	if err != nil || len(files) != 6 {
		t.Fatalf("want 6 fixtures, got %d, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			in, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			template, lost, err := convert.ModuleTemplate(in, "")
			if err != nil {
				t.Fatal(err)
			}
			p := newPuller()
			res, err := NewResolver(p, archive.DefaultLimits()).Resolve(t.Context(), nil, template)
			if err != nil {
				t.Fatal(err)
			}
			if p.calls != 0 {
				t.Errorf("want nothing fetched, got %d requests", p.calls)
			}
			got, err := yaml.Marshal(map[string]any{
				"name": template.Name, "moduleName": res.ModuleName, "channel": template.Spec.Channel, "target": template.Spec.Target,
				"version": res.Version, "digest": res.Digest, "resources": res.Resources, "data": template.Spec.Data, "lost": lost,
			})
			if err != nil {
				t.Fatal(err)
			}
			golden := filepath.Join("testdata", "golden", filepath.Base(file))
			if *update {
				if err := os.WriteFile(golden, got, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Errorf("-want, +got:\n%s", diff)
			}
		})
	}
}

// TestResolve checks templates whose components are in a registry, or are missing or invalid.
func TestResolve(t *testing.T) {
	type want struct {
		module, version string
		resources       []string
		data            string
		err             string
		invalid         bool
	}
	type args struct {
		template func(t *testing.T, p *fakePuller) *v1alpha1.ModuleTemplate
	}
	cr := "apiVersion: example.org/v1\nkind: Sample\nspec: {size: 12345678901234567890}\n"
	// one returns a template with resources in its descriptor.
	one := func(resources ...fields) args {
		return args{template: func(t *testing.T, _ *fakePuller) *v1alpha1.ModuleTemplate {
			t.Helper()
			return inlineTemplate(describe(t, sample, "1.0.0", resources))
		}}
	}
	// defaultCR returns a template whose component has a default custom resource.
	defaultCR := func(layer func(t *testing.T) []byte) args {
		return args{template: func(t *testing.T, p *fakePuller) *v1alpha1.ModuleTemplate {
			t.Helper()
			b := layer(t)
			d := describe(t, sample, "1.0.0", []fields{local("default-cr", "directoryTree", b)})
			p.push(t, d, b)
			return inlineTemplate(d)
		}}
	}
	cases := map[string]struct {
		reason string
		args   args
		want   want
	}{
		"Component": {
			reason: "A component is fetched by its version, whose + is not valid in a tag.",
			args: args{template: func(t *testing.T, p *fakePuller) *v1alpha1.ModuleTemplate {
				t.Helper()
				chart := []byte("chart")
				p.push(t, describe(t, sample, "1.0.0+b1", []fields{local("sample-operator", "helm-chart", chart)}), chart)
				return componentTemplate(sample, "1.0.0+b1")
			}},
			want: want{module: "sample", version: "1.0.0+b1", resources: []string{
				"sample-operator Install sample-operator oci-ref reg.example.org/modules/component-descriptors example.org/module/sample",
			}},
		},
		"References": {
			reason: "Referenced components come first, with the name of the reference.",
			args: args{template: func(t *testing.T, p *fakePuller) *v1alpha1.ModuleTemplate {
				t.Helper()
				a, b := []byte("a"), []byte("b")
				lower := describe(t, "example.org/module/lower", "2.0.0", []fields{local("chart", "helm-chart", a)})
				p.push(t, lower, a)
				middle := describe(t, "example.org/module/middle", "3.0.0", nil, refer(t, "low", lower))
				p.push(t, middle)
				p.push(t, describe(t, sample, "1.0.0", []fields{local("chart", "helm-chart", b)}, refer(t, "mid", middle)), b)
				return componentTemplate(sample, "1.0.0")
			}},
			want: want{module: "sample", version: "1.0.0", resources: []string{
				"example.org/module/lower/chart Install low-chart oci-ref reg.example.org/modules/component-descriptors example.org/module/lower",
				"chart Install chart oci-ref reg.example.org/modules/component-descriptors example.org/module/sample",
			}},
		},
		"Uses": {
			reason: "Each resource is mapped by its name or type, and crds is not mistaken for config.",
			args: one(
				local("config", "yaml", []byte("1")), local("crds", "yaml", []byte("2")), local("raw-manifest", "yaml", []byte("3")),
				local("chart_one", "helmChart", []byte("4")), local("moduletemplate", "plainText", []byte("5")),
				local("associated-resources", "plainText", []byte("6")), local("readme", "plainText", []byte("7")),
				local("first", "raw-manifest", []byte("8")), local("second", "raw-manifest", []byte("9")),
				resourceOf("image", "ociImage", fields{"type": "ociArtifact", "imageReference": "reg.example.org/image:1"}, ""),
			),
			want: want{module: "sample", version: "1.0.0", resources: []string{
				"config Config oci-ref reg.example.org/modules/component-descriptors example.org/module/sample",
				"crds CRDs oci-ref reg.example.org/modules/component-descriptors example.org/module/sample",
				"raw-manifest Install raw-manifest raw reg.example.org/modules/component-descriptors example.org/module/sample",
				"chart_one Install chart-one oci-ref reg.example.org/modules/component-descriptors example.org/module/sample",
				"moduletemplate None", "associated-resources None", "readme None",
				"first Install first raw reg.example.org/modules/component-descriptors example.org/module/sample",
				"second Install second raw reg.example.org/modules/component-descriptors example.org/module/sample",
				"image None",
			}},
		},
		"Archive": {
			reason: "A default custom resource can be in an archive, and does not require a name.",
			args:   defaultCR(func(t *testing.T) []byte { t.Helper(); return pack(t, "cr.yaml", "---\n# comment\n---\n"+cr) }),
			want: want{
				module: "sample", version: "1.0.0",
				resources: []string{"default-cr CustomResource oci-ref reg.example.org/modules/component-descriptors example.org/module/sample"},
				data:      `{"apiVersion":"example.org/v1","kind":"Sample","spec":{"size":12345678901234567890}}`,
			},
		},
		"Plain": {
			reason: "A default custom resource can be a plain file.",
			args:   defaultCR(func(*testing.T) []byte { return []byte(cr) }),
			want: want{
				module: "sample", version: "1.0.0",
				resources: []string{"default-cr CustomResource oci-ref reg.example.org/modules/component-descriptors example.org/module/sample"},
				data:      `{"apiVersion":"example.org/v1","kind":"Sample","spec":{"size":12345678901234567890}}`,
			},
		},
		"TwoObjects": {
			reason: "A module can have only one default custom resource.",
			args:   defaultCR(func(*testing.T) []byte { return []byte(cr + "---\n" + cr) }),
			want: want{
				invalid: true,
				err:     "resource default-cr: expected only the default custom resource, found more than one object",
			},
		},
		"Bomb": {
			reason: "The size of an unpacked default custom resource is limited.",
			args: defaultCR(func(*testing.T) []byte {
				return []byte("a: &a " + strings.Repeat("x", 10000) + "\nb: [" + strings.Repeat("*a, ", 1000) + "*a]\n")
			}),
			want: want{invalid: true, err: "resource default-cr: YAML is larger than 262144 bytes when its aliases are expanded"},
		},
		"ExcludedData": {
			reason: "A resource that the signature does not cover is rejected.",
			args: args{template: func(t *testing.T, _ *fakePuller) *v1alpha1.ModuleTemplate {
				t.Helper()
				return inlineTemplate(describe(t, sample, "1.0.0", []fields{excluded(local("default-cr", "yaml", []byte(cr)))}))
			}},
			want: want{invalid: true, err: "resource default-cr: its digest is excluded from signatures, or is not a SHA-256 digest, so the signature does not protect its content"},
		},
		"OtherHashOfData": {
			reason: "A hash of another form does not cover the content.",
			args: args{template: func(t *testing.T, _ *fakePuller) *v1alpha1.ModuleTemplate {
				t.Helper()
				r := local("default-cr", "yaml", []byte(cr))
				r["digest"] = fields{"hashAlgorithm": "SHA-512", "normalisationAlgorithm": "genericBlobDigest/v1", "value": strings.Repeat("a", 128)}
				return inlineTemplate(describe(t, sample, "1.0.0", []fields{r}))
			}},
			want: want{invalid: true, err: "resource default-cr: its digest is excluded from signatures, or is not a SHA-256 digest"},
		},
		"DataOfExcludedComponent": {
			reason: "A component is not covered by the signature if its reference is excluded.",
			args: args{template: func(t *testing.T, p *fakePuller) *v1alpha1.ModuleTemplate {
				t.Helper()
				lower := describe(t, "example.org/module/lower", "2.0.0", []fields{local("default-cr", "yaml", []byte(cr))})
				p.push(t, lower, []byte(cr))
				return inlineTemplate(describe(t, sample, "1.0.0", nil, excluded(refer(t, "low", lower))))
			}},
			want: want{invalid: true, err: "resource default-cr: the reference to component example.org/module/lower is excluded from signatures"},
		},
		"OwnData": {
			reason: "The custom resource of the template takes precedence.",
			args: args{template: func(t *testing.T, _ *fakePuller) *v1alpha1.ModuleTemplate {
				t.Helper()
				out := inlineTemplate(describe(t, sample, "1.0.0", []fields{excluded(local("default-cr", "yaml", []byte(cr)))}))
				out.Spec.Data = &runtime.RawExtension{Raw: []byte(`{}`)}
				return out
			}},
			want: want{module: "sample", version: "1.0.0", resources: []string{
				"default-cr CustomResource oci-ref reg.example.org/modules/component-descriptors example.org/module/sample",
			}},
		},
		"TooMany": {
			reason: "The status can contain only a limited number of resources.",
			args: args{template: func(t *testing.T, _ *fakePuller) *v1alpha1.ModuleTemplate {
				t.Helper()
				var all []fields
				for i := range maxResources + 1 {
					all = append(all, local(fmt.Sprintf("text%d", i), "plainText", nil))
				}
				return inlineTemplate(describe(t, sample, "1.0.0", all))
			}},
			want: want{invalid: true, err: "component example.org/module/sample and the components that it references have more than 256 resources"},
		},
		"TwoFiles": {
			reason: "A module can have only one default custom resource.",
			args:   defaultCR(func(t *testing.T) []byte { t.Helper(); return pack(t, "a.yaml", cr, "b.yaml", cr) }),
			want:   want{invalid: true, err: "resource default-cr: expected one file with the default custom resource, found 2 files"},
		},
		"NoKind": {
			reason: "A default custom resource must be a Kubernetes object.",
			args:   defaultCR(func(*testing.T) []byte { return []byte("apiVersion: v1\nmetadata: {name: x}\n") }),
			want:   want{invalid: true, err: "resource default-cr: the object has no kind"},
		},
		"Down": {
			reason: "If the registry is unavailable, the template is not invalid.",
			args: args{template: func(_ *testing.T, p *fakePuller) *v1alpha1.ModuleTemplate {
				p.down = true
				return componentTemplate(sample, "1.0.0")
			}},
			want: want{err: `spec.component: cannot fetch component "example.org/module/sample" "1.0.0": the registry is down`},
		},
		"OtherComponent": {
			reason: "A component with another name is rejected.",
			args: args{template: func(t *testing.T, p *fakePuller) *v1alpha1.ModuleTemplate {
				t.Helper()
				p.push(t, describe(t, sample, "1.0.0", nil))
				for k, v := range p.content {
					p.content[strings.Replace(k, "/sample ", "/other ", 1)] = v
				}
				return componentTemplate("example.org/module/other", "1.0.0")
			}},
			want: want{invalid: true, err: `spec.component: cannot fetch component "example.org/module/other" "1.0.0": repository `},
		},
		"NoVersion": {
			reason: "The error for an invalid version names the field.",
			args: args{template: func(*testing.T, *fakePuller) *v1alpha1.ModuleTemplate {
				return componentTemplate(sample, "latest")
			}},
			want: want{invalid: true, err: `spec.component.version: malformed version "latest": must be a semantic version such as 1.2.3`},
		},
		"NoDescriptor": {
			reason: "The error for an invalid descriptor names the field.",
			args: args{template: func(*testing.T, *fakePuller) *v1alpha1.ModuleTemplate {
				return &v1alpha1.ModuleTemplate{Spec: v1alpha1.ModuleTemplateSpec{Descriptor: &runtime.RawExtension{Raw: []byte(`{"meta":{}}`)}}}
			}},
			want: want{invalid: true, err: "spec.descriptor: cannot read component descriptor: meta.schemaVersion"},
		},
		"ModuleName": {
			reason: "A name that a Kyma cannot specify is an error.",
			args: args{template: func(t *testing.T, _ *fakePuller) *v1alpha1.ModuleTemplate {
				t.Helper()
				return inlineTemplate(describe(t, "example.org/module/sample_one", "1.0.0", nil))
			}},
			want: want{invalid: true, err: `"sample_one", from the name of the component, is not a valid module name: set spec.moduleName`},
		},
		"Strange": {
			reason: "The error for an unsupported resource contains its name and type.",
			args:   one(local("strange", "blob", []byte("1"))),
			want:   want{invalid: true, err: `component example.org/module/sample: resource strange: unsupported type "blob"`},
		},
		"Collision": {
			reason: "Two installs cannot have the same name.",
			args:   one(local("a_b", "helm-chart", []byte("1")), local("a-b", "helm-chart", []byte("2"))),
			want: want{
				invalid: true,
				err:     `component example.org/module/sample: resource a-b: install name "a-b" is also used by resource a_b: rename one of them`,
			},
		},
		"TwoConfigs": {
			reason: "A module can have only one config, including its references.",
			args: args{template: func(t *testing.T, p *fakePuller) *v1alpha1.ModuleTemplate {
				t.Helper()
				b := []byte("configs: []")
				lower := describe(t, "example.org/module/lower", "2.0.0", []fields{local("config", "yaml", b)})
				p.push(t, lower, b)
				return inlineTemplate(describe(t, sample, "1.0.0", []fields{local("config", "yaml", b)}, refer(t, "low", lower)))
			}},
			want: want{
				invalid: true,
				err: "component example.org/module/sample: resource config: a module can have only one resource with use Config, " +
					"but there is another one in component example.org/module/lower",
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			p := newPuller()
			res, err := NewResolver(p, archive.DefaultLimits()).Resolve(t.Context(), nil, tc.args.template(t, p))
			if tc.want.err != "" {
				var invalid *InvalidError
				if err == nil || !strings.HasPrefix(err.Error(), tc.want.err) || errors.As(err, &invalid) != tc.want.invalid {
					t.Errorf("\n%s\nResolve(...): want error %q (invalid: %t), got %v", tc.reason, tc.want.err, tc.want.invalid, err)
				}
				return
			}
			if err != nil {
				t.Fatalf("\n%s\nResolve(...): %v", tc.reason, err)
			}
			got := want{module: res.ModuleName, version: res.Version, resources: lines(res.Resources)}
			if res.Data != nil {
				got.data = string(res.Data.Raw)
			}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("\n%s\nResolve(...): -want, +got:\n%s", tc.reason, diff)
			}
			if !isDigest.MatchString(res.Digest) {
				t.Errorf("\n%s\nResolve(...): digest is %q", tc.reason, res.Digest)
			}
		})
	}
}

// lines returns a summary of resources, without digests.
func lines(resources []v1alpha1.ModuleResource) []string {
	var out []string
	for _, r := range resources {
		words := []string{strings.TrimPrefix(r.Component+"/"+r.Name, "/"), string(r.Use)}
		if r.Install != "" {
			words = append(words, r.Install)
		}
		if s := r.Source; s != nil {
			words = append(words, string(s.Type), s.Repo+s.URL, s.Name+s.ChartName)
		}
		out = append(out, strings.Join(words, " "))
	}
	return out
}

// TestComponents checks that resolved components are fetched by digest, regardless of changes to their tags.
func TestComponents(t *testing.T) {
	p := newPuller()
	digest := p.push(t, describe(t, sample, "1.0.0", nil))
	template := componentTemplate(sample, "1.0.0")
	template.Status.Digest = digest
	p.push(t, describe(t, sample, "1.0.0", []fields{local("chart", "helm-chart", []byte("x"))}), []byte("x"))
	got, err := NewResolver(p, archive.DefaultLimits()).Components(t.Context(), nil, template)
	if err != nil || len(got) != 1 || len(got[0].Resources()) != 0 {
		t.Errorf("Components(...): got %v, %v", got, err)
	}
}
