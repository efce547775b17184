// SPDX-License-Identifier: Apache-2.0

package kustomize

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/internal/fuzztest"
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
			reason: "A base and an overlay beside it, in which the directory is what is built.",
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
			reason: "As kubectl, Namespaces come first.",
			files: "== Kustomization\nresources: [cm.yaml, ns.yaml]" + plainMap +
				"\n== ns.yaml\napiVersion: v1\nkind: Namespace\nmetadata: {name: n}",
			want: "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: \"n\"\n---\napiVersion: v1\ndata:\n  a: b\nkind: ConfigMap\nmetadata:\n  name: x\n",
		},
		"Fifo": {
			reason: "Unless the kustomization asks for its own order.",
			files: "== Kustomization\nsortOptions: {order: fifo}\nresources: [cm.yaml, ns.yaml]" + plainMap +
				"\n== ns.yaml\napiVersion: v1\nkind: Namespace\nmetadata: {name: n}",
			want: "apiVersion: v1\ndata:\n  a: b\nkind: ConfigMap\nmetadata:\n  name: x\n---\napiVersion: v1\nkind: Namespace\nmetadata:\n  name: \"n\"\n",
		},
		"Plugin": {
			reason: "What is built into kustomize may be listed.",
			files: "== kustomization.yaml\nresources: [cm.yaml]\ntransformers:\n- |-\n  apiVersion: builtin\n  kind: PrefixTransformer\n  metadata: {name: p}\n  prefix: a-\n  fieldSpecs: [{path: metadata/name}]" +
				plainMap,
			want: "apiVersion: v1\ndata:\n  a: b\nkind: ConfigMap\nmetadata:\n  name: a-x\n",
		},
		"Alias": {
			reason: "Aliases are written out.",
			files:  "== kustomization.yaml\nresources: [cm.yaml]\n== cm.yaml\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: &n x}\ndata: {a: *n}",
			want:   "apiVersion: v1\ndata:\n  a: x\nkind: ConfigMap\nmetadata:\n  name: x\n",
		},
		"NoFolder":     {reason: "The directory must exist.", files: plainMap, dir: "a", err: `directory "a" does not exist`},
		"None":         {reason: "It must be one.", files: plainMap, err: `directory "" has no kustomization.yaml`},
		"Two":          {reason: "Which one?", files: "== kustomization.yaml\nx\n== Kustomization\ny", err: "both kustomization.yaml and Kustomization exist"},
		"Empty":        {reason: "Kustomize says so.", files: "== kustomization.yaml\n{}", err: "cannot build the kustomization: kustomization.yaml is empty"},
		"Unknown":      {reason: "A field that does not exist is named.", files: "== kustomization.yaml\nnamepreefix: a", err: `kustomization.yaml: invalid Kustomization: json: unknown field "namepreefix"`},
		"URL":          {reason: "Nothing is fetched.", files: "== a/kustomization.yaml\nresources: [\"https://example.org/x.yaml\"]", dir: "a", err: `a/kustomization.yaml: resources[0]: "https://example.org/x.yaml" is a URL or a git reference, which is not fetched; add the files instead`},
		"GitHub":       {reason: "It needs no scheme.", files: "== kustomization.yaml\nbases: [GitHub.com/a/b]", err: `resources[0]: "GitHub.com/a/b" is a URL or a git reference`},
		"Git":          {reason: "Nor here.", files: "== kustomization.yaml\ncomponents: [\"git@host:a/b\"]", err: `components[0]: "git@host:a/b" is a URL`},
		"FileURL":      {reason: "Nor is it a file of this machine.", files: "== kustomization.yaml\nresources: [\"file:///etc\"]", err: `resources[0]: "file:///etc" is a URL`},
		"Absolute":     {reason: "There is no root.", files: "== kustomization.yaml\nresources: [/etc/passwd]", err: `resources[0]: "/etc/passwd" must be a relative path with slashes`},
		"Climbs":       {reason: "Files end at their root.", files: "== a/kustomization.yaml\nresources: [../../x]", dir: "a", err: `a/kustomization.yaml: resources[0]: "../../x" is outside of the layer`},
		"Missing":      {reason: "It must be there.", files: "== kustomization.yaml\nresources: [x.yaml]", err: `kustomization.yaml: resources[0]: "x.yaml" does not exist`},
		"Outside":      {reason: "As kustomize, files lie below the kustomization.", files: "== a/kustomization.yaml\nresources: [../cm.yaml]" + plainMap, dir: "a", err: `resources[0]: "../cm.yaml" is outside of the directory of the kustomization, which kustomize does not allow`},
		"Cycle":        {reason: "A base must not need what needs it.", files: "== a/kustomization.yaml\nresources: [../b]\n== b/kustomization.yaml\nresources: [../a]", dir: "a", err: `b/kustomization.yaml: resources[0]: "../a" refers to a kustomization that includes this one`},
		"Self":         {reason: "Nor itself.", files: "== kustomization.yaml\nresources: [.]", err: `resources[0]: "." refers to a kustomization that includes this one`},
		"Nested":       {reason: "The file is that of the base.", files: "== kustomization.yaml\nresources: [b]\n== b/kustomization.yaml\ncrds: [\"http://x\"]", err: `b/kustomization.yaml: crds[0]: "http://x" is a URL`},
		"PatchURL":     {reason: "Each field with a path.", files: "== kustomization.yaml\npatches: [{path: \"http://x\"}]", err: `patches[0].path: "http://x" is a URL`},
		"Patch6902":    {reason: "Each field with a path.", files: "== kustomization.yaml\npatchesJson6902: [{path: \"http://x\"}]", err: `patchesJson6902[0].path: "http://x" is a URL`},
		"PatchMerge":   {reason: "Each field with a path.", files: "== kustomization.yaml\npatchesStrategicMerge: [\"http://x\"]", err: `patchesStrategicMerge[0]: "http://x" is a URL`},
		"Replacements": {reason: "Each field with a path.", files: "== kustomization.yaml\nreplacements: [{path: \"http://x\"}]", err: `replacements[0].path: "http://x" is a URL`},
		"Files":        {reason: "Each field with a path.", files: "== kustomization.yaml\nconfigMapGenerator: [{name: a, files: [\"k=http://x\"]}]", err: `configMapGenerator[0].files[0]: "http://x" is a URL`},
		"Envs":         {reason: "Each field with a path.", files: "== kustomization.yaml\nsecretGenerator: [{name: a, env: ../x}]", err: `secretGenerator[0].envs[0]: "../x" is outside of the layer`},
		"Config":       {reason: "Each field with a path.", files: "== kustomization.yaml\nconfigurations: [\"http://x\"]", err: `configurations[0]: "http://x" is a URL`},
		"Generators":   {reason: "Each field with a path.", files: "== kustomization.yaml\ngenerators: [\"http://x\"]", err: `generators[0]: "http://x" is a URL`},
		"Validators":   {reason: "Each field with a path.", files: "== kustomization.yaml\nvalidators: [\"http://x\"]", err: `validators[0]: "http://x" is a URL`},
		"PluginURL":    {reason: "Plugins have fields with paths, too.", files: "== kustomization.yaml\ntransformers: [\"{apiVersion: builtin, kind: PatchTransformer, metadata: {name: x}, Path: 'http://x'}\"]", err: `transformers[0].path: "http://x" is a URL`},
		"PluginFolder": {reason: "What makes a plugin cannot be checked.", files: "== kustomization.yaml\ntransformers: [a]\n== a/kustomization.yaml\nresources: []", err: `transformers[0]: "a" is a directory`},
		"OpenAPI":      {reason: "It would change the process.", files: "== kustomization.yaml\nopenapi: {path: s.json}", err: `openapi.path: "s.json" is not supported`},
		"OpenAPIOther": {reason: "It would change the process.", files: "== kustomization.yaml\nopenapi: {version: v1.21.2}", err: `openapi.version: "v1.21.2" is not supported`},
		"Helm":         {reason: "It would execute helm.", files: "== kustomization.yaml\nhelmCharts: [{name: c, repo: \"http://x\"}]", err: `helmCharts: "c" is not supported`},
		"OldHelm":      {reason: "It would execute helm.", files: "== kustomization.yaml\nhelmChartInflationGenerator: [{chartName: c, chartRepoUrl: \"http://x\"}]", err: `helmCharts: "c" is not supported`},
		"HelmPlugin":   {reason: "It would execute helm.", files: "== kustomization.yaml\ngenerators: [\"{apiVersion: builtin, kind: HelmChartInflationGenerator, metadata: {name: x}, name: c}\"]", err: `generators[0]: "builtin HelmChartInflationGenerator" is not a built-in plugin of kustomize`},
		"Exec":         {reason: "Functions are executed elsewhere.", files: "== kustomization.yaml\ntransformers: [\"{apiVersion: x/v1, kind: Y, metadata: {name: x, annotations: {config.kubernetes.io/function: 'exec: {path: /bin/sh}'}}}\"]", err: `transformers[0]: "x/v1 Y" is not a built-in plugin of kustomize; other plugins are not executed`},
		"Endless":      {reason: "Kustomize would not stop.", files: "== kustomization.yaml\nresources: [a.yaml]\n== a.yaml\na: &a [*a]", err: "a.yaml: an alias contains itself"},
		"Bomb":         {reason: "Aliases are bounded.", files: "== kustomization.yaml\nresources: [a.yaml]\n== a.yaml\n" + aliasBomb(), err: "YAML is larger than 5242880 bytes when its aliases are expanded"},
		"Copy":         {reason: "Each may double an object.", files: "== kustomization.yaml\nresources: [cm.yaml]\npatches: [{target: {kind: ConfigMap}, patch: '[{\"op\": \"copy\", \"from\": \"/data\", \"path\": \"/data/x\"}]'}]" + plainMap, err: `patches[0].patch[0].op: "copy" is not supported`},
		"NaN":          {reason: "Kustomize would end the process.", files: "== kustomization.yaml\nresources: [a.yaml]\n== a.yaml\napiVersion: v1\nkind: X\nmetadata: {name: x}\na: .nan", err: "a.yaml: json: unsupported value: NaN"},
		"Diamond":      {reason: "Bases that double end.", files: diamond(12), dir: "0", err: "more than 256 kustomizations to build, including repeated uses"},
		"Deep":         {reason: "Depth ends.", files: chain(40), dir: "0", err: "kustomizations are nested more than 32 levels deep"},
		"Vars":         {reason: "Variables multiply.", files: "== kustomization.yaml\nresources: [cm.yaml, big.yaml]\nvars: [{name: A, objref: {kind: ConfigMap, name: big, apiVersion: v1}, fieldref: {fieldPath: data.a}}]\n" + large(1<<20) + "\n== cm.yaml\napiVersion: v1\nkind: Pod\nmetadata: {name: x}\na: \"" + strings.Repeat("$(A)", 1000) + `"`, err: "patches, labels, variables and replacements could add more than 134217728 bytes"},
		"Targets":      {reason: "Replacements multiply.", files: "== kustomization.yaml\nresources: [many.yaml, big.yaml]\nreplacements: [{source: {kind: ConfigMap, name: big, fieldPath: data}, targets: [{select: {kind: Pod}, fieldPaths: [x], options: {create: true}}]}]\n" + large(1<<20) + "\n== many.yaml\n" + pods(500), err: "patches, labels, variables and replacements could add more than 134217728 bytes"},
		"Feeding":      {reason: "Replacements double.", files: "== kustomization.yaml\nresources: [cm.yaml]\nreplacements:\n" + strings.Repeat("- {source: {kind: ConfigMap, fieldPath: data}, targets: [{select: {kind: ConfigMap}, fieldPaths: [data.x], options: {create: true}}]}\n", 30) + plainMap, err: "more than 4 replacements copy fields that other replacements write"},
		"Labels":       {reason: "Labels multiply.", files: "== kustomization.yaml\nresources: [many.yaml]\ncommonAnnotations: {a: " + strings.Repeat("x", 20000) + "}\n== many.yaml\n" + strings.Repeat("---\nkind: Pod\n", 900), err: "patches, labels, variables and replacements could add more than 134217728 bytes"},
		"Objects":      {reason: "There is an end of objects.", files: "== kustomization.yaml\nresources: [many.yaml]\n== many.yaml\n" + strings.Repeat("---\nkind: Pod\n", 1001), err: "more than 1000 objects"},
		"Read":         {reason: "A file may be read a thousand times.", files: "== kustomization.yaml\nconfigMapGenerator:\n" + strings.Repeat("- {name: a, files: [big.yaml]}\n", 70) + large(1<<20), err: "the files of the kustomization are together larger than"},
		"Fatal": {
			reason: "Kustomize would end the process: the reference is ambiguous, and x cannot be printed.",
			files: `== kustomization.yaml
resources: [crb.yaml, b1, b2]
namePrefix: p-
replacements: [{sourceValue: "abc", targets: [{select: {kind: ClusterRoleBinding}, fieldPaths: [x]}]}]
configurations: [c.yaml]
== c.yaml
nameReference: [{kind: ConfigMap, version: v1, fieldSpecs: [{path: ref, kind: ClusterRoleBinding}]}]
== b1/kustomization.yaml
resources: [a.yaml]
namePrefix: q-
== b1/a.yaml
{apiVersion: v1, kind: ConfigMap, metadata: {name: x}}
== b2/kustomization.yaml
resources: [a.yaml]
namePrefix: r-
== b2/a.yaml
{apiVersion: v1, kind: ConfigMap, metadata: {name: x}}
== crb.yaml
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: x}, ref: x, x: 1.5}`,
			err: `replacements are not supported if two objects have or had the same name, because references to it could be ambiguous: ConfigMap "x"`,
		},
		"FatalPrefix": {
			reason: "A name that a prefix makes counts.",
			files: `== kustomization.yaml
resources: [cm.yaml, b1]
replacements: [{sourceValue: "abc", targets: [{select: {kind: Pod}, fieldPaths: [x]}]}]
== b1/kustomization.yaml
resources: [a.yaml]
namePrefix: q-
== b1/a.yaml
{apiVersion: v1, kind: ConfigMap, metadata: {name: x}}
== cm.yaml
{apiVersion: v1, kind: ConfigMap, metadata: {name: q-x}}`,
			err: `ConfigMap "q-x"`,
		},
		"FatalName": {
			reason: "A name that is replaced is not known.",
			files:  "== kustomization.yaml\nresources: [cm.yaml]\nreplacements: [{sourceValue: abc, targets: [{select: {kind: ConfigMap}}]}]" + plainMap,
			err:    "kustomization.yaml: replacements[0] cannot be combined with replacements",
		},
		"Steps":    {reason: "Time is bounded.", files: "== kustomization.yaml\nresources: [many.yaml]\nimages:\n" + strings.Repeat("- {name: a, newTag: b}\n", 600) + "== many.yaml\n" + pods(500), err: "too many patches, images and other transformations (600) for 500 objects"},
		"BadPatch": {reason: "Kustomize says which.", files: "== kustomization.yaml\nresources: [cm.yaml]\npatches: [{target: {kind: ConfigMap}, patch: '" + many + "- {op: remove, path: /nope}'}]" + plainMap, err: "kustomization.yaml: patches[0].patch:"},
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

