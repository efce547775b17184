// SPDX-License-Identifier: Apache-2.0

package render

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-kyma/internal/render/record"
)

// printed returns data.v of all objects by name.
func printed(objs []*unstructured.Unstructured) map[string]string {
	out := map[string]string{}
	for _, o := range objs {
		out[o.GetName()], _, _ = unstructured.NestedString(o.Object, "data", "v")
	}
	return out
}

// A value is rendered as JSON in single quotes.
func show(path string) string { return "'{{ " + path + " | toJson }}'" }

func TestRenderValues(t *testing.T) {
	parent := func(deps string) tree {
		return tree{"Chart.yaml": chartYAML("app", "dependencies:", deps)}
	}
	child := tree{
		"Chart.yaml":       chartYAML("child"),
		"values.yaml":      "own: default\nkeep: kept\nexports: {ex: {fromchild: 7}}\ninner: {deep: 1}\n",
		"templates/c.yaml": configMap("{{ .Chart.Name }}", `'{{ pick .Values "own" "global" "keep" | toJson }}'`),
	}
	cases := map[string]struct {
		reason string
		files  tree
		values map[string]any
		want   map[string]string
	}{
		"Merge": {
			reason: "Values of the install take precedence, maps are merged, and null removes a default.",
			files: tree{
				"Chart.yaml":       chartYAML("app"),
				"values.yaml":      "a: 1\nm: {a: 1, b: 2, c: {k: v}}\nl: [1, 2]\n",
				"templates/a.yaml": configMap("a", show(".Values")),
			},
			values: map[string]any{"a": int64(5), "m": map[string]any{"b": "no", "c": nil}, "l": []any{int64(3)}},
			want:   map[string]string{"a": `{"a":5,"l":[3],"m":{"a":1,"b":"no"}}`},
		},
		"Numbers": {
			reason: "Numbers are floats as in a values file, so that templates print what they print in Helm.",
			files:  tree{"Chart.yaml": chartYAML("app"), "templates/a.yaml": configMap("a", `'{{ .Values.n }} {{ .Values.l }} {{ kindOf .Values.n }}'`)},
			values: map[string]any{"n": int64(10000000), "l": []any{1, int64(2)}},
			want:   map[string]string{"a": "1e+07 [1 2] float64"},
		},
		"Subchart": {
			reason: "The parent sets values of its dependency, and globals reach it.",
			files: parent("- {name: child, version: 1.x.x}").with(child.below("charts/child")).
				with(tree{"values.yaml": "child: {own: parent}\nglobal: {g: 1}\n"}),
			values: map[string]any{"global": map[string]any{"h": "x"}},
			want:   map[string]string{"child": `{"global":{"g":1,"h":"x"},"keep":"kept","own":"parent"}`},
		},
		"ConditionOff": {
			reason: "A condition disables a dependency.",
			files: parent("- {name: child, version: 1.2.3, condition: 'no.such,child.enabled'}").with(child.below("charts/child")).
				with(tree{"values.yaml": "child: {enabled: false}\n"}),
			want: map[string]string{},
		},
		"ConditionOn": {
			reason: "Values of the install are used in a condition.",
			files: parent("- {name: child, version: 1.2.3, condition: child.enabled}").with(child.below("charts/child")).
				with(tree{"values.yaml": "child: {enabled: false}\n"}),
			values: map[string]any{"child": map[string]any{"enabled": true}},
			want:   map[string]string{"child": `{"global":{},"keep":"kept","own":"default"}`},
		},
		"Tags": {
			reason: "A tag disables dependencies, but a condition takes precedence.",
			files: parent("- {name: child, version: 1.2.3, tags: [t]}\n- {name: child, alias: two, version: 1.2.3, tags: [t], condition: two.on}").
				with(child.below("charts/child")),
			values: map[string]any{"tags": map[string]any{"t": false}, "two": map[string]any{"on": true}},
			want:   map[string]string{"two": `{"global":{},"keep":"kept","own":"default"}`},
		},
		"Alias": {
			reason: "A chart can contain the same dependency twice.",
			files: parent("- {name: child, alias: one, version: 1.2.3}\n- {name: child, alias: two, version: 1.2.3}").
				with(tree{"charts/child-1.2.3.tgz": child.tgz(t, "child")}),
			values: map[string]any{"two": map[string]any{"own": "set"}},
			want: map[string]string{
				"one": `{"global":{},"keep":"kept","own":"default"}`,
				"two": `{"global":{},"keep":"kept","own":"set"}`,
			},
		},
		"ImportValues": {
			reason: "A parent imports values of its dependency, by export and by path.",
			files: parent("- {name: child, version: 1.2.3, import-values: [ex, {child: inner, parent: got.inner}]}").
				with(child.below("charts/child")).
				with(tree{"templates/p.yaml": configMap("p", `'{{ pick .Values "fromchild" "got" | toJson }}'`)}),
			want: map[string]string{
				"child": `{"global":{},"keep":"kept","own":"default"}`,
				"p":     `{"fromchild":7,"got":{"inner":{"deep":1}}}`,
			},
		},
		"Release": {
			reason: "Templates can use the release, the chart, the cluster and the files.",
			files: tree{
				"Chart.yaml": chartYAML("app", "appVersion: v9"),
				"conf/a.txt": "one\ntwo\n",
				"templates/a.yaml": configMap("a", `'{{ .Release | toJson }} {{ .Chart.Version }} {{ .Chart.IsRoot }} {{ .Template.Name }} {{ .Template.BasePath }} `+
					`{{ .Capabilities.KubeVersion }} {{ .Capabilities.KubeVersion.Minor }} {{ .Capabilities.APIVersions.Has "x/v1/Kind" }} `+
					`{{ .Files.Lines "conf/a.txt" }} {{ (.Files.Glob "conf/*").AsSecrets }} {{ .Files.Get "none" }}'`),
			},
			want: map[string]string{"a": `{"IsInstall":false,"IsUpgrade":true,"Name":"rel","Namespace":"ns","Revision":4,"Service":"Helm"} ` +
				`1.2.3 true app/templates/a.yaml app/templates v1.36.3+x 36 true [one two] a.txt: b25lCnR3bwo= `},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := mustLoad(t, tc.files)
			o := Options{Namespace: "ns", Upgrade: true, Revision: 4, Values: tc.values, KubeVersion: "v1.36.3+x", APIVersions: []string{"x/v1/Kind"}}
			for range 2 { // The second rendering shows whether the first one changed the chart.
				r := mustRender(t, c, o)
				if diff := cmp.Diff(tc.want, printed(r.Objects)); diff != "" {
					t.Fatalf("\n%s\nRender(...): -want, +got:\n%s", tc.reason, diff)
				}
			}
		})
	}
}

