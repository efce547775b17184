// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-kyma/internal/render/attacktest"
)

// objectsOf is a file with n objects of different names.
func objectsOf(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "---\n{apiVersion: v1, kind: Pod, metadata: {name: p%d}}\n", i)
	}
	return b.String()
}

// diamond is a base that is used twice by each of two that are used twice, and so on.
func diamond(depth int) tree {
	out := tree{
		fmt.Sprintf("%d/kustomization.yaml", depth): "resources: [a.yaml]\n", fmt.Sprintf("%d/a.yaml", depth): configMap("a", "x"),
		"kustomization.yaml": "resources: [\"0\"]\n",
	}
	for i := range depth {
		out[fmt.Sprintf("%d/kustomization.yaml", i)] = fmt.Sprintf("resources: [../a%d, ../b%d]\n", i, i)
		for _, side := range []string{"a", "b"} {
			out[fmt.Sprintf("%s%d/kustomization.yaml", side, i)] = fmt.Sprintf("namePrefix: %s\nresources: [../%d]\n", side, i+1)
		}
	}
	return out
}

// TestKustomizationAttacks checks that kustomizations that grow, never end, or end the process have an error of their own, and that
// they take no memory of this process.
func TestKustomizationAttacks(t *testing.T) {
	large := configMap("large", strings.Repeat("x", 1<<20))
	cases := map[string]struct {
		reason  string
		files   tree
		reasons []Reason // The machine decides which limit is reached first.
	}{
		"Aliases": {
			reason:  "Nested aliases are limited.",
			files:   tree{"kustomization.yaml": "resources: [a.yaml]\n", "a.yaml": attacktest.Aliases("a", 100_000)},
			reasons: []Reason{ReasonMemory, ReasonOutput},
		},
		"Endless": {
			reason:  "An alias that contains itself is rejected.",
			files:   tree{"kustomization.yaml": "resources: [a.yaml]\n", "a.yaml": configMap("a", "x") + "a: &a [*a]\n"},
			reasons: []Reason{ReasonEnded, ReasonMemory},
		},
		"Diamond": {reason: "Bases that double the objects are limited.", files: diamond(20), reasons: []Reason{ReasonMemory}},
		"Variables": {
			reason: "Nested variables are limited.",
			files: tree{
				"kustomization.yaml": "resources: [a.yaml, large.yaml]\nvars: [{name: A, objref: {kind: ConfigMap, name: large, apiVersion: v1}, fieldref: {fieldPath: data.v}}]\n",
				"large.yaml":         large,
				"a.yaml":             "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: c, args: [" + strings.TrimSuffix(strings.Repeat(`"$(A)",`, 1000), ",") + "]}]}}\n",
			},
			reasons: []Reason{ReasonMemory, ReasonOutput},
		},
		"Replacements": {
			reason: "Nested replacements are limited.",
			files: tree{
				"kustomization.yaml": "resources: [a.yaml, large.yaml]\nreplacements: [{source: {kind: ConfigMap, name: large, fieldPath: data.v}, targets: [{select: {kind: Pod}, fieldPaths: [x], options: {create: true}}]}]\n",
				"large.yaml":         large, "a.yaml": objectsOf(500),
			},
			reasons: []Reason{ReasonMemory, ReasonOutput},
		},
		"Copies": {
			reason: "Patches that repeatedly double an object are limited.",
			files: tree{
				"kustomization.yaml": "resources: [a.yaml]\npatches:\n- target: {kind: ConfigMap}\n  patch: |-\n" +
					strings.Repeat("    - {op: copy, from: /data, path: /data/y}\n    - {op: copy, from: /data, path: /data/z}\n", 20),
				"a.yaml": configMap("a", "x"),
			},
			reasons: []Reason{ReasonMemory},
		},
		"Steps": {
			reason:  "Work that grows with the number of objects and fields is limited.",
			files:   tree{"kustomization.yaml": "resources: [a.yaml]\nimages:\n" + strings.Repeat("- {name: a, newTag: b}\n", 20_000), "a.yaml": objectsOf(900)},
			reasons: []Reason{ReasonMemory},
		},
		"Read": {
			reason:  "Repeated reads of a file are limited.",
			files:   tree{"kustomization.yaml": "configMapGenerator:\n" + many("- {name: a%d, files: [large.yaml]}\n", 1000), "large.yaml": large},
			reasons: []Reason{ReasonMemory, ReasonOutput},
		},
		"Exit": {
			reason: "Kustomize ends the process: a reference is ambiguous, and one of the objects cannot be printed.",
			files: tree{
				"kustomization.yaml": "resources: [crb.yaml, b1, b2]\nnamePrefix: p-\nconfigurations: [c.yaml]\n" +
					"replacements: [{sourceValue: abc, targets: [{select: {kind: ClusterRoleBinding}, fieldPaths: [x]}]}]\n",
				"c.yaml":                "nameReference: [{kind: ConfigMap, version: v1, fieldSpecs: [{path: ref, kind: ClusterRoleBinding}]}]\n",
				"b1/kustomization.yaml": "resources: [a.yaml]\nnamePrefix: q-\n", "b1/a.yaml": "{apiVersion: v1, kind: ConfigMap, metadata: {name: x}}\n",
				"b2/kustomization.yaml": "resources: [a.yaml]\nnamePrefix: r-\n", "b2/a.yaml": "{apiVersion: v1, kind: ConfigMap, metadata: {name: x}}\n",
				"crb.yaml": "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: x}, ref: x, x: 1.5}\n",
			},
			reasons: []Reason{ReasonEnded},
		},
	}
	p := newPool(t, Options{Limits: attackLimits(), Spares: 1, Wait: time.Hour})
	const most = 64 << 20
	taken := allocated(func() {
		for name, tc := range cases {
			t.Run(name, func(t *testing.T) {
				_, _, err := p.Kustomization(t.Context(), "team-a", tc.files.files(), "")
				t.Logf("%v", err)
				e := (*Error)(nil)
				switch {
				case !errors.As(err, &e):
					t.Errorf("\n%s\nwant an *Error, got %v", tc.reason, err)
				case e.Reason != ReasonCPU && !slices.Contains(tc.reasons, e.Reason):
					t.Errorf("\n%s\nwant a reason of %v, got %s: %v", tc.reason, tc.reasons, e.Reason, err)
				}
			})
		}
	})
	if taken > most {
		t.Errorf("this process allocated %d bytes, want at most %d", taken, most)
	}
}

// many is a text n times, with a number in it.
func many(format string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}
