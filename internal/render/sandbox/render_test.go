// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/crossplane-contrib/provider-kyma/internal/render"
	"github.com/crossplane-contrib/provider-kyma/internal/render/kustomize"
	"github.com/crossplane-contrib/provider-kyma/internal/render/record"
	"github.com/crossplane-contrib/provider-kyma/internal/render/templates"
	"github.com/crossplane-contrib/provider-kyma/internal/render/yamldoc"
)

// found is a lookup that finds one object.
func found(_, kind, namespace, name string) (map[string]any, error) {
	if kind == "Broken" {
		return nil, errors.New("cannot look up Broken in v1: it is broken")
	}
	return map[string]any{"kind": kind, "at": namespace + "/" + name, "whole": int64(3), "float": float64(3)}, nil
}

// TestChart checks that a child renders the same objects as this process.
func TestChart(t *testing.T) {
	const crd = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  name: a.b.c\n"
	sub := "charts/sub/"
	dependency := tree{
		"Chart.yaml": "apiVersion: v2\nname: app\nversion: 1.2.3\ndependencies:\n- name: sub\n  version: 1.0.0\n  alias: other\n" +
			"  condition: other.enabled\n  import-values: [{child: out, parent: in}]\n",
		sub + "Chart.yaml": "apiVersion: v2\nname: sub\nversion: 1.0.0\n", sub + "values.yaml": "out: {a: 1}\n",
		sub + "templates/s.yaml": configMap("s", "{{ .Values.x | quote }}"), "templates/a.yaml": configMap("a", "{{ toJson .Values | quote }}"),
	}
	cases := map[string]struct {
		reason string
		files  tree
		o      render.Options
	}{
		"Plain": {reason: "Objects are rendered.", files: tree{"templates/a.yaml": configMap("a", "{{ .Release.Name }}")}},
		"All": {
			reason: "CRDs, hooks and notes are rendered.",
			files: tree{
				"crds/c.yaml": crd, "templates/a.yaml": configMap("a", "{{ .Values.a }}"), "values.yaml": "a: 1\n", "templates/NOTES.txt": "note {{ .Release.Name }}",
				"templates/h.yaml": "apiVersion: v1\nkind: Pod\nmetadata:\n  name: h\n  annotations: {helm.sh/hook: \"pre-install,test\", helm.sh/hook-weight: \"3\", helm.sh/hook-delete-policy: hook-failed}\n",
			},
		},
		"Numbers": {
			reason: "The types of numbers stay the same.",
			files: tree{
				"templates/a.yaml": configMap("a", `"{{ kindOf .Values.f }} {{ kindOf .Values.i }} {{ kindOf .Values.o }} {{ kindOf .Values.p }} {{ .Values.f }}"`) + "n: [1.0, 2.5, 1e3, 9007199254740993, 0x10]\n",
			},
			o: render.Options{Values: map[string]any{"f": float64(1), "i": int64(2), "l": []any{float64(1e21), nil, true}}, Overrides: map[string]any{"o": int64(3), "p": float64(4)}},
		},
		"Dependency": {reason: "Values and metadata of dependencies are in the record.", files: dependency, o: render.Options{Values: map[string]any{"other": map[string]any{"enabled": true, "x": "y"}}}},
		"Disabled":   {reason: "A disabled dependency is not in the record.", files: dependency, o: render.Options{Values: map[string]any{"other": map[string]any{"enabled": false}}}},
		"Options": {
			reason: "Each option reaches the child.",
			files:  tree{"crds/c.yaml": crd, "values.schema.json": `{"required": ["x"]}`, "templates/a.yaml": configMap("a", `"{{ .Release | toJson | b64enc }} {{ .Capabilities.KubeVersion }} {{ .Capabilities.APIVersions }}"`)},
			o:      render.Options{Namespace: "ns", Upgrade: true, Revision: 7, KubeVersion: "v1.30.1", APIVersions: []string{"a/v1"}, SkipCRDs: true, SkipSchema: true},
		},
		"NoAPIVersions": {reason: "An empty list is not nil.", files: tree{"templates/a.yaml": configMap("a", `"{{ .Capabilities.APIVersions }}"`)}, o: render.Options{APIVersions: []string{}}},
		"Lookup":        {reason: "The parent looks up.", files: tree{"templates/a.yaml": configMap("a", `"{{ $o := lookup "v1" "Secret" "n" "m" }}{{ $o.at }} {{ kindOf $o.whole }} {{ kindOf $o.float }}"`)}, o: render.Options{Lookup: found}},
		"LookupNone":    {reason: "Nothing is an empty map.", files: tree{"templates/a.yaml": configMap("a", `{{ lookup "v1" "Secret" "n" "m" | toJson | quote }}`)}},
		"LookupFails":   {reason: "The error of a lookup is that of the template.", files: tree{"templates/a.yaml": configMap("a", `"{{ lookup "v1" "Broken" "n" "m" }}"`)}, o: render.Options{Lookup: found}},
		"Wrong":         {reason: "The error of a chart is the same.", files: tree{"templates/a.yaml": `{{ fail "it is wrong" }}`}},
		"Schema":        {reason: "The error of a values schema is returned.", files: tree{"values.schema.json": `{"required": ["x"]}`}},
		"Recursion":     {reason: "Templates that call each other end with an error of the chart.", files: tree{"templates/a.yaml": `{{ define "x" }}{{ include "x" . }}{{ end }}{{ include "x" . }}`}},
		"Impure":        {reason: "It is known that a chart renders differently each time.", files: tree{"templates/a.yaml": configMap("a", `{{ now | kindOf }}`)}},
		"Zone":          {reason: "Without files, there are no time zones but those of the binary.", files: tree{"templates/a.yaml": configMap("a", `{{ dateInZone "15" (toDate "2006-01-02" "2024-01-01") "Europe/Berlin" | quote }}`)}},
	}
	p := newPool(t, Options{Spares: 1})
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := chartOf(t, tc.files)
			tc.o.ReleaseName = "rel"
			want, wantErr := c.Render(t.Context(), tc.o)
			got, err := p.Chart(t.Context(), "team-a", c, tc.o)
			if diff := cmp.Diff(text(wantErr), text(err)); diff != "" {
				t.Fatalf("\n%s\nChart(...): -want error, +got error:\n%s", tc.reason, diff)
			}
			if wantErr != nil {
				return
			}
			again, err := p.Chart(t.Context(), "team-a", c, tc.o)
			if diff := cmp.Diff(got, again, cmpopts.IgnoreUnexported(render.Rendered{}), cmpopts.IgnoreTypes(&record.Draft{})); diff != "" || err != nil {
				t.Errorf("\n%s\nChart(...), again: %v, -first, +second:\n%s", tc.reason, err, diff)
			}
			if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(render.Rendered{}), cmpopts.IgnoreTypes(&record.Draft{}), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("\n%s\nChart(...): -want, +got:\n%s", tc.reason, diff)
			}
			o := record.Options{Revision: 1, Status: "deployed", FirstDeployed: time.Unix(1, 0), LastDeployed: time.Unix(2, 0)}
			wantRecord, wantErr := want.Draft.Encode(o)
			gotRecord, err := got.Draft.Encode(o)
			if diff := cmp.Diff(wantRecord, gotRecord); diff != "" || wantErr != nil || err != nil {
				t.Errorf("\n%s\nrecord of the release: %v, %v, -want, +got:\n%s", tc.reason, wantErr, err, diff)
			}
		})
	}
}

