// SPDX-License-Identifier: Apache-2.0

package kustomize

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/internal/render/input"
)

// tree splits a text into files. Each file begins with a line "== name".
func tree(text string) []input.File {
	var out []input.File
	for part := range strings.SplitSeq("\n"+text, "\n== ") {
		name, data, ok := strings.Cut(part, "\n")
		if ok && name != "" {
			out = append(out, input.File{Name: name, Data: []byte(data + "\n")})
		}
	}
	return out
}

const plainMap = `
== cm.yaml
apiVersion: v1
kind: ConfigMap
metadata: {name: x}
data: {a: b}`

func TestBuild(t *testing.T) {
	many := strings.Repeat("- {op: add, path: /data/a, value: b}\n", 3)
	cases := map[string]struct {
		reason string
		files  string
		dir    string
		want   string
		err    string
	}{
		"Overlay": {
			reason: "An overlay can refer to a base in a neighboring directory.",
			files: `== base/kustomization.yaml
resources: [cm.yaml]
== base/cm.yaml
apiVersion: v1
kind: ConfigMap
metadata: {name: x}
== overlay/kustomization.yml
resources: [../base]
namePrefix: a-
namespace: team`,
			dir:  "overlay",
			want: "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a-x\n  namespace: team\n",
		},
		"Order": {
			reason: "As in kubectl, Namespaces come first.",
			files: "== Kustomization\nresources: [cm.yaml, ns.yaml]" + plainMap +
				"\n== ns.yaml\napiVersion: v1\nkind: Namespace\nmetadata: {name: n}",
			want: "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: \"n\"\n---\napiVersion: v1\ndata:\n  a: b\nkind: ConfigMap\nmetadata:\n  name: x\n",
		},
		"Fifo": {
			reason: "A kustomization can specify its own order.",
			files: "== Kustomization\nsortOptions: {order: fifo}\nresources: [cm.yaml, ns.yaml]" + plainMap +
				"\n== ns.yaml\napiVersion: v1\nkind: Namespace\nmetadata: {name: n}",
			want: "apiVersion: v1\ndata:\n  a: b\nkind: ConfigMap\nmetadata:\n  name: x\n---\napiVersion: v1\nkind: Namespace\nmetadata:\n  name: \"n\"\n",
		},
		"Plugin": {
			reason: "The built-in plugins of kustomize can be listed.",
			files: "== kustomization.yaml\nresources: [cm.yaml]\ntransformers:\n- |-\n  apiVersion: builtin\n  kind: PrefixTransformer\n  metadata: {name: p}\n  prefix: a-\n  fieldSpecs: [{path: metadata/name}]" +
				plainMap,
			want: "apiVersion: v1\ndata:\n  a: b\nkind: ConfigMap\nmetadata:\n  name: a-x\n",
		},
		"Alias": {
			reason: "Aliases are expanded.",
			files:  "== kustomization.yaml\nresources: [cm.yaml]\n== cm.yaml\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: &n x}\ndata: {a: *n}",
			want:   "apiVersion: v1\ndata:\n  a: x\nkind: ConfigMap\nmetadata:\n  name: x\n",
		},
		"Copy": {
			reason: "A JSON patch can copy values.",
			files:  "== kustomization.yaml\nresources: [cm.yaml]\npatches: [{target: {kind: ConfigMap}, patch: '[{\"op\": \"copy\", \"from\": \"/data/a\", \"path\": \"/data/c\"}]'}]" + plainMap,
			want:   "apiVersion: v1\ndata:\n  a: b\n  c: b\nkind: ConfigMap\nmetadata:\n  name: x\n",
		},
		"SameName": {
			reason: "With replacements, objects may have the same name, also before a prefix.",
			files: `== kustomization.yaml
resources: [b1, b2]
replacements: [{sourceValue: abc, targets: [{select: {kind: ConfigMap, name: q-x}, fieldPaths: [data.a]}]}]
== b1/kustomization.yaml
resources: [a.yaml]
namePrefix: q-
== b1/a.yaml
{apiVersion: v1, kind: ConfigMap, metadata: {name: x}, data: {a: b}}
== b2/kustomization.yaml
resources: [a.yaml]
namePrefix: r-
== b2/a.yaml
{apiVersion: v1, kind: ConfigMap, metadata: {name: x}, data: {a: b}}`,
			want: "apiVersion: v1\ndata:\n  a: abc\nkind: ConfigMap\nmetadata:\n  name: q-x\n---\napiVersion: v1\ndata:\n  a: b\nkind: ConfigMap\nmetadata:\n  name: r-x\n",
		},
		"Rename": {
			reason: "A replacement may change a name.",
			files:  "== kustomization.yaml\nresources: [cm.yaml]\nreplacements: [{sourceValue: abc, targets: [{select: {kind: ConfigMap}, fieldPaths: [metadata.name]}]}]" + plainMap,
			want:   "apiVersion: v1\ndata:\n  a: b\nkind: ConfigMap\nmetadata:\n  name: abc\n",
		},
		"NoDir":        {reason: "The directory must exist.", files: plainMap, dir: "a", err: `directory "a" does not exist`},
		"None":         {reason: "The directory must contain a kustomization.", files: plainMap, err: `directory "" has no kustomization.yaml`},
		"Two":          {reason: "Two kustomization files are ambiguous.", files: "== kustomization.yaml\nx\n== Kustomization\ny", err: "both kustomization.yaml and Kustomization exist"},
		"Empty":        {reason: "Kustomize rejects an empty kustomization.", files: "== kustomization.yaml\n{}", err: "cannot build the kustomization: kustomization.yaml is empty"},
		"Unknown":      {reason: "The error names an unknown field.", files: "== kustomization.yaml\nnamepreefix: a", err: `kustomization.yaml: invalid Kustomization: json: unknown field "namepreefix"`},
		"URL":          {reason: "Remote resources are not downloaded.", files: "== a/kustomization.yaml\nresources: [\"https://example.org/x.yaml\"]", dir: "a", err: `a/kustomization.yaml: resources[0]: "https://example.org/x.yaml" is a URL or a git reference, which is not fetched; add the files instead`},
		"GitHub":       {reason: "A GitHub repository is rejected, even without a scheme.", files: "== kustomization.yaml\nbases: [GitHub.com/a/b]", err: `resources[0]: "GitHub.com/a/b" is a URL or a git reference`},
		"Git":          {reason: "A Git repository is rejected.", files: "== kustomization.yaml\ncomponents: [\"git@host:a/b\"]", err: `components[0]: "git@host:a/b" is a URL`},
		"FileURL":      {reason: "A file URL is rejected.", files: "== kustomization.yaml\nresources: [\"file:///etc\"]", err: `resources[0]: "file:///etc" is a URL`},
		"Absolute":     {reason: "An absolute path is rejected.", files: "== kustomization.yaml\nresources: [/etc/passwd]", err: `resources[0]: "/etc/passwd" must be a relative path with slashes`},
		"Climbs":       {reason: "A path must not leave the root.", files: "== a/kustomization.yaml\nresources: [../../x]", dir: "a", err: `a/kustomization.yaml: resources[0]: "../../x" is outside of the layer`},
		"Missing":      {reason: "A resource must exist.", files: "== kustomization.yaml\nresources: [x.yaml]", err: `kustomization.yaml: resources[0]: "x.yaml" does not exist`},
		"Outside":      {reason: "As in kustomize, files must be below the kustomization.", files: "== a/kustomization.yaml\nresources: [../cm.yaml]" + plainMap, dir: "a", err: `resources[0]: "../cm.yaml" is outside of the directory of the kustomization, which kustomize does not allow`},
		"Cycle":        {reason: "Bases must not refer to each other in a cycle.", files: "== a/kustomization.yaml\nresources: [../b]\n== b/kustomization.yaml\nresources: [../a]", dir: "a", err: `b/kustomization.yaml: resources[0]: "../a" refers to a kustomization that includes this one`},
		"Self":         {reason: "A kustomization must not refer to itself.", files: "== kustomization.yaml\nresources: [.]", err: `resources[0]: "." refers to a kustomization that includes this one`},
		"Nested":       {reason: "The error contains the path of the base.", files: "== kustomization.yaml\nresources: [b]\n== b/kustomization.yaml\ncrds: [\"http://x\"]", err: `b/kustomization.yaml: crds[0]: "http://x" is a URL`},
		"PatchURL":     {reason: "All fields with a path are checked.", files: "== kustomization.yaml\npatches: [{path: \"http://x\"}]", err: `patches[0].path: "http://x" is a URL`},
		"Patch6902":    {reason: "All fields with a path are checked.", files: "== kustomization.yaml\npatchesJson6902: [{path: \"http://x\"}]", err: `patchesJson6902[0].path: "http://x" is a URL`},
		"PatchMerge":   {reason: "All fields with a path are checked.", files: "== kustomization.yaml\npatchesStrategicMerge: [\"http://x\"]", err: `patchesStrategicMerge[0]: "http://x" is a URL`},
		"Replacements": {reason: "All fields with a path are checked.", files: "== kustomization.yaml\nreplacements: [{path: \"http://x\"}]", err: `replacements[0].path: "http://x" is a URL`},
		"Files":        {reason: "All fields with a path are checked.", files: "== kustomization.yaml\nconfigMapGenerator: [{name: a, files: [\"k=http://x\"]}]", err: `configMapGenerator[0].files[0]: "http://x" is a URL`},
		"Envs":         {reason: "All fields with a path are checked.", files: "== kustomization.yaml\nsecretGenerator: [{name: a, env: ../x}]", err: `secretGenerator[0].envs[0]: "../x" is outside of the layer`},
		"Config":       {reason: "All fields with a path are checked.", files: "== kustomization.yaml\nconfigurations: [\"http://x\"]", err: `configurations[0]: "http://x" is a URL`},
		"Generators":   {reason: "All fields with a path are checked.", files: "== kustomization.yaml\ngenerators: [\"http://x\"]", err: `generators[0]: "http://x" is a URL`},
		"Validators":   {reason: "All fields with a path are checked.", files: "== kustomization.yaml\nvalidators: [\"http://x\"]", err: `validators[0]: "http://x" is a URL`},
		"PluginURL":    {reason: "The fields of plugins with a path are checked, too.", files: "== kustomization.yaml\ntransformers: [\"{apiVersion: builtin, kind: PatchTransformer, metadata: {name: x}, Path: 'http://x'}\"]", err: `transformers[0].path: "http://x" is a URL`},
		"PluginDir":    {reason: "A generated plugin cannot be checked, so it is rejected.", files: "== kustomization.yaml\ntransformers: [a]\n== a/kustomization.yaml\nresources: []", err: `transformers[0]: "a" is a directory`},
		"OpenAPI":      {reason: "An OpenAPI schema would change the state of the process.", files: "== kustomization.yaml\nopenapi: {path: s.json}", err: `openapi.path: "s.json" is not supported`},
		"OpenAPIOther": {reason: "Another OpenAPI version would change the state of the process.", files: "== kustomization.yaml\nopenapi: {version: v1.21.2}", err: `openapi.version: "v1.21.2" is not supported`},
		"Helm":         {reason: "A helmCharts field would execute helm.", files: "== kustomization.yaml\nhelmCharts: [{name: c, repo: \"http://x\"}]", err: `helmCharts: "c" is not supported`},
		"OldHelm":      {reason: "A helmChartInflationGenerator field would execute helm.", files: "== kustomization.yaml\nhelmChartInflationGenerator: [{chartName: c, chartRepoUrl: \"http://x\"}]", err: `helmCharts: "c" is not supported`},
		"HelmPlugin":   {reason: "A Helm plugin would execute helm.", files: "== kustomization.yaml\ngenerators: [\"{apiVersion: builtin, kind: HelmChartInflationGenerator, metadata: {name: x}, name: c}\"]", err: `generators[0]: "builtin HelmChartInflationGenerator" is not a built-in plugin of kustomize`},
		"ExecInList":   {reason: "A function in a list is rejected.", files: "== kustomization.yaml\ntransformers: [\"{apiVersion: v1, kind: List, items: [{apiVersion: x/v1, kind: Y, metadata: {name: x}}]}\"]", err: `transformers[0]: "x/v1 Y" is not a built-in plugin of kustomize`},
		"ExecAsList":   {reason: "An object with items is not necessarily a list.", files: "== kustomization.yaml\ntransformers: [\"{apiVersion: x/v1, kind: Y, metadata: {name: x}, items: [{apiVersion: builtin, kind: LabelTransformer, metadata: {name: x}}]}\"]", err: `transformers[0]: "x/v1 Y" is not a built-in plugin of kustomize`},
		"Exec":         {reason: "Functions are not executed.", files: "== kustomization.yaml\ntransformers: [\"{apiVersion: x/v1, kind: Y, metadata: {name: x, annotations: {config.kubernetes.io/function: 'exec: {path: /bin/sh}'}}}\"]", err: `transformers[0]: "x/v1 Y" is not a built-in plugin of kustomize`},
		"NaN":          {reason: "The content of the object can be secret.", files: "== kustomization.yaml\nresources: [a.yaml]\n== a.yaml\napiVersion: v1\nkind: X\nmetadata: {name: x}\na: .nan", err: "cannot write the objects of the kustomization: one of them has a value that JSON cannot represent, such as the number .nan"},
		"BadPatch":     {reason: "The error of kustomize names the patch.", files: "== kustomization.yaml\nresources: [cm.yaml]\npatches: [{target: {kind: ConfigMap}, patch: '" + many + "- {op: remove, path: /nope}'}]" + plainMap, err: "cannot build the kustomization: "},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := Build(t.Context(), tree(tc.files), tc.dir)
			switch {
			case tc.err == "" && err != nil:
				t.Fatalf("\n%s\nBuild(...): %v", tc.reason, err)
			case tc.err != "" && (err == nil || !strings.Contains(err.Error(), tc.err)):
				t.Fatalf("\n%s\nBuild(...): want error %q, got %v", tc.reason, tc.err, err)
			case err != nil && (strings.Contains(err.Error(), "\n") || len(err.Error()) > 2*1024):
				t.Errorf("the error is too long, or has more than one line: %q", err)
			}
			if diff := cmp.Diff(tc.want, string(got)); diff != "" {
				t.Errorf("\n%s\nBuild(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// features returns a tree with all features that modules use.
const features = `== base/kustomization.yaml
resources: [deploy.yaml]
configMapGenerator: [{name: settings, literals: [a=b], files: [data.txt]}]
== base/data.txt
text
== base/deploy.yaml
apiVersion: apps/v1
kind: Deployment
metadata: {name: app}
spec:
  selector: {matchLabels: {app: app}}
  template:
    metadata: {labels: {app: app}}
    spec:
      containers: [{name: app, image: img:1, envFrom: [{configMapRef: {name: settings}}]}]
== overlay/kustomization.yaml
resources: [../base]
namePrefix: a-
labels: [{pairs: {x: z}, includeSelectors: true}]
images: [{name: img, newTag: "2"}]
replicas: [{name: app, count: 3}]
patches: [{target: {kind: Deployment}, patch: '[{"op": "add", "path": "/metadata/annotations", "value": {"a": "b"}}]'}]
`

// TestBuildTogether checks that concurrent builds do not affect each other, and that the order of files does not matter.
func TestBuildTogether(t *testing.T) {
	want, err := Build(t.Context(), tree(features), "overlay")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			files := tree(features)
			if i%2 == 1 {
				files[0], files[len(files)-1] = files[len(files)-1], files[0]
			}
			if got, err := Build(t.Context(), files, "overlay"); err != nil || !bytes.Equal(got, want) {
				t.Errorf("got %v and\n%s", err, got)
			}
			if _, err := Build(t.Context(), tree("== kustomization.yaml\nopenapi: {version: v1.21.2}"), ""); err == nil {
				t.Error("a schema is accepted")
			}
		})
	}
	wg.Wait()
}

func TestBuildCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Build(ctx, tree(features), "overlay"); err == nil || !strings.Contains(err.Error(), context.Canceled.Error()) {
		t.Errorf("want an error of the context, got %v", err)
	}
}

func BenchmarkBuild(b *testing.B) {
	files := tree(features)
	b.Run("Small", func(b *testing.B) {
		for b.Loop() {
			if _, err := Build(b.Context(), files, "overlay"); err != nil {
				b.Fatal(err)
			}
		}
	})
	var text strings.Builder
	text.WriteString("== kustomization.yaml\nresources: [many.yaml]\nnamePrefix: a-\nlabels: [{pairs: {x: z}}]\n== many.yaml\n")
	for i := range 500 {
		fmt.Fprintf(&text, "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c%d}\ndata: {a: b}\n", i)
	}
	many := tree(text.String())
	b.Run("500Objects", func(b *testing.B) {
		for b.Loop() {
			if _, err := Build(b.Context(), many, ""); err != nil {
				b.Fatal(err)
			}
		}
	})
}
