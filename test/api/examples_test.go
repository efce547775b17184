// SPDX-License-Identifier: Apache-2.0

package api

import (
	"bytes"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	yamlutil "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/restmapper"
)

// TestExamples sends every file under examples to the server, without effect. A
// field that the server does not know is an error.
func TestExamples(t *testing.T) {
	d, err := discovery.NewDiscoveryClientForConfig(server.Config())
	if err != nil {
		t.Fatal(err)
	}
	groups, err := restmapper.GetAPIGroupResources(d)
	if err != nil {
		t.Fatal(err)
	}
	mapper := restmapper.NewDiscoveryRESTMapper(groups)
	files, kinds := examples(t), map[string]int{}
	for _, file := range files {
		t.Run(file, func(t *testing.T) {
			for _, o := range documents(t, filepath.Join(root, "examples", file)) {
				kinds[o.GetKind()]++
				if err := accept(t, mapper, o); err != nil {
					t.Errorf("%s %s: %v", o.GetKind(), o.GetName(), err)
				}
			}
		})
	}
	for _, kind := range []string{"Kyma", "ModuleTemplate", "Manifest", "ProviderConfig", "ClusterProviderConfig"} {
		if kinds[kind] == 0 {
			t.Errorf("examples has no %s", kind)
		}
	}
}

// examples are the YAML files under examples, by their path below it.
func examples(t *testing.T) []string {
	t.Helper()
	var out []string
	dir := filepath.Join(root, "examples")
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(name, ".yaml") {
			return err
		}
		rel, err := filepath.Rel(dir, name)
		out = append(out, rel)
		return err //nolint:wrapcheck // It ends the test.
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func documents(t *testing.T, file string) []*unstructured.Unstructured {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out []*unstructured.Unstructured
	for d := yamlutil.NewYAMLOrJSONDecoder(bytes.NewReader(data), 4096); ; {
		o := &unstructured.Unstructured{}
		err := d.Decode(&o.Object)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if len(o.Object) > 0 {
			out = append(out, o)
		}
	}
	if len(out) == 0 {
		t.Error("the file holds no object")
	}
	return out
}

// accept asks the server whether it would create an object.
func accept(t *testing.T, mapper meta.RESTMapper, o *unstructured.Unstructured) error {
	t.Helper()
	// Kinds of Crossplane are not installed here; its own tools check them.
	group := o.GroupVersionKind().Group
	if group == "crossplane.io" || strings.HasSuffix(group, ".crossplane.io") && !strings.HasSuffix(group, ".m.crossplane.io") {
		t.Logf("%s %s is not ours: not checked", o.GetKind(), o.GetName())
		return nil
	}
	m, err := mapper.RESTMapping(o.GroupVersionKind().GroupKind(), o.GroupVersionKind().Version)
	if err != nil {
		return errors.Wrap(err, "the server does not know the kind")
	}
	if ns := o.GetNamespace(); ns != "" {
		n := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": ns},
		}}
		_, err := client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}).Create(t.Context(), n, metav1.CreateOptions{})
		if err != nil && !kerrors.IsAlreadyExists(err) {
			return errors.Wrap(err, "cannot create the namespace")
		}
	}
	_, err = client.Resource(m.Resource).Namespace(o.GetNamespace()).Create(t.Context(), o, metav1.CreateOptions{
		DryRun: []string{metav1.DryRunAll}, FieldValidation: "Strict",
	})
	if kerrors.IsAlreadyExists(err) {
		return nil // The namespace of an example before.
	}
	return errors.Wrap(err, "the server refuses it")
}