func TestRenderParts(t *testing.T) {
	crd := "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: %}\n"
	child := tree{
		"Chart.yaml":          chartYAML("child"),
		"crds/c.yaml":         strings.ReplaceAll(crd, "%", "c"),
		"templates/NOTES.txt": "of the child",
	}
	files := tree{
		"Chart.yaml":             chartYAML("app"),
		"crds/a.yaml":            strings.ReplaceAll(crd+"---\n"+crd, "%", "a"),
		"crds/README.md":         "not a manifest",
		"templates/NOTES.txt":    "Hello {{ .Release.Name }}",
		"templates/_h.tpl":       `{{ define "x" }}x{{ end }}`,
		"templates/empty.yaml":   "{{ if false }}a: b{{ end }}\n# nothing\n---\n---\n",
		"templates/z.yaml":       "---\n" + configMap("first", "x") + "--- # comment\n" + configMap("second", "x"),
		"templates/deploy.yaml":  "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d, annotations: {a: b}}\n",
		"templates/list.yaml":    "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Secret, metadata: {name: s}}\n- {apiVersion: v1, kind: Secret, metadata: {name: t}}\n",
		"templates/custom.yaml":  "apiVersion: x/v1\nkind: Custom\nmetadata: {name: cr}\n",
		"templates/ns.yaml":      "apiVersion: v1\nkind: Namespace\nmetadata: {name: space}\n",
		"templates/hook.yaml":    "apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: h\n  annotations:\n    helm.sh/hook: pre-install, post-upgrade\n    helm.sh/hook-weight: '-5'\n    helm.sh/hook-delete-policy: hook-succeeded\n",
		"templates/test.yaml":    "apiVersion: v1\nkind: Pod\nmetadata: {name: t, annotations: {helm.sh/hook: test-success}}\n",
		"templates/unknown.yaml": "apiVersion: v1\nkind: Pod\nmetadata: {name: u, annotations: {helm.sh/hook: crd-install}}\n",
	}.with(child.below("charts/child"))

	r := mustRender(t, mustLoad(t, files), Options{})
	want := []string{"Namespace/space", "Secret/s", "Secret/t", "ConfigMap/first", "ConfigMap/second", "Deployment/d", "Custom/cr"}
	// Helm treats the kind List as an unknown kind, and sorts it to the end.
	want = []string{want[0], want[3], want[4], want[5], want[6], want[1], want[2]}
	if diff := cmp.Diff(want, names(r.Objects)); diff != "" {
		t.Errorf("Objects: -want, +got:\n%s", diff)
	}
	crds := "CustomResourceDefinition/"
	if diff := cmp.Diff([]string{crds + "a", crds + "a", crds + "c"}, names(r.CRDs)); diff != "" {
		t.Errorf("CRDs: -want, +got:\n%s", diff)
	}
	hooks := []record.Hook{
		{Name: "t", Kind: "Pod", Path: "app/templates/test.yaml", Manifest: strings.TrimSpace(files["templates/test.yaml"]), Events: []string{"test"}},
		{
			Name: "h", Kind: "Job", Path: "app/templates/hook.yaml", Manifest: strings.TrimSpace(files["templates/hook.yaml"]), Weight: -5,
			Events: []string{"pre-install", "post-upgrade"}, DeletePolicies: []string{"hook-succeeded"},
		},
	}
	if diff := cmp.Diff(hooks, r.Hooks); diff != "" {
		t.Errorf("Hooks: -want, +got:\n%s", diff)
	}
	if want := "Hello rel"; r.Notes != want {
		t.Errorf("Notes: want %q, got %q", want, r.Notes)
	}
	if !strings.HasPrefix(r.Draft.Manifest(), "---\n# Source: app/templates/ns.yaml\n") || strings.Contains(r.Draft.Manifest(), "kind: Job") {
		t.Errorf("Manifest: want objects without hooks, got:\n%s", r.Draft.Manifest())
	}
	if r := mustRender(t, mustLoad(t, files), Options{SkipCRDs: true}); len(r.CRDs) != 0 {
		t.Errorf("SkipCRDs: got %v", names(r.CRDs))
	}
}

