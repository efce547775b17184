// SPDX-License-Identifier: Apache-2.0

package definition

import (
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/fuzztest"
)

const full = `
name: example.org/module/greeter
version: 1.2.3
channel: fast
provider: example
charts:
- {path: charts/greeter, name: greeter}
- {path: charts/other, format: helm}
manifests:
- path: manifests
kustomizations:
- {path: ./overlay/, splitCRDs: true}
crds: [crds, a.yaml]
config:
  configs: [{name: greeter, clientConfig: "Namespace=a", overrides: "a=b"}]
defaultCustomResource: default.yaml
readiness:
- cel: object.spec.ok
  for: {apiVersion: v1, kind: ConfigMap}
sources: [{name: greeter, repository: "https://git.example.org/greeter", ref: main, commit: 0123abc}]
labels: {example.org/team: blue}
`

func parsed() *Definition {
	return &Definition{
		Name: "example.org/module/greeter", Version: "1.2.3", Channel: "fast", Provider: "example",
		Charts:                []Chart{{Name: "greeter", Path: "charts/greeter"}, {Path: "charts/other", Format: FormatHelm}},
		Manifests:             []Manifest{{Path: "manifests"}},
		Kustomizations:        []Kustomization{{Path: "./overlay/", SplitCRDs: true}},
		CRDs:                  []string{"crds", "a.yaml"},
		Config:                &Config{Configs: []ConfigEntry{{Name: "greeter", ClientConfig: "Namespace=a", Overrides: "a=b"}}},
		DefaultCustomResource: "default.yaml",
		Readiness:             []v1alpha1.ReadinessRule{{CEL: "object.spec.ok", For: &v1alpha1.TypeSelector{APIVersion: "v1", Kind: "ConfigMap"}}},
		Sources:               []Source{{Name: "greeter", Repository: "https://git.example.org/greeter", Ref: "main", Commit: "0123abc"}},
		Labels:                map[string]string{"example.org/team": "blue"},
	}
}

func TestParse(t *testing.T) {
	cases := map[string]struct {
		reason string
		data   string
		want   *Definition
		err    string
	}{
		"Full":      {reason: "All fields are read.", data: full, want: parsed()},
		"JSON":      {reason: "JSON is valid YAML.", data: `{"name": "a"}`, want: &Definition{Name: "a"}},
		"Empty":     {reason: "An empty file says nothing.", data: "# nothing\n", err: "the file is empty: set at least name and version"},
		"Text":      {reason: "A text is not a module.", data: "hello", err: "must be a map with the fields name"},
		"Unknown":   {reason: "An unknown field is a misspelt one.", data: "name: a\nchart: []", err: `unknown field "chart"`},
		"Nested":    {reason: "The error contains the path of a nested field.", data: "charts: [{path: a}, {pth: b}]", err: `unknown field "charts[1].pth"`},
		"Case":      {reason: "Field names are case-sensitive.", data: "Name: a", err: `unknown field "Name"`},
		"Duplicate": {reason: "A duplicate field is rejected.", data: "name: a\nname: b", err: `key "name" already`},
		"Number":    {reason: "YAML reads 1.10 as 1.1.", data: "version: 1.10", err: `version must be a string, not a number: enclose it in quotes`},
		"List":      {reason: "A string is not accepted instead of a list.", data: "charts: a", err: "charts must be a list, got string"},
		"Inner":     {reason: "The path of a field is named.", data: "config: {configs: [{name: {a: b}}]}", err: "config.configs.name must be text, got object"},
		"Broken":    {reason: "Invalid YAML is rejected.", data: "a: [", err: "yaml: "},
		"Second":    {reason: "A second document would be ignored.", data: "name: a\n---\nname: b\n", err: "the file contains more than one YAML document"},
		"Large":     {reason: "The size is limited.", data: strings.Repeat("#", maxSize+1), err: "content is larger than the limit of 1048576 bytes"},
		"Values":    {reason: "The number of values is limited.", data: strings.Repeat("\n", maxValues+1), err: "YAML contains too many values"},
		"Aliases": {
			reason: "Aliases are expanded.",
			data: "a: &a [" + strings.Repeat("x,", 100) + "]\nb: &b [" + strings.Repeat("*a,", 100) + "]\nc: &c [" + strings.Repeat("*b,", 100) +
				"]\nd: [" + strings.Repeat("*c,", 100) + "]\n",
			err: "when its aliases are expanded",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := Parse([]byte(tc.data))
			if tc.err != "" {
				if err == nil || !strings.Contains(err.Error(), tc.err) || strings.Contains(err.Error(), "\n") {
					t.Errorf("\n%s\nParse(...): want error %q, got %v", tc.reason, tc.err, err)
				}
				return
			}
			if diff := cmp.Diff(tc.want, got); diff != "" || err != nil {
				t.Errorf("\n%s\nParse(...): %v, -want, +got:\n%s", tc.reason, err, diff)
			}
		})
	}
}

