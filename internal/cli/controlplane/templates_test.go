// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/internal/fuzztest"
)

const oneTemplate = `apiVersion: kyma.m.crossplane.io/v1alpha1
kind: ModuleTemplate
metadata:
  name: istio-regular
  namespace: gone
  resourceVersion: "7"
  labels: {a: b}
  annotations: {kubectl.kubernetes.io/last-applied-configuration: "{}"}
spec:
  channel: regular
  moduleName: istio
  component: {repository: registry.example.org, name: example.org/module/istio, version: 1.0.0}
status: {moduleName: x}
`

func TestReadTemplates(t *testing.T) {
	second := strings.ReplaceAll(oneTemplate, "istio", "serverless")
	cases := map[string]struct {
		reason string
		files  []string
		stdin  string
		want   []string
		err    string
	}{
		"Documents": {reason: "A file can contain several documents, and empty ones.", files: []string{oneTemplate + "---\n---\n" + second}, want: []string{"istio-regular", "serverless-regular"}},
		"Files":     {reason: "The order of the command line is kept.", files: []string{second, oneTemplate}, want: []string{"serverless-regular", "istio-regular"}},
		"Stdin":     {reason: "The output of 'kymactl module template' can be piped.", stdin: oneTemplate, want: []string{"istio-regular"}},
		"Again":     {reason: "Duplicate templates are an error.", files: []string{oneTemplate, oneTemplate}, err: "ModuleTemplate istio-regular is also in "},
		"OtherKind": {
			reason: "Other kinds are rejected, without their content in the error.",
			files:  []string{oneTemplate + "---\napiVersion: v1\nkind: Secret\nmetadata: {name: x}\nstringData: {a: " + canary + "}\n"},
			err:    "document 2, Secret x: unsupported apiVersion v1: must be a ModuleTemplate of kyma.m.crossplane.io/v1alpha1",
		},
		"Original": {
			reason: "A ModuleTemplate of lifecycle-manager is rejected with a hint.",
			files:  []string{strings.Replace(oneTemplate, "kyma.m.crossplane.io/v1alpha1", "operator.kyma-project.io/v1beta2", 1)},
			err:    "convert it with 'kymactl module convert'",
		},
		"Version": {reason: "An unknown version is an error.", files: []string{strings.Replace(oneTemplate, "v1alpha1", "v9", 1)}, err: "unknown version v9"},
		"Empty":   {reason: "An empty file is an error.", files: []string{"---\n"}, err: "no ModuleTemplate found"},
		"NoYAML":  {reason: "Invalid YAML is an error that names the file.", files: []string{"a: b: c"}, err: "--template "},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			paths := []string{"-"}
			if tc.files != nil {
				paths = nil
			}
			dir := t.TempDir()
			for i, f := range tc.files {
				p := filepath.Join(dir, string(rune('a'+i)))
				write(t, p, f)
				paths = append(paths, p)
			}
			got, err := readTemplates(strings.NewReader(tc.stdin), paths)
			if tc.err != "" {
				if err == nil || !strings.Contains(err.Error(), tc.err) || strings.Contains(err.Error(), canary) {
					t.Fatalf("%s\nreadTemplates(...): want error with %q, got %v", tc.reason, tc.err, err)
				}
				return
			}
			if err != nil {
				t.Fatalf("%s\nreadTemplates(...): %v", tc.reason, err)
			}
			var names []string
			for _, u := range got {
				names = append(names, u.GetName())
				if u.GetNamespace() != "" || u.GetResourceVersion() != "" || len(u.GetAnnotations()) > 0 || u.Object["status"] != nil || u.GetLabels()["a"] != "b" {
					t.Errorf("%s\nreadTemplates(...): more or less than the user's is left: %v", tc.reason, u.Object)
				}
			}
			if diff := cmp.Diff(tc.want, names); diff != "" {
				t.Errorf("%s\nreadTemplates(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func FuzzTemplates(f *testing.F) {
	f.Add([]byte(oneTemplate))
	f.Add([]byte("{}"))
	f.Add([]byte("apiVersion: v1\nkind: List\nitems: [1]\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		defer fuzztest.Within(t, fuzztest.Limits{Base: 64 << 20, PerByte: 16 << 10}, len(data))()
		out, err := templatesOf(data)
		if err == nil && len(out) == 0 {
			t.Error("templatesOf(...): neither templates nor an error")
		}
		for _, u := range out {
			if u.GetName() == "" || u.GetKind() != "ModuleTemplate" {
				t.Errorf("templatesOf(...): no ModuleTemplate: %v", u.Object)
			}
		}
	})
}
