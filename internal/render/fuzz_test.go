// SPDX-License-Identifier: Apache-2.0

package render

import (
	"context"
	"strings"
	"testing"
	"time"
)

// FuzzObjects checks that what is accepted can be applied, and that errors are
// one line.
func FuzzObjects(f *testing.F) {
	for _, s := range []string{
		"", "---\n", "a: b\n---\nc", bomb(2, 2), "{}\n{}", "%YAML 1.2\n---\n[]", "--- {a: b}\n...\n--- |\n x",
		"apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Pod, metadata: {name: a}}\n",
		`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","labels":{"x":null}}}{"a":1}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		objs, err := Objects(data)
		if strings.Contains(text(err), "\n") {
			t.Errorf("error of several lines: %q", err)
		}
		for _, o := range objs {
			if o.GetName() == "" || o.GetKind() == "" || o.GetAPIVersion() == "" {
				t.Errorf("not an object: %v", o.Object)
			}
			o.DeepCopy() // Panics on types that JSON does not have.
		}
	})
}

// FuzzLoad checks that no chart ends the process, and that a chart that renders
// does so twice with the same result.
func FuzzLoad(f *testing.F) {
	f.Add(chartYAML("app"), "a: 1", `{}`, configMap("a", "{{ .Values.a }}"), []byte(tree{"Chart.yaml": chartYAML("c")}.tgz(f, "c")))
	f.Add("dependencies: [null, {alias: x}]\nname: x", "x: &x [*x]", `{"$ref":"#"}`, "{{ tpl .Values.a . }}{{ template \"x\" }}", []byte("\x1f\x8b"))
	f.Add(chartYAML("app", "kubeVersion: '>1'", "dependencies: [{name: c, version: '*', condition: a.b, import-values: [x]}]"), "c: {exports: {x: {}}}", "", "{{ define \"x\" }}{{ end }}", []byte{})
	f.Fuzz(func(t *testing.T, meta, values, schema, template string, dep []byte) {
		c, err := Load([]File{
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
		if err == nil && one.Manifest() != two.Manifest() {
			t.Errorf("-first, +second:\n%s\n%s", one.Manifest(), two.Manifest())
		}
	})
}

// FuzzRecord checks that what is read can be written and read again.
func FuzzRecord(f *testing.F) {
	s, err := mustRender(f, mustLoad(f, recordChart()), Options{}).Record(RecordOptions{Revision: 1, Status: "deployed"})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(s.Data["release"])
	f.Add([]byte("e30="))
	f.Fuzz(func(t *testing.T, data []byte) {
		i, err := DecodeRecord(data)
		if err != nil {
			return
		}
		s, err := i.WithStatus("superseded")
		if err != nil {
			t.Skip(err)
		}
		again, err := DecodeRecord(s.Data["release"])
		if err != nil || again.Name != i.Name || again.Status != "superseded" {
			t.Errorf("got %+v, %v", again, err)
		}
	})
}