func TestCheck(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(d *Definition)
		want   string
	}{
		"Full":     {reason: "The example is valid.", change: func(*Definition) {}},
		"NoName":   {reason: "A name is required.", change: func(d *Definition) { d.Name = "" }, want: "name is missing"},
		"Loose":    {reason: "A name must be as strict as the specification requires of writers.", change: func(d *Definition) { d.Name = "1example.org/module/a" }, want: `name: invalid value "1example.org/module/a": must be a lowercase domain and path`},
		"NoDomain": {reason: "The original's own example was wrong.", change: func(d *Definition) { d.Name = "my-domain/modA" }, want: "must be a lowercase domain and path"},
		"NoPath":   {reason: "A domain is not a sufficient name.", change: func(d *Definition) { d.Name = "example.org" }, want: "must be a lowercase domain and path"},
		"Long":     {reason: "The length of a name is limited.", change: func(d *Definition) { d.Name = "example.org/" + strings.Repeat("a", 250) }, want: "must be a lowercase domain and path"},
		"Module":   {reason: "The module is named by the last element.", change: func(d *Definition) { d.Name = "example.org/a_b" }, want: "the last element is the name of the module"},
		"Label": {
			reason: "A label can specify another name for the module.",
			change: func(d *Definition) {
				d.Name, d.Labels = "example.org/a_b", map[string]string{v1alpha1.LabelModuleName: "ab"}
			},
		},
		"Format":      {reason: "A chart has one of two formats.", change: func(d *Definition) { d.Charts[1].Format = "oci" }, want: `charts[1].format: invalid value "oci": must be layer or helm`},
		"NoVersion":   {reason: "A version is required.", change: func(d *Definition) { d.Version = "" }, want: "version is missing"},
		"Latest":      {reason: "A version must be a semantic version.", change: func(d *Definition) { d.Version = "latest" }, want: `version: invalid value "latest": must be a semantic version`},
		"Four":        {reason: "A version must have three numbers.", change: func(d *Definition) { d.Version = "1.2.3.4" }, want: "must be a semantic version"},
		"Zero":        {reason: "Numbers begin with no zero.", change: func(d *Definition) { d.Version = "01.2.3" }, want: "must be a semantic version"},
		"Build":       {reason: "Build metadata and v are allowed.", change: func(d *Definition) { d.Version = "v1.2.3-rc.1+b.5" }},
		"Mark":        {reason: "A tag could not be read back.", change: func(d *Definition) { d.Version = "1.2.3-a.build-b" }, want: ".build-"},
		"Channel":     {reason: "A channel has lower case letters.", change: func(d *Definition) { d.Channel = "Fast" }, want: `channel: invalid value "Fast"`},
		"Short":       {reason: "A channel has 3 letters.", change: func(d *Definition) { d.Channel = "ab" }, want: "channel: invalid value"},
		"Provider":    {reason: "A provider must be a single line.", change: func(d *Definition) { d.Provider = "a\nb" }, want: "provider: invalid value"},
		"NoPath2":     {reason: "A chart must have a path.", change: func(d *Definition) { d.Charts[0].Path = "" }, want: "charts[0].path is missing"},
		"Absolute":    {reason: "A path must be relative.", change: func(d *Definition) { d.Charts[0].Path = "/etc" }, want: `charts[0].path: invalid value "/etc"`},
		"Climbing":    {reason: "A path must not lead out of the directory.", change: func(d *Definition) { d.Manifests[0].Path = "a/../../b" }, want: "manifests[0].path: invalid value"},
		"Inside":      {reason: "A path must not contain \"..\", even inside the directory.", change: func(d *Definition) { d.Kustomizations[0].Path = "a/../b" }, want: "kustomizations[0].path: invalid value"},
		"Backslash":   {reason: "A path must use slashes.", change: func(d *Definition) { d.CRDs[1] = `a\b` }, want: "crds[1]: invalid value"},
		"Install":     {reason: "An install has a name that a cluster takes.", change: func(d *Definition) { d.Charts[0].Name = "A" }, want: `charts[0].name: invalid install name "A"`},
		"LongInstall": {reason: "It is bounded like the name of a release.", change: func(d *Definition) { d.Charts[0].Name = strings.Repeat("a", 54) }, want: "charts[0].name: "},
		"Reserved":    {reason: "A chart must not be taken for something else.", change: func(d *Definition) { d.Charts[0].Name = "crds" }, want: `charts[0].name: "crds" is reserved`},
		"RawChart":    {reason: "A chart is not a plain YAML.", change: func(d *Definition) { d.Charts[0].Name = RawManifest }, want: "is reserved"},
		"Raw":         {reason: "Plain YAML may be named so.", change: func(d *Definition) { d.Manifests[0].Name = RawManifest }},
		"Twice":       {reason: "Names must be unique.", change: func(d *Definition) { d.Kustomizations[0].Name = "greeter" }, want: `kustomizations[0].name: "greeter" is also the name of charts[0]: rename one of them`},
		"BothConfigs": {reason: "A module can have only one config.", change: func(d *Definition) { d.Config.Path = "a" }, want: "config.path and config.configs are mutually exclusive"},
		"NoConfig":    {reason: "A config must not be empty.", change: func(d *Definition) { d.Config = &Config{} }, want: "config must have either path or configs"},
		"ConfigPath":  {reason: "The path of the config must be valid.", change: func(d *Definition) { d.Config = &Config{Path: "../a"} }, want: "config.path: invalid value"},
		"ConfigTwice": {reason: "An entry is there once.", change: func(d *Definition) { d.Config.Configs = append(d.Config.Configs, d.Config.Configs[0]) }, want: `config.configs[1].name: duplicate value "greeter"`},
		"CR":          {reason: "The path of the custom resource must be valid.", change: func(d *Definition) { d.DefaultCustomResource = "../a" }, want: "defaultCustomResource: invalid value"},
		"CEL":         {reason: "A readiness rule must not be empty.", change: func(d *Definition) { d.Readiness[0].CEL = "" }, want: "readiness[0].cel is missing"},
		"For":         {reason: "A rule is for a kind.", change: func(d *Definition) { d.Readiness[0].For.Kind = "" }, want: "readiness[0].for: apiVersion and kind are required"},
		"Password":    {reason: "Credentials would be published, and are not printed.", change: func(d *Definition) { d.Sources[0].Repository = "https://u:hush@git.example.org/a" }, want: "sources[0].repository: must not contain credentials"},
		"Token":       {reason: "A token in a URL is a credential.", change: func(d *Definition) { d.Sources[0].Repository = "https://git.example.org/a?token=hush" }, want: "sources[0].repository: must not contain credentials"},
		"SSH":         {reason: "The user git in a URL is not a credential.", change: func(d *Definition) { d.Sources[0].Repository = "ssh://git@git.example.org/a" }},
		"NoURL":       {reason: "A repository is a URL.", change: func(d *Definition) { d.Sources[0].Repository = "greeter" }, want: "sources[0].repository: must be the URL"},
		"Commit":      {reason: "A commit must be a hash.", change: func(d *Definition) { d.Sources[0].Commit = "HEAD" }, want: `sources[0].commit: invalid value "HEAD"`},
		"LabelKey":    {reason: "Labels are those of Kubernetes.", change: func(d *Definition) { d.Labels = map[string]string{"a b": "c"} }, want: "labels[a b]: invalid label name"},
		"LabelValue":  {reason: "The values of labels must be valid.", change: func(d *Definition) { d.Labels = map[string]string{"a": "b c"} }, want: `labels[a]: invalid value "b c"`},
		"Many": {reason: "The lengths of lists are limited.", change: func(d *Definition) {
			d.CRDs = append(make([]string, 0), strings.Split(strings.Repeat("a,", maxItems)+"a", ",")...)
		}, want: "at most 200 entries"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := parsed()
			tc.change(d)
			err := d.Check()
			if tc.want == "" {
				if err != nil {
					t.Errorf("\n%s\nCheck(): %v", tc.reason, err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), "hush") {
				t.Errorf("\n%s\nCheck(): want error %q, got %v", tc.reason, tc.want, err)
			}
		})
	}
}

