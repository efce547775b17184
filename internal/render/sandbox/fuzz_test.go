// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-kyma/internal/fuzztest"
	"github.com/crossplane-contrib/provider-kyma/internal/render"
	"github.com/crossplane-contrib/provider-kyma/internal/render/attacktest"
	"github.com/crossplane-contrib/provider-kyma/internal/render/input"
)

// fuzzAllocation is how much of this process the renderings of an input within fuzzLimits may take, in bytes.
const fuzzAllocation = 64 << 20

// fuzzTime is how long the renderings of an input may take, which is less than package fuzztest allows.
const fuzzTime = 5 * time.Second

func fuzzLimits() Limits { return Limits{CPU: time.Second, Memory: 64 << 20, Output: 1 << 20} }

// FuzzChart checks that no chart harms the process that has it rendered: each rendering ends within its limits, takes little of this
// process, and has an error of one line. What is pure is rendered to the same bytes again.
func FuzzChart(f *testing.F) {
	meta := "apiVersion: v2\nname: app\nversion: 1.2.3\n"
	f.Add(meta, "a: 1", `{}`, configMap("a", "{{ .Values.a }}"))
	f.Add("name: x", "x: &x [*x]", `{"$ref":"#"}`, "{{ tpl .Values.a . }}{{ template \"x\" }}")
	f.Add(meta, "a: b", `{"pattern":"(a{0,30}){0,30}"}`, attacktest.Endless)
	f.Add(meta, "m: {b: 1, a: 2}", "", configMap("a", "{{ keys .Values.m }}"))
	p := newPool(f, Options{Limits: fuzzLimits(), Spares: 1})
	f.Fuzz(func(t *testing.T, meta, values, schema, template string) {
		defer fuzztest.Within(t, fuzztest.Limits{Base: fuzzAllocation, PerByte: 64 << 10}, len(meta)+len(values)+len(schema)+len(template))()
		c, err := render.Load([]input.File{
			{Name: "Chart.yaml", Data: []byte(meta)}, {Name: "values.yaml", Data: []byte(values)},
			{Name: "values.schema.json", Data: []byte(schema)}, {Name: "templates/a.yaml", Data: []byte(template)},
		}, render.WithLimits(render.Limits{Uncompressed: 1 << 20, Files: 100}))
		if err != nil {
			return
		}
		ctx, cancel := context.WithTimeout(t.Context(), fuzzTime) // On a busy machine, the CPU time lasts longer.
		defer cancel()
		rendered := func() (*render.Rendered, error) {
			out, err := p.Chart(ctx, "", c, render.Options{ReleaseName: "rel"})
			if strings.Contains(text(err), "\n") {
				t.Errorf("error of several lines: %q", err)
			}
			return out, err
		}
		one, err := rendered()
		if err != nil || !one.Pure {
			return
		}
		two, err := rendered()
		if err != nil && ctx.Err() == nil {
			t.Errorf("the second time: %v", err)
		}
		if err == nil && one.Draft.Manifest() != two.Draft.Manifest() {
			t.Errorf("-first, +second:\n%s\n%s", one.Draft.Manifest(), two.Draft.Manifest())
		}
	})
}

// FuzzKustomization checks the same for kustomizations, and that none of their fields leads kustomize to the network or to a program.
func FuzzKustomization(f *testing.F) {
	for _, s := range []string{
		"resources: [a.yaml, b]\nvars: [{name: A, objref: {kind: ConfigMap, name: x, apiVersion: v1}}]",
		"resources: [a.yaml]\nreplacements: [{source: {kind: ConfigMap, name: x}, targets: [{select: {name: x}, fieldPaths: [data.a]}]}]",
		"resources: [a.yaml]\npatches: [{path: a.yaml}, {patch: '[{\"op\": \"remove\", \"path\": \"/data\"}]', target: {name: x}}]",
		"generators: ['{apiVersion: builtin, kind: ConfigMapGenerator, metadata: {name: g}, files: [a.yaml]}']",
		"crds: [a.yaml]\nconfigurations: [a.yaml]\nresources: [http://127.0.0.1:1/x]",
		"resources: [b]\ncomponents: [b]\nimages: [{name: a, newTag: b}]\nreplicas: [{name: x, count: 1}]",
	} {
		f.Add(s, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata: {a: $(A)}")
	}
	p := newPool(f, Options{Limits: fuzzLimits(), Spares: 1})
	f.Fuzz(func(t *testing.T, k, other string) {
		defer fuzztest.Within(t, fuzztest.Limits{Base: fuzzAllocation}, 0)()
		ctx, cancel := context.WithTimeout(t.Context(), fuzzTime)
		defer cancel()
		files := tree{"kustomization.yaml": k, "a.yaml": other, "b/kustomization.yaml": other, "b/a.yaml": other}.files()
		_, _, err := p.Kustomization(ctx, "", files, "")
		for _, not := range []string{"\n", "dial tcp", "exec:", "git fetch"} {
			if strings.Contains(text(err), not) {
				t.Errorf("the error must not contain %q: %q", not, err)
			}
		}
	})
}
