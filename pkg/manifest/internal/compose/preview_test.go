// SPDX-License-Identifier: Apache-2.0

package compose

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/bundle"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/source"
)

// previewed is a preview in short form.
type previewed struct {
	Install, Chart string
	Objects        []string
	Err            string
}

func TestPreview(t *testing.T) {
	chart := layerOf("Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.2.3\n", "values.yaml", "replicas: 1\n",
		"templates/a.yaml", "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: {{ .Release.Name }}}\nspec: {replicas: {{ .Values.replicas }}}\n"+
			"---\napiVersion: example.org/v1\nkind: Wide\nmetadata: {name: w, namespace: dropped}\n---\napiVersion: other.example.org/v1\nkind: Unknown\nmetadata: {name: u}\n")
	needy := layerOf("Chart.yaml", "apiVersion: v2\nname: needy\nversion: 1.0.0\n", "templates/a.yaml", `{{ required "set host" .Values.host }}`)
	crds := layerOf("wide.yaml", "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: wides.example.org}\n"+
		"spec: {group: example.org, scope: Cluster, names: {kind: Wide, plural: wides}, versions: [{name: v1, served: true}]}\n")
	config := layerOf("c.yaml", "configs:\n- name: web\n  clientConfig: Namespace=apps,ReleaseName=other\n  overrides: replicas=4\n")
	lost := source.Layer{Digest: "lost", Fetch: func(context.Context) (source.Content, error) {
		return source.Content{}, errors.New("the registry is down")
	}}
	s := &bundle.Bundle{
		CRDs: &crds, Config: &config,
		Installs: []bundle.Install{
			{Name: "web", Namespace: "default", Layer: chart},
			{Name: "needy", Namespace: "default", Layer: needy},
			{Name: "plain", Namespace: "default", Form: bundle.FormPlain, Layer: layerOf("p.yaml", configMap("p"))},
			{Name: "lost", Namespace: "default", Layer: lost},
		},
		Resource: &unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.org/v1", "kind": "Wide", "metadata": map[string]any{"name": "r"}}},
	}
	want := []previewed{
		{Objects: []string{"CustomResourceDefinition /wides.example.org"}},
		{Install: "web", Chart: "web 1.2.3", Objects: []string{"Deployment apps/other", "Unknown /u", "Wide /w"}},
		{Install: "needy", Chart: "needy 1.0.0", Err: "set host"},
		{Install: "plain", Objects: []string{"ConfigMap default/p"}},
		{Install: "lost", Err: "the registry is down"},
		{Objects: []string{"Wide /r"}},
	}
	previews, err := PreviewOf(t.Context(), InProcess{}, s, "v1.36.0")
	if err != nil {
		t.Fatal(err)
	}
	var got []previewed
	for _, p := range previews {
		out := previewed{Install: p.Install, Chart: strings.TrimSpace(p.Chart + " " + p.Version)}
		for _, u := range p.Objects {
			out.Objects = append(out.Objects, u.GetKind()+" "+u.GetNamespace()+"/"+u.GetName())
		}
		for _, known := range []string{"set host", "the registry is down"} {
			if p.Err != nil && strings.Contains(p.Err.Error(), known) {
				out.Err = known
			}
		}
		got = append(got, out)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
	if n, _, _ := unstructured.NestedInt64(previews[1].Objects[0].Object, "spec", "replicas"); n != 4 {
		t.Errorf("overrides: want 4 replicas, got %d", n)
	}
	if diff := cmp.Diff(map[string]any{"replicas": float64(1)}, previews[1].Values); diff != "" {
		t.Errorf("values: -want, +got:\n%s", diff)
	}
	s.Installs[0].Name = "plain"
	if _, err := PreviewOf(t.Context(), InProcess{}, s, ""); err == nil {
		t.Error("two installs of one name must be refused")
	}
}