func TestDetect(t *testing.T) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	kubebuilder := func(samples ...string) fstest.MapFS {
		out := fstest.MapFS{
			"PROJECT":                           file("domain: example.org\nprojectName: greeter\nversion: \"3\"\n"),
			"config/default/kustomization.yaml": file("resources: []"),
			"config/samples/kustomization.yaml": file("resources: []"),
		}
		for _, s := range samples {
			out["config/samples/"+s] = file("a: b")
		}
		return out
	}
	split := []Kustomization{{Path: "config/default", SplitCRDs: true}}
	cases := map[string]struct {
		reason string
		fsys   fstest.MapFS
		want   *Found
		err    string
	}{
		"Chart": {
			reason: "A chart provides the version, but no name for the component.",
			fsys:   fstest.MapFS{"Chart.yaml": file("name: greeter\nversion: 1.2.3\n"), "values.yaml": file("")},
			want:   &Found{Definition: &Definition{Version: "1.2.3", Charts: []Chart{{Path: "."}}}, Kind: "a chart", Chart: "greeter"},
		},
		"ChartVersion": {
			reason: "An invalid version of a chart is not used.",
			fsys:   fstest.MapFS{"Chart.yaml": file("name: greeter\nversion: latest\n")},
			want:   &Found{Definition: &Definition{Charts: []Chart{{Path: "."}}}, Kind: "a chart", Chart: "greeter"},
		},
		"BadChart": {reason: "A chart must be readable.", fsys: fstest.MapFS{"Chart.yaml": file("name: [")}, err: "Chart.yaml: "},
		"Kubebuilder": {
			reason: "A project provides the name, and its only sample is the default custom resource.",
			fsys:   kubebuilder("v1_greeting.yaml"),
			want: &Found{
				Definition: &Definition{Name: "example.org/module/greeter", Kustomizations: split, DefaultCustomResource: "config/samples/v1_greeting.yaml"},
				Kind:       "a kubebuilder project", Chart: "greeter",
			},
		},
		"Samples": {
			reason: "With several samples, there is no default custom resource.",
			fsys:   kubebuilder("b.yaml", "a.yaml"),
			want: &Found{
				Definition: &Definition{Name: "example.org/module/greeter", Kustomizations: split}, Kind: "a kubebuilder project", Chart: "greeter",
				Warnings: []string{"the module has no default custom resource, because config/samples contains 2 files: " +
					"set defaultCustomResource in module.yaml to one of config/samples/a.yaml, config/samples/b.yaml"},
			},
		},
		"NoDefault": {reason: "A project is built by its kustomization.", fsys: fstest.MapFS{"PROJECT": file("domain: a.org")}, err: "config/default contains no kustomization.yaml"},
		"Kustomization": {
			reason: "A directory with a kustomization becomes a kustomization.",
			fsys:   fstest.MapFS{"kustomization.yml": file("resources: []"), "a.yaml": file("")},
			want:   &Found{Definition: &Definition{Kustomizations: []Kustomization{{Path: "."}}}, Kind: "a kustomization"},
		},
		"Plain": {
			reason: "Other YAML files are installed as plain YAML.",
			fsys:   fstest.MapFS{"a.json": file(""), "README.md": file("")},
			want:   &Found{Definition: &Definition{Manifests: []Manifest{{Path: "."}}}, Kind: "a directory of YAML"},
		},
		"Nothing": {reason: "The error says what was looked for.", fsys: fstest.MapFS{"README.md": file(""), ".a.yaml": file("")}, err: "contains no chart (Chart.yaml), no kubebuilder project (PROJECT)"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := Detect(tc.fsys)
			if tc.err != "" {
				if err == nil || !strings.Contains(err.Error(), tc.err) {
					t.Errorf("\n%s\nDetect(...): want error %q, got %v", tc.reason, tc.err, err)
				}
				return
			}
			if diff := cmp.Diff(tc.want, got); diff != "" || err != nil {
				t.Errorf("\n%s\nDetect(...): %v, -want, +got:\n%s", tc.reason, err, diff)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(full))
	f.Add([]byte("a: &a [*a]"))
	f.Add([]byte("config: {configs: [{name: 1}]}"))
	if data, err := os.ReadFile("../build/testdata/full/module.yaml"); err == nil {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		defer fuzztest.Within(t, fuzztest.Limits{Base: 64 << 20, PerByte: 16 << 10}, len(data))()
		d, err := Parse(data)
		if err == nil {
			err = d.Check()
		}
		if err != nil && (err.Error() == "" || strings.Contains(err.Error(), "\n")) {
			t.Errorf("an error has one line: %q", err)
		}
	})
}
