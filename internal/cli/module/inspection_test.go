// SPDX-License-Identifier: Apache-2.0

package module_test

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
	"github.com/crossplane-contrib/provider-kyma/internal/module"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/archive"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/pull"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/store"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/store/layout"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/store/remote"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
)

var update = flag.Bool("update", false, "write the golden files")

// golden compares text with a file, after it has replaced the names of this run.
func golden(t *testing.T, file, got string, replace ...string) {
	t.Helper()
	got = strings.NewReplacer(replace...).Replace(got)
	path := filepath.Join("testdata", file)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s: -want, +got:\n%s", file, diff)
	}
}

// greeterChart returns the chart of version 1 or 2. Version 2 has a difference of each kind.
func greeterChart(v2 bool) controlplane.Files {
	f := controlplane.Files{
		"Chart.yaml":  []byte("apiVersion: v2\nname: greeter\nversion: 0.1.0\n"),
		"values.yaml": []byte("replicas: 1\nimage: example.org/greeter:1.0.0\nlog: {level: info}\n"),
		"templates/all.yaml": []byte(`apiVersion: apps/v1
kind: Deployment
metadata:
  name: greeter
  labels: {app.kubernetes.io/version: {{ .Chart.Version | quote }}}
spec:
  replicas: {{ .Values.replicas }}
  template:
    spec:
      containers:
      - name: main
        image: {{ .Values.image }}
        args: [--log={{ .Values.log.level }}]
---
apiVersion: v1
kind: Secret
metadata: {name: token}
stringData: {token: hunter1}
data: {other: aHVudGVyMQ==}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: old}
`),
	}
	if v2 {
		text := string(f["templates/all.yaml"])
		text = strings.NewReplacer("hunter1", "hunter2", "aHVudGVyMQ==", "aHVudGVyMg==", "{name: old}", "{name: new}",
			"- name: main", "- {name: side, image: example.org/side:1}\n      - name: main").Replace(text)
		f["templates/all.yaml"] = []byte(text)
		f["Chart.yaml"] = []byte("apiVersion: v2\nname: greeter\nversion: 0.2.0\n")
		f["values.yaml"] = []byte("replicas: 2\nimage: example.org/greeter:2.0.0\nlog: {level: info, json: true}\n")
	}
	return f
}

