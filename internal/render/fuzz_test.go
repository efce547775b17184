// SPDX-License-Identifier: Apache-2.0

package render

import (
	"strings"
	"testing"

	"github.com/crossplane-contrib/provider-kyma/internal/fuzztest"
	"github.com/crossplane-contrib/provider-kyma/internal/render/input"
)

// FuzzLoad checks that no chart ends the process that loads it, and that errors are one line. FuzzChart of package sandbox renders charts.
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
		if err == nil {
			c.NeedsAPIVersions()
		}
	})
}
