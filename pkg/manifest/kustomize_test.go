// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/observe"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/source"
)

// kustomizationOf returns an install of a kustomization in namespace apps, from pairs of a file name and a text.
func kustomizationOf(name, dir string, pairs ...string) Install {
	var files []source.File
	for i := 0; i+1 < len(pairs); i += 2 {
		files = append(files, source.File{Name: pairs[i], Data: []byte(pairs[i+1])})
	}
	return Install{Layer: layerOf(files), Name: name, Form: FormKustomize, Path: dir, Namespace: "apps"}
}

// twoLayers returns a base and an overlay.
func twoLayers(dir string) Install {
	return kustomizationOf("web", dir,
		"base/kustomization.yaml", "resources: [all.yaml]\n", "base/all.yaml", configMap("both")+"---\n"+configMap("base"),
		"overlay/kustomization.yaml", "resources: [../base]\nconfigMapGenerator: [{name: made, literals: [a=b]}]\ngeneratorOptions: {disableNameSuffixHash: true}\n")
}

func TestKustomize(t *testing.T) {
	b := newBench(t)
	s := bundleOf(twoLayers("overlay"), install("chart", configMap("chart")), plainOf("raw", configMap("raw")))
	b.reconcile(s)
	want := []string{
		"ConfigMap apps/base", "ConfigMap apps/both", "ConfigMap apps/chart", "ConfigMap apps/made", "ConfigMap apps/raw", "Namespace apps",
		"Secret apps/sh.helm.release.v1.chart.v1", "Secret kyma-system/team-a-web",
	}
	if diff := cmp.Diff(want, b.s.keys()); diff != "" {
		t.Errorf("a kustomization has no release: -want, +got:\n%s", diff)
	}
	parts := []observe.PartState{{Install: "web", Phase: observe.PhaseReady, State: Ready}, {Install: "chart", Phase: observe.PhaseReady, State: Ready, Version: "1.0.0"}, {Install: "raw", Phase: observe.PhaseReady, State: Ready}}
	if diff := cmp.Diff(parts, b.observe(s).Parts); diff != "" {
		t.Errorf("each install has its own state: -want, +got:\n%s", diff)
	}

	uid := b.s.uidOf(key("ConfigMap", "apps", "both"))
	s.Installs[0] = twoLayers("base/")
	b.reconcile(s)
	if b.s.uidOf(key("ConfigMap", "apps", "made")) != "" {
		t.Error("another path must be built, and what it does not have must go")
	}
	s.Installs[0] = install("web", configMap("both"))
	b.reconcile(s)
	s.Installs[0] = plainOf("web", configMap("both"))
	b.reconcile(s)
	s.Installs[0] = twoLayers("overlay")
	b.reconcile(s)
	if diff := cmp.Diff(want, b.s.keys()); diff != "" || b.s.uidOf(key("ConfigMap", "apps", "both")) != uid {
		t.Errorf("what all forms have must stay, and nothing else: -want, +got:\n%s", diff)
	}
	b.s.took()
	b.apply(s)
	if got := b.s.took(); got != nil {
		t.Errorf("at rest there must be no requests, got %q", got)
	}
	if r := b.take(s); !r.Gone {
		t.Fatalf("removal: %+v", r)
	}
}

// TestInstallsInOrder checks that installs of all forms are applied in their order, and removed in reverse order.
func TestInstallsInOrder(t *testing.T) {
	b := newBench(t)
	s := bundleOf(twoLayers("base"), install("chart", configMap("chart")), plainOf("raw", configMap("raw")), install("a", configMap("last")))
	b.reconcile(s)
	order := func(verb string) []string {
		var out []string
		for _, l := range b.s.took() {
			if name, ok := strings.CutPrefix(l, verb+" ConfigMap apps/"); ok && name != "both" {
				out = append(out, name)
			}
		}
		// If the namespace is missing, a refused request is sent again.
		return slices.Compact(out)
	}
	if diff := cmp.Diff([]string{"base", "chart", "raw", "last"}, order("patch")); diff != "" {
		t.Errorf("applied: -want, +got:\n%s", diff)
	}
	b.take(s)
	if diff := cmp.Diff([]string{"last", "raw", "chart", "base"}, order("delete")); diff != "" {
		t.Errorf("removed: -want, +got:\n%s", diff)
	}
}

func TestKustomizeRefusals(t *testing.T) {
	of := func(text string) Install {
		return kustomizationOf("web", "", "kustomization.yaml", text, "a.yaml", configMap("a"))
	}
	valued := of("resources: [a.yaml]")
	valued.Values = map[string]any{"a": "b"}
	pathed := plainOf("web", configMap("a"))
	pathed.Path = "x"
	climbing := of("resources: [a.yaml]")
	climbing.Path = "../x"
	elsewhere := of("resources: [a.yaml]")
	elsewhere.Path = "x"
	cases := map[string]struct {
		reason string
		in     Install
		want   []string
	}{
		"HTTP":     {reason: "Nothing is fetched from a URL.", in: of("resources: [https://example.org/base]"), want: []string{"web: kustomization.yaml: resources", "https://example.org/base", "is a URL or a git reference, which is not fetched"}},
		"Git":      {reason: "Nothing is fetched with git.", in: of("resources: ['github.com/example/base?ref=v1']"), want: []string{"web: kustomization.yaml: resources", "github.com/example/base"}},
		"Exec":     {reason: "No program is run.", in: of("resources: [a.yaml]\ngenerators: [|-\n  apiVersion: v1\n  kind: X\n  metadata: {name: x, annotations: {config.kubernetes.io/function: 'exec: {path: /bin/sh}'}}\n]"), want: []string{"web: ", "kustomization.yaml"}},
		"Charts":   {reason: "Charts are separate installs.", in: of("helmCharts: [{name: x, repo: https://example.org}]"), want: []string{"web: kustomization.yaml: helmCharts"}},
		"Values":   {reason: "A kustomization has no values.", in: valued, want: []string{"web: values are only supported for charts, but this install is a kustomization; remove them"}},
		"Path":     {reason: "Only a kustomization has a path.", in: pathed, want: []string{`install "web": path is only supported for kustomizations; remove it`}},
		"Climbing": {reason: "A path must stay within the layer.", in: climbing, want: []string{`web: path "../x" must be a directory in the layer`}},
		"Missing":  {reason: "The error names a missing directory.", in: elsewhere, want: []string{`web: directory "x" does not exist`}},
		"Nothing":  {reason: "A kustomization without objects is hardly intended.", in: of("resources: []\nnamePrefix: x"), want: []string{"web: "}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			_, err := b.Apply(t.Context(), b.c, bundleOf(tc.in, install("good", configMap("good"))))
			if err == nil {
				t.Fatalf("\n%s\nwant an error", tc.reason)
			}
			for _, w := range tc.want {
				if !strings.Contains(err.Error(), w) || strings.Contains(err.Error(), "\n") {
					t.Errorf("\n%s\nwant %q in one line, got %q", tc.reason, w, err)
				}
			}
			if name != "Path" && b.s.uidOf(key("ConfigMap", "apps", "good")) == "" {
				t.Errorf("\n%s\nthe other install must continue", tc.reason)
			}
		})
	}
}

func TestKustomizePreview(t *testing.T) {
	got, err := PreviewOf(t.Context(), bundleOf(twoLayers("overlay")), "v1.36.0")
	if err != nil || len(got) != 1 || got[0].Err != nil || len(got[0].Objects) != 3 || got[0].Objects[0].GetNamespace() != "apps" {
		t.Errorf("Preview(...): %+v, %v", got, err)
	}
}