// TestKustomization checks that a child builds the same objects as this process.
func TestKustomization(t *testing.T) {
	cases := map[string]struct {
		reason string
		files  tree
		dir    string
	}{
		"Base":    {reason: "An overlay of a base is rendered.", dir: "o", files: tree{"b/kustomization.yaml": "resources: [a.yaml]\n", "b/a.yaml": configMap("a", "x"), "o/kustomization.yaml": "namePrefix: p-\nresources: [../b]\n"}},
		"Missing": {reason: "The error of a kustomization is the same.", dir: "o", files: tree{"o/kustomization.yaml": "resources: [no.yaml]\n"}},
		"Remote":  {reason: "Remote resources are not downloaded.", dir: "", files: tree{"kustomization.yaml": "resources: [\"https://127.0.0.1:1/a\"]\n"}},
	}
	p := newPool(t, Options{})
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			built, wantErr := kustomize.Build(t.Context(), tc.files.files(), tc.dir)
			want, err := yamldoc.Objects(built)
			if err != nil {
				t.Fatal(err)
			}
			got, _, err := p.Kustomization(t.Context(), "team-a", tc.files.files(), tc.dir)
			if diff := cmp.Diff(text(wantErr), text(err)); diff != "" {
				t.Fatalf("\n%s\nKustomization(...): -want error, +got error:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("\n%s\nKustomization(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

var _ templates.LookupFunc = found

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
