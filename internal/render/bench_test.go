// SPDX-License-Identifier: Apache-2.0

package render

import (
	"fmt"
	"testing"

	helmengine "helm.sh/helm/v3/pkg/engine"

	"github.com/crossplane-contrib/provider-kyma/internal/render/templates"
)

// benchChart returns a chart with n typical templates, and helpers.
func benchChart(n int) tree {
	t := tree{
		"Chart.yaml": chartYAML("app"), "values.yaml": "labels: {a: b}\nreplicas: 2\nimage: x\n",
		"values.schema.json": `{"type":"object","properties":{"replicas":{"type":"integer"}}}`,
		"templates/_h.tpl":   `{{ define "labels" }}{{ toYaml .Values.labels }}{{ end }}{{ define "name" }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 63 }}{{ end }}`,
	}
	for i := range n {
		t[fmt.Sprintf("templates/d%d.yaml", i)] = fmt.Sprintf(`apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ include "name" . }}-%d
  labels: {{- include "labels" . | nindent 4 }}
spec:
  replicas: {{ .Values.replicas }}
  selector: {matchLabels: {app: x}}
  template:
    metadata:
      labels: {app: x}
    spec:
      containers:
      {{- range $n := list "a" "b" }}
      - name: {{ $n }}
        image: {{ $.Values.image | quote }}
        resources: {limits: {cpu: 1, memory: 64Mi}}
      {{- end }}
`, i)
	}
	return t
}

func BenchmarkLoad(b *testing.B) {
	files := benchChart(5).files()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Load(files); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRender(b *testing.B) {
	c := mustLoad(b, benchChart(5))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.Render(b.Context(), Options{ReleaseName: "rel"}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkEngine measures the part of a rendering that Helm's engine could do.
func BenchmarkEngine(b *testing.B) {
	c := mustLoad(b, benchChart(5))
	inst, top, err := c.prepare(Options{ReleaseName: "rel", Revision: 1}, nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("ours", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := templates.Execute(b.Context(), inst, top, templates.Options{}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("helm", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := helmengine.Render(inst, top); err != nil {
				b.Fatal(err)
			}
		}
	})
}