func TestRenderErrors(t *testing.T) {
	app := tree{"Chart.yaml": chartYAML("app")}
	cases := map[string]struct {
		reason string
		files  tree
		opts   Options
		want   string
	}{
		"Parse": {
			reason: "The error for an invalid template contains its line.",
			files:  app.with(tree{"templates/a.yaml": "x: 1\ny: {{ .Values.a\n"}),
			want:   `chart "app": templates/a.yaml:3: unclosed action started at app/templates/a.yaml:2`,
		},
		"UnknownFunction": {
			reason: "A function that Helm does not have is an error.",
			files:  app.with(tree{"templates/a.yaml": "\n\n{{ env \"HOME\" }}"}),
			want:   `chart "app": templates/a.yaml:3: function "env" not defined`,
		},
		"Nil": {
			reason: "The error for a field of a nil value contains the expression.",
			files:  app.with(tree{"templates/a.yaml": "\nx: {{ .Values.a.b.c }}"}),
			want:   `chart "app": templates/a.yaml:2: <.Values.a.b.c>: nil pointer evaluating interface {}.b`,
		},
		"Required": {
			reason: "The error contains only the message of the function required.",
			files:  app.with(tree{"templates/a.yaml": "\nx: {{ required \"a is needed\" .Values.a }}"}),
			want:   `chart "app": templates/a.yaml:2: a is needed`,
		},
		"Fail": {
			reason: "A message with several lines becomes a single line.",
			files:  app.with(tree{"templates/a.yaml": "{{ fail \"\\n\\nPROBLEM:\\n  do this\" }}"}),
			want:   `chart "app": templates/a.yaml:1: PROBLEM: do this`,
		},
		"Include": {
			reason: "The location of the cause comes first, followed by the calling template.",
			files: app.with(tree{
				"templates/_h.tpl":    "{{ define \"a\" }}\n{{ include \"b\" . }}{{ end }}{{ define \"b\" }}\n\n{{ fail \"no\" }}{{ end }}",
				"templates/sub/a.yml": "\n\n\nx: {{ include \"a\" . }}",
			}),
			want: `chart "app": templates/_h.tpl:4: no (from templates/sub/a.yml:4)`,
		},
		"IncludeMissing": {
			reason: "A missing template is an error.",
			files:  app.with(tree{"templates/a.yaml": "{{ include \"nope\" . }}"}),
			want:   `chart "app": templates/a.yaml:1: template "nope" does not exist`,
		},
		"Subchart": {
			reason: "Templates of dependencies are named by their path.",
			files:  app.with(tree{"Chart.yaml": chartYAML("child"), "templates/a.yaml": "{{ index .Values.x 3 }}"}.below("charts/child")),
			want:   `chart "app": charts/child/templates/a.yaml:1: <index .Values.x 3>: index of untyped nil`,
		},
		"TPL": {
			reason: "An error in text of values names the template that ran it.",
			files:  app.with(tree{"values.yaml": "x: \"\\n{{ .a.b }}\"", "templates/a.yaml": "\n{{ tpl .Values.x . }}"}),
			want:   `chart "app": templates/a.yaml:2: in text given to tpl: line 2: <.a.b>: nil pointer evaluating interface {}.b`,
		},
		"TPLParse": {
			reason: "Invalid template text in values is not shown, because it can contain secrets.",
			files:  app.with(tree{"values.yaml": "x: 'secret {{ if }}'", "templates/a.yaml": "\n{{ tpl .Values.x . }}"}),
			want:   `chart "app": templates/a.yaml:2: in text given to tpl: line 1: missing value for if`,
		},
		"NotYAML": {
			reason: "The output of a template must be YAML.",
			files:  app.with(tree{"templates/a.yaml": "a: b\n  c: d\n"}),
			want:   `chart "app": templates/a.yaml: error converting YAML to JSON: yaml: line 2: mapping values are not allowed in this context`,
		},
		"NotAnObject": {
			reason: "The output of a template must consist of objects.",
			files:  app.with(tree{"templates/a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {}\n"}),
			want:   `chart "app": templates/a.yaml: ConfigMap: metadata.name is missing or not a string`,
		},
		"CRDs": {
			reason: "The error also names files in crds/.",
			files:  app.with(tree{"crds/a.yaml": "kind: x\n"}),
			want:   `chart "app": crds/a.yaml: apiVersion is missing or not a string`,
		},
		"KubeVersion": {
			reason: "The version of the cluster must be in the range.",
			files:  tree{"Chart.yaml": chartYAML("app", "kubeVersion: '>=1.99.0'")},
			opts:   Options{KubeVersion: "v1.36.3"},
			want:   `chart "app": requires Kubernetes >=1.99.0, but the cluster runs v1.36.3`,
		},
		"BadKubeVersion": {
			reason: "The version of the cluster must be valid.",
			files:  app,
			opts:   Options{KubeVersion: "new"},
			want:   `chart "app": cannot parse the Kubernetes version "new"`,
		},
		"ReleaseName": {
			reason: "The name of a release must be valid for Helm.",
			files:  app,
			opts:   Options{ReleaseName: "Not_A_Name"},
			want:   `chart "app": release name "Not_A_Name": invalid release name, must match regex`,
		},
		"ValuesType": {
			reason: "A dependency's values must be a map.",
			files:  app.with(tree{"Chart.yaml": chartYAML("child")}.below("charts/child")),
			opts:   Options{Values: map[string]any{"child": "text"}},
			want:   `chart "app": values: type mismatch on child`,
		},
		"BrokenButOff": {
			reason: "A disabled dependency may be invalid.",
			files: tree{"Chart.yaml": chartYAML("app", "dependencies: [{name: child, version: 1.2.3, condition: on}]"), "values.yaml": "on: false"}.
				with(tree{"Chart.yaml": chartYAML("child"), "templates/a.yaml": "{{", "values.schema.json": "{"}.below("charts/child")),
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if tc.opts.ReleaseName == "" {
				tc.opts.ReleaseName = "rel"
			}
			_, err := mustLoad(t, tc.files).Render(t.Context(), tc.opts)
			got := text(err)
			if tc.want != "" && strings.HasPrefix(got, tc.want) && !strings.Contains(got, "\n") {
				got = tc.want // Helm's text can continue.
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nRender(...): -want error, +got error:\n%s", tc.reason, diff)
			}
		})
	}
}