// pods returns pods with different names.
func pods(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "---\napiVersion: v1\nkind: Pod\nmetadata: {name: p%d}\n", i)
	}
	return b.String()
}

func large(n int) string {
	return "\n== big.yaml\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: big}\ndata: {a: " + strings.Repeat("x", n) + "}"
}

func aliasBomb() string {
	var b strings.Builder
	b.WriteString("a0: &a0 " + strings.Repeat("x", 100) + "\n")
	for i := 1; i < 12; i++ {
		fmt.Fprintf(&b, "a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 10), ", "))
	}
	return b.String()
}

// diamond returns nested kustomizations: each level uses the level below it twice.
func diamond(depth int) string {
	var b strings.Builder
	for i := range depth {
		fmt.Fprintf(&b, "== %d/kustomization.yaml\nresources: [../a%d, ../b%d]\n", i, i, i)
		for _, side := range []string{"a", "b"} {
			fmt.Fprintf(&b, "== %s%d/kustomization.yaml\nnamePrefix: %s\nresources: [../%d]\n", side, i, side, i+1)
		}
	}
	fmt.Fprintf(&b, "== %d/kustomization.yaml\nresources: [cm.yaml]\n== %d/cm.yaml\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}", depth, depth)
	return b.String()
}

func chain(depth int) string {
	var b strings.Builder
	for i := range depth {
		fmt.Fprintf(&b, "== %d/kustomization.yaml\nresources: [../%d]\n", i, i+1)
	}
	return b.String()
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

// noNetwork is a transport that fails all requests.
type noNetwork struct{ t *testing.T }

func (n noNetwork) RoundTrip(r *http.Request) (*http.Response, error) {
	n.t.Errorf("a request for %s", r.URL)
	return nil, http.ErrServerClosed
}

// FuzzBuild checks that no kustomization accesses the network or files of this machine, or ends the process, and that errors
// are a single line.
func FuzzBuild(f *testing.F) {
	f.Add([]byte(features[:200]), []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}"))
	for _, s := range []string{
		"resources: [a.yaml, b]\nvars: [{name: A, objref: {kind: ConfigMap, name: x, apiVersion: v1}}]",
		"resources: [a.yaml]\nreplacements: [{source: {kind: ConfigMap, name: x}, targets: [{select: {name: x}, fieldPaths: [data.a]}]}]",
		"resources: [a.yaml]\npatches: [{path: a.yaml}, {patch: '[{\"op\": \"remove\", \"path\": \"/data\"}]', target: {name: x}}]",
		"generators: ['{apiVersion: builtin, kind: ConfigMapGenerator, metadata: {name: g}, files: [a.yaml]}']",
		"crds: [a.yaml]\nconfigurations: [a.yaml]\nresources: [http://127.0.0.1:1/x]",
		"resources: [b]\ncomponents: [b]\nimages: [{name: a, newTag: b}]\nreplicas: [{name: x, count: 1}]",
	} {
		f.Add([]byte(s), []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata: {a: $(A)}"))
	}
	was := http.DefaultTransport
	f.Cleanup(func() { http.DefaultTransport = was })
	f.Setenv("PATH", "")
	f.Fuzz(func(t *testing.T, k, other []byte) {
		defer fuzztest.Within(t, fuzztest.Limits{Base: 256 << 20, PerByte: 64 << 10}, len(k)+len(other))()
		http.DefaultTransport = noNetwork{t}
		out, err := Build(t.Context(), []input.File{
			{Name: "kustomization.yaml", Data: k}, {Name: "a.yaml", Data: other},
			{Name: "b/kustomization.yaml", Data: other}, {Name: "b/a.yaml", Data: other},
		}, "")
		if err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("the error has more than one line: %q", err)
		}
		if err == nil && len(out) > maxOutput {
			t.Errorf("%d bytes", len(out))
		}
	})
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
