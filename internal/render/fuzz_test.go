// SPDX-License-Identifier: Apache-2.0

package render

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-kyma/internal/fuzztest"
	"github.com/crossplane-contrib/provider-kyma/internal/render/input"
)

// FuzzLoad checks that no chart ends the process, and that rendering a chart twice has the same result.
func FuzzLoad(f *testing.F) {
	f.Add(chartYAML("app"), "a: 1", `{}`, configMap("a", "{{ .Values.a }}"), []byte(tree{"Chart.yaml": chartYAML("c")}.tgz(f, "c")))
	f.Add("dependencies: [null, {alias: x}]\nname: x", "x: &x [*x]", `{"$ref":"#"}`, "{{ tpl .Values.a . }}{{ template \"x\" }}", []byte("\x1f\x8b"))
	f.Add(chartYAML("app", "kubeVersion: '>1'", "dependencies: [{name: c, version: '*', condition: a.b, import-values: [x]}]"), "c: {exports: {x: {}}}", "", "{{ define \"x\" }}{{ end }}", []byte{})
	f.Fuzz(func(t *testing.T, meta, values, schema, template string, dep []byte) {
		defer fuzztest.Within(t, fuzztest.Limits{Base: 256 << 20, PerByte: 64 << 10}, len(meta)+len(values)+len(schema)+len(template)+len(dep))()
		c, err := Load([]input.File{
			{Name: "Chart.yaml", Data: []byte(meta)}, {Name: "values.yaml", Data: []byte(values)}, {Name: "values.schema.json", Data: []byte(schema)},
			{Name: "templates/a.yaml", Data: []byte(template)}, {Name: "charts/c.tgz", Data: dep},
		}, WithLimits(Limits{Uncompressed: 1 << 20, Files: 100}))
		if strings.Contains(text(err), "\n") {
			t.Errorf("error of several lines: %q", err)
		}
		if err != nil {
			return
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		o := Options{ReleaseName: "rel", MaxBytes: 1 << 20}
		one, err := c.Render(ctx, o)
		if strings.Contains(text(err), "\n") {
			t.Errorf("error of several lines: %q", err)
		}
		if err != nil || !one.Pure {
			return
		}
		two, err := c.Render(ctx, o)
		if err != nil && ctx.Err() == nil {
			t.Errorf("the second time: %v", err)
		}
		if err == nil && one.Draft.Manifest() != two.Draft.Manifest() {
			t.Errorf("-first, +second:\n%s\n%s", one.Draft.Manifest(), two.Draft.Manifest())
		}
	})
}