const greeterCRD = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: greeters.example.org}
spec:
  group: example.org
  names: {kind: Greeter, plural: greeters}
  scope: Namespaced
  versions: [{name: VERSION, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
`

// greeting returns a module with the given version, and the content of version 1 or 2.
func greeting(version string, v2 bool) controlplane.Component {
	crd := strings.Replace(greeterCRD, "VERSION", "v1", 1)
	if v2 {
		crd = strings.Replace(greeterCRD, "VERSION", "v2", 1)
	}
	return controlplane.Component{
		Name: greeter, Version: version,
		Resources: []controlplane.ComponentResource{
			{Name: "greeter", Type: "helm-chart", Files: greeterChart(v2)},
			{Name: "crds", Type: "crds", Files: controlplane.Files{"greeters.yaml": []byte(crd)}},
			{Name: "default-cr", Type: "yaml", Data: []byte("apiVersion: example.org/v1\nkind: Greeter\nspec: {count: 12345678901234567}\n")},
			{Name: "moduletemplate", Type: "plainText", Data: []byte("metadata: {labels: {team: greetings}}\n" +
				"spec: {readiness: [{cel: 'object.spec.count < 12345678901234568'}]}\n")},
			{Name: "image", Type: "ociArtifact", Access: map[string]any{"type": "ociArtifact", "imageReference": "example.org/tool:" + version}},
		},
	}
}

func pushGreeting(t *testing.T, r *controlplane.Registry, c controlplane.Component) controlplane.PushedComponent {
	t.Helper()
	p, err := r.PushComponent(t.Context(), "modules", c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// layoutOf copies a pushed module to a layout, and returns its path.
func layoutOf(t *testing.T, p controlplane.PushedComponent, tag string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "greeter.tar")
	l, err := layout.Create(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	from, err := remote.New(p.Repository, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.Copy(t.Context(), from, p.Digest, l, store.CopyOptions{Tag: tag}); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestInspect checks the output for people and for scripts.
func TestInspect(t *testing.T) {
	r := startRegistry(t, controlplane.WebOptions{})
	c := greeting("1.0.0", false)
	needs := controlplane.Files{
		"Chart.yaml":           []byte("apiVersion: v2\nname: needy\nversion: 0.1.0\n"),
		"templates/needy.yaml": []byte(`{{ required "set host" .Values.host }}`),
	}
	c.Resources = append(c.Resources, controlplane.ComponentResource{Name: "needy", Type: "helm-chart", Files: needs})
	p := pushGreeting(t, r, c)
	reference := p.Repository + ":1.0.0"
	path := layoutOf(t, p, "1.0.0")
	cases := map[string]struct {
		reason string
		args   []string
		golden string
	}{
		"Table":      {reason: "The default output is a tree.", args: []string{reference}, golden: "inspect.txt"},
		"Layout":     {reason: "A module in a layout can be inspected.", args: []string{path}, golden: "inspect-layout.txt"},
		"JSON":       {reason: "The output can be JSON.", args: []string{reference, "-o", "json"}, golden: "inspect.json"},
		"JSONPath":   {reason: "A single field can be selected.", args: []string{path, "-o", "jsonpath={.images}"}, golden: "inspect-images.txt"},
		"Descriptor": {reason: "The descriptor is as it was pushed.", args: []string{reference, "--descriptor"}, golden: "inspect-descriptor.json"},
		"Objects":    {reason: "The objects are a stream of YAML documents.", args: []string{path, "--show-objects"}, golden: "inspect-objects.yaml"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := kymactl(t, append([]string{"module", "inspect"}, tc.args...)...)
			if got.code != command.ExitOK {
				t.Fatalf("\n%s\nexit %d: %s", tc.reason, got.code, got.err)
			}
			// The descriptor contains the address of the registry, so its digest differs in each run.
			golden(t, tc.golden, got.out, r.Host(), "REGISTRY", path, "LAYOUT", p.Digest, "DIGEST", descriptorLayer(t, reference), "DESCRIPTOR")
			if warned := strings.Contains(got.err, "set host"); warned != (tc.golden == "inspect-objects.yaml") {
				t.Errorf("\n%s\nstderr: %s", tc.reason, got.err)
			}
		})
	}
}

func descriptorLayer(t *testing.T, reference string) string {
	t.Helper()
	got := kymactl(t, "module", "inspect", reference, "-o", "jsonpath={.layers[0].digest}")
	return strings.TrimSpace(got.out)
}

// TestInspectSigned checks that signatures are listed as not verified.
func TestInspectSigned(t *testing.T) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	r := startRegistry(t, controlplane.WebOptions{})
	c := greeting("1.0.0", false)
	// Omit the tool, because it has no digest.
	c.Resources = c.Resources[:4]
	c.Sign = &controlplane.Signing{Name: "kyma-module-signature", Key: key}
	got := kymactl(t, "module", "inspect", pushGreeting(t, r, c).Repository+":1.0.0")
	if !strings.Contains(got.out, "not verified here") || !strings.Contains(got.out, "kyma-module-signature   RSASSA-PKCS1-V1_5") {
		t.Errorf("got %s", got.out)
	}
}

// TestInspectionUsage checks the command lines that are rejected before anything is done.
func TestInspectionUsage(t *testing.T) {
	r := startRegistry(t, controlplane.WebOptions{})
	path := layoutOf(t, pushGreeting(t, r, greeting("1.0.0", false)), "1.0.0")
	missing := filepath.Join(t.TempDir(), "no.tar")
	cases := map[string]struct {
		reason string
		args   []string
		code   command.ExitCode
		want   string
	}{
		"Both":       {"Only one of the two flags can be set.", []string{"inspect", path, "--descriptor", "--show-objects"}, command.ExitUsage, "cannot be used with"},
		"Format":     {"An unknown format is refused.", []string{"inspect", path, "-o", "xml"}, command.ExitUsage, "xml"},
		"TwoFormats": {"The descriptor has one format.", []string{"inspect", path, "--descriptor", "-o", "json"}, command.ExitUsage, "--output"},
		"NoModule":   {"The module must exist.", []string{"inspect", missing}, command.ExitNotFound, "no.tar"},
		"NoTag":      {"The version must exist.", []string{"inspect", r.Host() + "/modules//" + greeter + ":9.9.9"}, command.ExitNotFound, "9.9.9"},
		"NoVersion":  {"A reference needs a version.", []string{"inspect", r.Host() + "/modules"}, command.ExitUsage, "version"},
		"DiffFormat": {"An unknown format is refused.", []string{"diff", path, path, "-o", "xml"}, command.ExitUsage, "xml"},
		"DiffTo":     {"Both modules must exist.", []string{"diff", path, missing}, command.ExitNotFound, "no.tar"},
		"Channel":    {"A channel must consist of lower case letters, digits and dashes.", []string{"template", path, "-c", "Fast1"}, command.ExitUsage, "letters"},
		"NoChannel":  {"A version has a channel or none.", []string{"template", path, "-c", "fast", "--no-channel"}, command.ExitUsage, "--no-channel"},
		"Release":    {"A release needs a channel.", []string{"template", path, "--release-meta", "--no-channel"}, command.ExitUsage, "--release-meta"},
		"Name":       {"A name must be valid in Kubernetes.", []string{"template", path, "--name", "A_b"}, command.ExitUsage, "--name"},
		"Mapping":    {"An unknown mapping is refused.", []string{"template", path, "--name-mapping", "x"}, command.ExitUsage, "--name-mapping"},
		"Repository": {"A repository must not contain credentials.", []string{"template", path, "--repository", "me:pw@h/a"}, command.ExitUsage, "credentials"},
		"Scheme":     {"A repository must not contain a scheme.", []string{"template", path, "--repository", "http://registry.example.org/a"}, command.ExitUsage, "scheme http://"},
		"Layout":     {"A layout is not in a registry.", []string{"template", path}, command.ExitUsage, "--repository"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := kymactl(t, append([]string{"module"}, tc.args...)...)
			if got.code != tc.code || !strings.Contains(got.err, tc.want) || got.out != "" {
				t.Errorf("\n%s\nwant exit %d with %q, got %d: %s%s", tc.reason, tc.code, tc.want, got.code, got.err, got.out)
			}
		})
	}
}

// TestDiff checks the output for people and for scripts.
func TestDiff(t *testing.T) {
	r := startRegistry(t, controlplane.WebOptions{})
	one, two := pushGreeting(t, r, greeting("1.0.0", false)), pushGreeting(t, r, greeting("2.0.0", true))
	from, to := one.Repository+":1.0.0", layoutOf(t, two, "2.0.0")
	for _, tc := range []struct {
		args   []string
		golden string
		code   command.ExitCode
	}{
		{args: []string{from, to}, golden: "diff.txt"},
		{args: []string{to, from}, golden: "diff-back.txt"},
		{args: []string{from, to, "-o", "json"}, golden: "diff.json"},
		{args: []string{from, from}, golden: "diff-same.txt"},
		{args: []string{from, from, "--exit-code"}, golden: "diff-same.txt"},
		{args: []string{from, to, "--exit-code"}, golden: "diff.txt", code: command.ExitFailure},
	} {
		got := kymactl(t, append([]string{"module", "diff"}, tc.args...)...)
		if got.code != tc.code {
			t.Errorf("%v: want exit %d, got %d: %s", tc.args, tc.code, got.code, got.err)
		}
		golden(t, tc.golden, got.out, one.Digest, "DIGEST1", two.Digest, "DIGEST2")
		for _, secret := range []string{"hunter", "aHVudGVyM"} {
			if strings.Contains(got.out+got.err, secret) {
				t.Errorf("%v: the data of a Secret is shown", tc.args)
			}
		}
	}
}

// TestDiffAuthenticated checks that the password is read only once for both modules.
func TestDiffAuthenticated(t *testing.T) {
	r := startRegistry(t, controlplane.WebOptions{Username: "me", Password: "hunter2"})
	reference := pushGreeting(t, r, greeting("1.0.0", false)).Repository + ":1.0.0"
	got := kymactlWith(t, "hunter2\n", "module", "diff", reference, reference, "--plain-http", "--username", "me", "--password-stdin")
	if got.code != command.ExitOK {
		t.Errorf("exit %d: %s", got.code, got.err)
	}
}

// TestTemplate checks the output, and that the controller can read it.
func TestTemplate(t *testing.T) {
	r := startRegistry(t, controlplane.WebOptions{})
	p := pushGreeting(t, r, greeting("1.0.0", false))
	reference := p.Repository + ":1.0.0"
	path := layoutOf(t, p, "1.0.0")
	file := filepath.Join(t.TempDir(), "template.yaml")
	for _, tc := range []struct {
		args   []string
		golden string
	}{
		{args: []string{reference}, golden: "template.yaml"},
		{args: []string{path, "--repository", r.Host() + "/modules"}, golden: "template.yaml"},
		{args: []string{reference, "--output", file}, golden: "template.yaml"},
		{args: []string{reference, "-o", "-"}, golden: "template.yaml"},
		{args: []string{reference, "-c", "fast", "--name", "mine"}, golden: "template-fast.yaml"},
		{args: []string{reference, "--no-channel"}, golden: "template-version.yaml"},
		{args: []string{reference, "--release-meta", "-c", "fast"}, golden: "template-release.yaml"},
		{args: []string{reference, "--inline"}, golden: "template-inline.yaml"},
		{args: []string{path, "--inline", "--repository", r.Host() + "/modules"}, golden: "template-inline.yaml"},
	} {
		got := kymactl(t, append([]string{"module", "template"}, tc.args...)...)
		if got.code != command.ExitOK {
			t.Fatalf("%v: exit %d: %s", tc.args, got.code, got.err)
		}
		if tc.args[1:] != nil && len(tc.args) == 3 && tc.args[1] == "--output" {
			data, err := os.ReadFile(file)
			if err != nil || got.out != "" {
				t.Fatalf("%v: %v, stdout %q", tc.args, err, got.out)
			}
			got.out = string(data)
		}
		golden(t, tc.golden, got.out, r.Host(), "REGISTRY")
		first, _, _ := strings.Cut(got.out, "---\n")
		readBack(t, first)
	}
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(file), "*")); err != nil || len(left) != 1 {
		t.Errorf("want only the file, got %v, %v", left, err)
	}
}

// readBack resolves a template in the same way as the controller.
func readBack(t *testing.T, text string) {
	t.Helper()
	data, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	m := &v1alpha1.ModuleTemplate{}
	if err := d.Decode(m); err != nil {
		t.Fatal(err)
	}
	puller, err := pull.New()
	if err != nil {
		t.Fatal(err)
	}
	defer puller.Close()
	res, err := module.NewResolver(puller, archive.DefaultLimits()).Resolve(t.Context(), nil, m)
	if err != nil {
		t.Fatal(err)
	}
	if res.ModuleName != "greeter" || res.Version != "1.0.0" || res.Data == nil {
		t.Errorf("got %+v", res)
	}
}
