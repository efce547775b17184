// SPDX-License-Identifier: Apache-2.0

package render

import (
	"context"
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v3/pkg/chart"
	helmengine "helm.sh/helm/v3/pkg/engine"

	"github.com/crossplane-contrib/provider-kyma/internal/render/templates"
)

// both renders files with Helm's engine and with our engine.
func both(tb testing.TB, files tree, values map[string]any) (helm, ours map[string]string, helmErr, err error) {
	tb.Helper()
	c := mustLoad(tb, files)
	o := Options{ReleaseName: "rel", Namespace: "ns", Revision: 1, Values: values}
	prepare := func() (*chart.Chart, map[string]any) {
		inst, top, err := c.prepare(o, likeFile(values))
		if err != nil {
			tb.Fatalf("prepare: %v", err)
		}
		return inst, top
	}

	inst, top := prepare()
	helm, helmErr = helmengine.Render(inst, top)
	inst, top = prepare() // Templates may have changed the values.
	printed, err := templates.Execute(tb.Context(), inst, top, templates.Options{})
	if err != nil {
		return helm, nil, helmErr, err
	}
	return helm, printed.Files, helmErr, nil
}

// TestEngineLikeHelm compares the engine of this package with Helm's engine.
func TestEngineLikeHelm(t *testing.T) {
	app := tree{"Chart.yaml": chartYAML("app")}
	child := tree{"Chart.yaml": chartYAML("child"), "values.yaml": "a: 1"}
	library := tree{"Chart.yaml": chartYAML("lib", "type: library")}
	cases := map[string]struct {
		reason string
		files  tree
		values map[string]any
		fails  bool
	}{
		"Override": {
			reason: "A named template of the parent replaces that of its dependency, and a later name an earlier one.",
			files: app.with(tree{
				"templates/_a.tpl": `{{ define "x" }}a{{ end }}`, "templates/_b.tpl": `{{ define "x" }}b{{ end }}`,
				"templates/a.yaml": `{{ include "x" . }}{{ include "y" . }}{{ template "x" }}`,
			}).with(child.with(tree{
				"templates/_x.tpl":  `{{ define "x" }}child{{ end }}{{ define "y" }}y{{ end }}`,
				"templates/sub.txt": `{{ include "x" . }}`,
			}).below("charts/child")),
		},
		"EmptyDefine": {
			reason: "An empty named template does not replace another one.",
			files: app.with(tree{
				"templates/_a.tpl": `{{ define "x" }}  {{/* nothing */}} {{ end }}`, "templates/_b.tpl": `{{ define "x" }}b{{ end }}`,
				"templates/a.yaml": `{{ include "x" . }}`,
			}),
		},
		"Library": {
			reason: "Only partials of a library are templates.",
			files: app.with(library.with(tree{
				"templates/_x.tpl": `{{ define "x" }}lib{{ end }}`, "templates/a.yaml": `{{ fail "not rendered" }}`,
			}).below("charts/lib")).with(tree{"templates/a.yaml": `{{ include "x" . }}`}),
		},
		"NoValue": {
			reason: "Missing values print nothing.",
			files:  app.with(tree{"templates/a.yaml": `a{{ .Values.x }}b{{ .Values.m.x }}{{ tpl "{{ .Values.y }}<no value>" . }}{{ tpl "<no value>" . }}c`, "values.yaml": "m: {}"}),
		},
		"TPL": {
			reason: "tpl can use existing templates, and defines its own only for itself.",
			files: app.with(tree{
				"templates/_a.tpl": `{{ define "x" }}x{{ .n }}{{ end }}`,
				"templates/a.yaml": `{{ tpl .Values.t (dict "n" 1 "s" "{{ tpl .u . }}" "u" "{{ define \"only\" }}{{ end }}") }}`,
				"values.yaml":      "t: '{{ define \"z\" }}z{{ .n }}{{ end }}{{ include \"z\" . }}{{ template \"x\" . }}{{ tpl .s . }}'",
			}),
		},
		"TPLDefineLost": {
			reason: "Templates that tpl defines are not visible outside.",
			files:  app.with(tree{"templates/a.yaml": `{{ tpl "{{ define \"z\" }}z{{ end }}" . }}{{ include "z" . }}`}),
			fails:  true,
		},
		"TPLFile": {
			reason: "A template can be run again by its file name.",
			files:  app.with(tree{"templates/a.yaml": `{{ include "app/templates/b.yaml" . }}`, "templates/b.yaml": `{{ .Template.Name }}`}),
		},
		"SetValues": {
			reason: "Templates that change values do so in the same order.",
			files: app.with(tree{
				"templates/a.yaml":     `{{ $_ := set .Values "seen" (printf "%va" .Values.seen) }}{{ .Values.seen }}`,
				"templates/b.yaml":     `{{ $_ := set .Values "seen" (printf "%vb" .Values.seen) }}{{ .Values.seen }}`,
				"templates/sub/c.yaml": `{{ $_ := set .Values "seen" (printf "%vc" .Values.seen) }}{{ .Values.seen }}`,
			}),
		},
		"Control": {
			reason: "Loops support break, continue, variables and else branches.",
			files: app.with(tree{"templates/a.yaml": `{{ $s := 0 }}{{ range $i, $v := until 9 }}{{ if eq $v 2 }}{{ continue }}{{ end }}{{ if eq $v 5 }}{{ break }}{{ end }}{{ $s = add $s $v }}{{ end }}{{ $s }}
{{- range $k, $v := .Values.m }} {{ $k }}={{ $v }}{{ else }}none{{ end }}{{ range .Values.none }}{{ else }} none{{ end }}
{{- with .Values.m }}{{ with .b }}{{ . }}{{ end }}{{ else with .x }}{{ else }}{{ end }}{{ block "blk" . }} block{{ end }}{{ range 3 }}.{{ end }}`, "values.yaml": "m: {b: 2, a: 1}"}),
		},
		"Functions": {
			reason: "Conversions and functions with limits return the same results.",
			files: app.with(tree{
				"templates/a.yaml": `{{ toYaml .Values }}|{{ toYamlPretty .Values }}|{{ toJson .Values }}|{{ toToml .Values }}|{{ fromYaml "a: [1" }}|{{ fromYamlArray "- 1\n- a" }}|{{ fromYamlArray "{" }}
{{ fromJson "{\"a\":1}" }}|{{ fromJson "{" }}|{{ fromJsonArray "[1,{}]" }}|{{ fromJsonArray "{" }}|{{ fromToml "a = 1" }}|{{ fromToml "=" }}|{{ toYaml .Capabilities.KubeVersion }}
{{ until 3 }}{{ until -3 }}{{ untilStep 1 9 3 }}{{ untilStep 9 1 -3 }}{{ untilStep 1 9 0 }}|{{ seq 3 }}|{{ seq -2 }}|{{ seq 2 4 }}|{{ seq 4 2 }}|{{ seq 0 2 6 }}|{{ seq }}|{{ seq 6 -2 0 }}
{{ repeat 3 "ab" }}|{{ indent 2 "a\nb" }}|{{ nindent 2 "a" }}|{{ len (randBytes 6) }}|{{ len (randAlphaNum 5) }}|{{ keys (dict "a" 1) }}|{{ values (dict "a" 1) }}|{{ getHostByName "localhost" }}
{{ .Files.Get "f.txt" }}|{{ .Files.Lines "f.txt" }}|{{ .Files.Lines "no" }}|{{ (.Files.Glob "*.txt").AsConfig }}|{{ (.Files.Glob "[").AsSecrets }}|{{ range $p, $b := .Files.Glob "d/**" }}{{ $p }}{{ end }}
{{ required "x" .Values.num }}{{ required "x" false }}{{ .Chart | toJson }}{{ .Subcharts | toJson }}{{ lookup "v1" "Secret" "" "" }}{{ .Release | toJson }}`,
				"values.yaml": "num: 1.5\nl: [a, {b: c}]\nm: {x: 'y: z', nil: null}\ns: |\n  two\n  lines\n",
				"f.txt":       "one\ntwo\n", "d/e/f": "x",
			}).with(child.below("charts/child")),
		},
		"ConstantFunctions": {
			reason: "All other functions are sprig's.",
			files:  app.with(tree{"templates/a.yaml": `{{ "a b" | title | replace " " "-" | sha256sum | trunc 8 | quote }}{{ semver "1.2.3" }}{{ regexReplaceAll "a" "bab" "c" }}{{ derivePassword 1 "long" "p" "u" "s" }}`}),
		},
		"Required": {"An empty string is missing.", app.with(tree{"templates/a.yaml": `{{ required "x" "" }}`}), nil, true},
		"NotThere": {"Neither Helm nor this package has a function for the environment.", app.with(tree{"templates/a.yaml": `{{ expandenv "$HOME" }}`}), nil, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			want, got, helmErr, err := both(t, tc.files, tc.values)
			if (helmErr != nil) != tc.fails || (err != nil) != tc.fails {
				t.Fatalf("\n%s\nwant failure: %v, Helm: %v, got: %v", tc.reason, tc.fails, helmErr, err)
			}
			if tc.fails {
				return
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("\n%s\n-Helm, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestEndless checks that templates that call each other, the usual mistake, have an error of their own, and that a panic is one.
func TestEndless(t *testing.T) {
	app := tree{"Chart.yaml": chartYAML("app")}
	cases := map[string]struct {
		reason string
		files  tree
		values map[string]any
		want   string
	}{
		"Include": {
			reason: "A template must not include itself without end.",
			files:  app.with(tree{"templates/a.yaml": `{{ define "a" }}{{ include "a" . }}{{ end }}{{ include "a" . }}`}),
			want:   `chart "app": templates/a.yaml:1: templates call each other recursively too many times`,
		},
		"TPL": {
			reason: "Helm does not count tpl: its stack overflows.",
			files:  app.with(tree{"templates/a.yaml": `{{ tpl .Values.x . }}`}),
			values: map[string]any{"x": "{{ tpl .Values.x . }}"},
			want:   `chart "app": templates/a.yaml:1: templates call each other recursively too many times`,
		},
		"Mixed": {
			reason: "All kinds of recursion are limited together.",
			files: app.with(tree{"templates/a.yaml": `{{ define "a" }}{{ tpl .Values.x . }}{{ end }}{{ define "b" }}` + strings.Repeat("{{ if true }}", 100) +
				`{{ include "a" . | quote | quote }}` + strings.Repeat("{{ end }}", 100) + `{{ end }}{{ include "a" . }}`}),
			values: map[string]any{"x": `{{ template "b" . }}`},
			want:   `chart "app": templates/a.yaml:1: templates call each other recursively too many times`,
		},
		"Panic": {
			reason: "A function that panics causes an error.",
			files:  app.with(tree{"templates/a.yaml": "{{ randInt 5 5 }}"}),
			want:   `chart "app": templates/a.yaml:1: <randInt 5 5>: invalid argument to Intn`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := mustLoad(t, tc.files).Render(t.Context(), Options{ReleaseName: "rel", Values: tc.values})
			if diff := cmp.Diff(tc.want, text(err)); diff != "" {
				t.Errorf("\n%s\nRender(...): -want error, +got error:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestStops checks that an include checks the context.
func TestStops(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	o := Options{ReleaseName: "rel", Lookup: func(string, string, string, string) (map[string]any, error) {
		cancel(errors.New("enough"))
		return map[string]any{}, nil
	}}
	c := mustLoad(t, tree{
		"Chart.yaml":       chartYAML("app"),
		"templates/a.yaml": `{{ define "a" }}{{ end }}{{ $x := lookup "v1" "Pod" "" "" }}{{ range until 10000 }}{{ include "a" . }}{{ end }}{{ fail "too late" }}`,
	})
	_, err := c.Render(ctx, o)
	if diff := cmp.Diff(`chart "app": rendering was stopped: enough`, text(err)); diff != "" {
		t.Errorf("Render(...): -want error, +got error:\n%s", diff)
	}
}

// TestSameBytes checks that a chart renders the same bytes each time although maps have no order. Helm's engine prints keys and values in
// random order.
func TestSameBytes(t *testing.T) {
	c := mustLoad(t, tree{
		"Chart.yaml": chartYAML("app"), "values.yaml": "m: {b: 2, a: 1, e: 5, d: 4, c: 3}",
		"templates/a.yaml": configMap("a", `"{{ keys .Values.m | join "" }}{{ values .Values.m | join "" }}"`),
	})
	for range 20 {
		r := mustRender(t, c, Options{})
		if got := printed(r.Objects)["a"]; got != "abcde12345" || !r.Pure {
			t.Fatalf("want keys and values in the order of the keys, and a pure rendering, got %q and %v", got, r.Pure)
		}
	}
}

func TestPureRendering(t *testing.T) {
	cases := map[string]struct {
		reason string
		text   string
		want   bool
	}{
		"Constant": {"No such function is called.", "{{ if false }}{{ now }}{{ end }}", true},
		"Now":      {"A chart that reads the clock is not constant.", "{{ $x := now }}", false},
		"TPL":      {"A chart is not constant if text that is not in the chart calls such a function.", `{{ $x := tpl (printf "{{ %s }}" "uuidv4") . }}`, false},
		"Lookup":   {"A chart that reads the cluster is not constant.", `{{ $x := lookup "v1" "Secret" "" "" }}`, false},
		"Variadic": {"Functions keep their arguments.", `{{ $x := date "2006" now }}{{ if ne (len $x) 4 }}{{ fail "date" }}{{ end }}`, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := mustLoad(t, tree{"Chart.yaml": chartYAML("app"), "templates/a.yaml": tc.text})
			if got := mustRender(t, c, Options{}).Pure; got != tc.want {
				t.Errorf("\n%s\nPure: want %v, got %v", tc.reason, tc.want, got)
			}
		})
	}
}

func TestConcurrentRender(t *testing.T) {
	child := tree{"Chart.yaml": chartYAML("child"), "values.yaml": "a: 1", "templates/a.yaml": configMap("c", show(".Values.a")), "values.schema.json": `{"type":"object"}`}
	c := mustLoad(t, tree{
		"Chart.yaml":  chartYAML("app", "dependencies: [{name: child, alias: one, version: 1.2.3, import-values: [{child: x, parent: y}]}]"),
		"values.yaml": "m: {}", "templates/a.yaml": configMap("a", `{{ $_ := set .Values.m .Release.Name 1 }}{{ tpl "{{ len .Values.m }}" . }}`),
	}.with(child.below("charts/child")))

	done := make(chan error)
	for i := range 8 {
		go func() {
			r, err := c.Render(t.Context(), Options{ReleaseName: strings.Repeat("a", i+1), Values: map[string]any{"one": map[string]any{"a": i}}})
			if err == nil && len(r.Objects) != 2 {
				err = errors.Errorf("got %v", names(r.Objects))
			}
			done <- err
		}()
	}
	for range 8 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if len(c.chart.Values["m"].(map[string]any)) != 0 {
		t.Error("rendering must not change the chart's values")
	}
}
