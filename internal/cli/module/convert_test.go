// SPDX-License-Identifier: Apache-2.0

package module_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
)

const (
	oldKyma = `apiVersion: operator.kyma-project.io/v1beta2
kind: Kyma
metadata: {name: cluster-a, namespace: kcp-system}
spec: {channel: regular, modules: [{name: istio}]}
`
	newKyma = `apiVersion: kyma.m.crossplane.io/v1alpha1
kind: Kyma
metadata:
  name: cluster-a
  namespace: kcp-system
spec:
  forProvider:
    channel: regular
    modules:
    - name: istio
  providerConfigRef:
    kind: ProviderConfig
    name: cluster-a
`
	oldManifest = `apiVersion: operator.kyma-project.io/v1alpha1
kind: Manifest
metadata: {name: m, namespace: kcp-system, labels: {operator.kyma-project.io/kyma-name: cluster-a}}
spec:
  installs: [{name: c, source: {type: helm-chart, url: "https://charts.example.org", chartName: c}}]
  manager: {name: x}
`
	newManifest = `apiVersion: kyma.m.crossplane.io/v1alpha1
kind: Manifest
metadata:
  labels:
    operator.kyma-project.io/kyma-name: cluster-a
  name: m
  namespace: kcp-system
spec:
  forProvider:
    installs:
    - name: c
      source:
        chartName: c
        type: helm-chart
        url: https://charts.example.org
  providerConfigRef:
    kind: ProviderConfig
    name: cluster-a
`
	lostManager = `Warning: stdin: document 2: Manifest "m": spec.manager: readiness depends on all objects`
	oldSecret   = "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\n"
)

func TestConvert(t *testing.T) {
	type want struct {
		code command.ExitCode
		out  string
		err  string
	}
	cases := map[string]struct {
		reason string
		args   []string
		in     string
		want   want
	}{
		"Stream": {
			reason: "The order of documents stays, and warnings name the lost fields.",
			args:   []string{"-"}, in: oldKyma + "---\n" + oldManifest,
			want: want{out: newKyma + "---\n" + newManifest, err: lostManager},
		},
		"Hint": {
			reason: "A hint names the source of the credentials.",
			args:   []string{"-"}, in: oldKyma,
			want: want{out: newKyma, err: "create it from the Secret with label operator.kyma-project.io/kyma-name=cluster-a"},
		},
		"Flags": {
			reason: "Flags override the input.",
			args:   []string{"-", "--provider-config", "pc", "-n", "team", "-c", "fast"},
			in:     "apiVersion: operator.kyma-project.io/v1beta2\nkind: Kyma\nmetadata: {name: k}\n",
			want: want{out: "apiVersion: kyma.m.crossplane.io/v1alpha1\nkind: Kyma\nmetadata:\n  name: k\n  namespace: team\nspec:\n  forProvider:\n    channel: fast\n" +
				"  providerConfigRef:\n    kind: ProviderConfig\n    name: pc\n"},
		},
		"Strict": {
			reason: "With --strict, a lost field is an error, and nothing is written.",
			args:   []string{"-", "--strict"}, in: oldKyma + "---\n" + oldManifest,
			want: want{code: command.ExitFailure, err: "--strict is set and some fields cannot be converted (1 in total)"},
		},
		"Unknown": {
			reason: "An object of another kind is an error, and nothing is written.",
			args:   []string{"-"}, in: oldKyma + "---\n" + oldSecret,
			want: want{code: command.ExitFailure, err: `Error: stdin: document 2: cannot convert kind "Secret" of apiVersion "v1"`},
		},
		"SkipUnknown": {
			reason: "With --skip-unknown, it is skipped.",
			args:   []string{"-", "--skip-unknown"}, in: oldSecret + "---\n" + oldKyma,
			want: want{out: newKyma, err: `Warning: stdin: document 1 is skipped: cannot convert kind "Secret"`},
		},
		"Empty":     {reason: "Empty input is an error.", args: []string{"-"}, want: want{code: command.ExitFailure, err: "stdin: no objects found"}},
		"NoFile":    {reason: "The input file must exist.", args: []string{"/nope/x.yaml"}, want: want{code: command.ExitNotFound, err: "file /nope/x.yaml does not exist"}},
		"NoArgs":    {reason: "A file must be named.", want: want{code: command.ExitUsage}},
		"Twice":     {reason: "Stdin can be read only once.", args: []string{"-", "-"}, want: want{code: command.ExitUsage, err: "stdin can be read only once"}},
		"Channel":   {reason: "A channel must be valid.", args: []string{"-", "-c", "v1"}, want: want{code: command.ExitUsage, err: "--channel"}},
		"Config":    {reason: "A name must be valid.", args: []string{"-", "--provider-config", "A"}, want: want{code: command.ExitUsage, err: "--provider-config"}},
		"Namespace": {reason: "A namespace must be valid.", args: []string{"-", "-n", "A"}, want: want{code: command.ExitUsage, err: "--namespace"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := kymactlWith(t, tc.in, append([]string{"module", "convert"}, tc.args...)...).want(t, tc.want.code, tc.want.err)
			if got.out != tc.want.out {
				t.Errorf("\n%s\nwant on stdout:\n%s\ngot:\n%s", tc.reason, tc.want.out, got.out)
			}
		})
	}
}

// TestConvertFiles checks that several files become one, and that the file is
// written completely or not at all.
func TestConvertFiles(t *testing.T) {
	dir := t.TempDir()
	fixtures, err := filepath.Glob("../../module/testdata/moduletemplates/*.yaml")
	if err != nil || len(fixtures) == 0 {
		t.Fatalf("%d fixtures, %v", len(fixtures), err)
	}
	to := filepath.Join(dir, "ours.yaml")
	r := kymactl(t, append([]string{"module", "convert", "-o", to}, fixtures...)...).want(t, command.ExitOK, "metadata.namespace")
	if r.out != "" {
		t.Errorf("stdout must stay empty, got %q", r.out)
	}
	data, err := os.ReadFile(to)
	if err != nil || strings.Count(string(data), "kind: ModuleTemplate\n") != len(fixtures) {
		t.Fatalf("want %d templates, got %v and\n%s", len(fixtures), err, data)
	}
	bad := filepath.Join(dir, "bad.yaml")
	if err := os.WriteFile(bad, []byte(oldSecret), 0o600); err != nil {
		t.Fatal(err)
	}
	kymactl(t, "module", "convert", fixtures[0], bad, "-o", to).want(t, command.ExitFailure, "bad.yaml: document 1")
	again, err := os.ReadFile(to)
	if err != nil || string(again) != string(data) {
		t.Errorf("the file was changed: %v", err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 2 {
		t.Errorf("want 2 files, got %v, %v", left, err)
	}
}
