// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"context"
	"io"
	"runtime"
	"strings"

	"github.com/crossplane-contrib/provider-kyma/internal/render"
	"github.com/crossplane-contrib/provider-kyma/internal/render/input"
)

// warmUp renders a chart of this package before the first request. The first use of code is slow, because the kernel maps each
// page of the binary, and libraries compile expressions and fill tables.
func warmUp() error {
	chart, err := render.Load([]input.File{
		{Name: "Chart.yaml", Data: []byte("apiVersion: v2\nname: warm\nversion: 1.0.0\n")},
		{Name: "values.yaml", Data: []byte("labels: {a: b}\nreplicas: 2\n")},
		{Name: "values.schema.json", Data: []byte(`{"type": "object", "properties": {"replicas": {"type": "integer"}}}`)},
		{Name: "crds/a.yaml", Data: []byte("apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  name: a.b.c\n")},
		{Name: "templates/_helpers.tpl", Data: []byte(`{{ define "labels" }}{{ toYaml .Values.labels }}{{ end }}`)},
		{Name: "templates/a.yaml", Data: []byte(`apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ printf "%s-%s" .Release.Name (default .Chart.Name .Values.name) | trunc 63 | trimSuffix "-" | quote }}
  labels: {{- include "labels" . | nindent 4 }}
spec:
  replicas: {{ .Values.replicas }}
{{- if and .Values.replicas (not .Values.none) }}{{ range $k, $v := .Values.labels }}
  {{ $k }}: {{ tpl $v $ }}{{ end }}{{ end }}
`)},
	})
	if err != nil {
		return err
	}
	r, err := chart.Render(context.Background(), render.Options{ReleaseName: "warm"})
	if err != nil {
		return err
	}
	if err := newChild(Limits{}.withDefaults(), strings.NewReader(""), io.Discard).answer(r); err != nil {
		return err
	}
	// The memory is reused.
	runtime.GC()
	return nil
}
