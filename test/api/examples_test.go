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

// TestExamples sends every file in examples and in the Configuration to the server, as a dry run. Unknown fields are errors.
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
	kinds := map[string]int{}
	for _, file := range examples(t) {
		t.Run(file, func(t *testing.T) {
			for _, o := range documents(t, filepath.Join(root, file)) {
				kinds[o.GetKind()]++
				if err := accept(t, mapper, o); err != nil {
					t.Errorf("%s %s: %v", o.GetKind(), o.GetName(), err)
				}
			}
		})
	}
	for _, kind := range []string{
		"Kyma", "KymaSet", "ModuleTemplate", "Manifest", "ProviderConfig", "ClusterProviderConfig",
		"Provider", "DeploymentRuntimeConfig", "Configuration", "Function", "ManagedResourceActivationPolicy",
		"CompositeResourceDefinition", "Composition", "KymaEnvironment", "KymaEnvironmentClaim",
	} {
		if kinds[kind] == 0 {
			t.Errorf("examples has no %s", kind)
		}
	}
}

// examples returns the YAML files with objects, by their path in the repository.
func examples(t *testing.T) []string {
	t.Helper()
	files, err := yamlFiles()
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// yamlFiles returns the YAML files in examples and in the Configuration, except for the metadata of the package.
func yamlFiles() ([]string, error) {
	var out []string
	for _, dir := range []string{"examples", filepath.Join("package", "configuration")} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(name string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() && d.Name() == "operator" {
				// An operator of another client, with its own kinds.
				return fs.SkipDir
			}
			if err != nil || d.IsDir() || !strings.HasSuffix(name, ".yaml") || d.Name() == "crossplane.yaml" {
				return err
			}
			rel, err := filepath.Rel(root, name)
			out = append(out, rel)
			return err //nolint:wrapcheck // It is wrapped below.
		})
		if err != nil {
			return nil, errors.Wrap(err, "cannot find examples")
		}
	}
	return out, nil
}

func documents(t *testing.T, file string) []*unstructured.Unstructured {
	t.Helper()
	out, err := read(file)
	if err != nil {
		t.Fatal(err)
	}
	if len(out) == 0 {
		t.Error("the file holds no object")
	}
	return out
}

// read reads the objects in a file.
func read(file string) ([]*unstructured.Unstructured, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, errors.Wrap(err, "cannot read objects")
	}
	var out []*unstructured.Unstructured
	for d := yamlutil.NewYAMLOrJSONDecoder(bytes.NewReader(data), 4096); ; {
		o := &unstructured.Unstructured{}
		err := d.Decode(&o.Object)
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, errors.Wrapf(err, "%q", file)
		}
		if len(o.Object) > 0 {
			out = append(out, o)
		}
	}
}

// accept checks, with a dry run, that the server would create an object.
func accept(t *testing.T, mapper meta.RESTMapper, o *unstructured.Unstructured) error {
	t.Helper()
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
		return nil // The namespace of an earlier example.
	}
	return errors.Wrap(err, "the server refuses it")
}
