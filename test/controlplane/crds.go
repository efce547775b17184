// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"os"
	"path/filepath"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"
)

// InstallCRDs applies the CustomResourceDefinitions of a folder, one a file, and
// waits until all of them are established.
func (c *Cluster) InstallCRDs(ctx context.Context, dir string) error {
	client, err := dynamic.NewForConfig(c.Config())
	if err != nil {
		return errors.Wrap(err, "cannot make a client")
	}
	definitions := client.Resource(schema.GroupVersionResource{
		Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions",
	})
	files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil || len(files) == 0 {
		return errors.Errorf("no CustomResourceDefinitions are in %q", dir)
	}
	var names []string
	for _, f := range files {
		crd := &unstructured.Unstructured{}
		data, err := os.ReadFile(f)
		if err != nil {
			return errors.Wrap(err, "cannot read a CustomResourceDefinition")
		}
		if err := yaml.Unmarshal(data, &crd.Object); err != nil {
			return errors.Wrapf(err, "cannot read %q", f)
		}
		if _, err := definitions.Apply(ctx, crd.GetName(), crd, metav1.ApplyOptions{FieldManager: "controlplane", Force: true}); err != nil {
			return errors.Wrapf(err, "cannot apply %q", f)
		}
		names = append(names, crd.GetName())
	}
	for _, n := range names {
		if err := awaitEstablished(ctx, definitions, n); err != nil {
			return err
		}
	}
	return nil
}

func awaitEstablished(ctx context.Context, definitions dynamic.ResourceInterface, name string) error {
	w := Wait{What: "CustomResourceDefinition " + name + " is established", Every: pollInterval}
	return w.Until(ctx, func(ctx context.Context) (bool, string, error) {
		crd, err := definitions.Get(ctx, name, metav1.GetOptions{})
		return err == nil && established(crd), "", err
	})
}

func established(crd *unstructured.Unstructured) bool {
	conditions, _, _ := unstructured.NestedSlice(crd.Object, "status", "conditions")
	for _, c := range conditions {
		if m, ok := c.(map[string]any); ok && m["type"] == "Established" && m["status"] == "True" {
			return true
		}
	}
	return false
}
