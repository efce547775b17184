// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
)

const (
	templateOperator = "template-operator"
	greeter          = "greeter"

	regular = "regular"
	fast    = "fast"

	// repository of all components in the registry.
	repository = "modules"
)

// A module is what the demo knows of a module.
type module struct {
	name, component string
	// versions by channel.
	versions map[string]string
	// marker is what stands for the version in the files of the module.
	marker string
	// content of the component, from the files of the module.
	content func(files controlplane.Files) []controlplane.ComponentResource
	// data is the default custom resource, where the component holds none.
	data map[string]any

	// deployment of the module, resource and name of its custom resource, and the
	// field of that without which there is a warning.
	deployment types.NamespacedName
	resource   schema.GroupVersionResource
	sample     types.NamespacedName
	needed     string
}

// modules are those of the Kyma, by name.
func modules() []module {
	return []module{
		{
			// A chart, its definitions beside it, and values of the Kyma.
			name: greeter, component: "example.org/module/greeter",
			versions: map[string]string{regular: "1.0.0", fast: "1.2.0"},
			marker:   "1.0.0",
			content: func(f controlplane.Files) []controlplane.ComponentResource {
				return []controlplane.ComponentResource{
					{Name: "crds", Type: "crds", Files: below(f, "crds")},
					{Name: greeter, Type: "helm-chart", Files: below(f, "chart")},
				}
			},
			data: map[string]any{
				"apiVersion": "demo.example.org/v1", "kind": "Greeting", "spec": map[string]any{"text": "Hello"},
			},
			deployment: types.NamespacedName{Namespace: "default", Name: greeter},
			resource:   schema.GroupVersionResource{Group: "demo.example.org", Version: "v1", Resource: "greetings"},
			sample:     types.NamespacedName{Namespace: "default", Name: greeter},
			needed:     "text",
		},
		{
			// A module of Kyma, which is plain YAML, and its default custom resource.
			name: templateOperator, component: "kyma-project.io/module/template-operator",
			versions: map[string]string{regular: "1.0.5", fast: "1.1.0"},
			marker:   "template-operator:latest",
			content: func(f controlplane.Files) []controlplane.ComponentResource {
				return []controlplane.ComponentResource{
					{Name: "raw-manifest", Type: "yaml", Data: f["template-operator.yaml"]},
					{Name: "default-cr", Type: "yaml", Data: f["default-sample-cr.yaml"]},
				}
			},
			deployment: types.NamespacedName{Namespace: "template-operator-system", Name: "template-operator-controller-manager"},
			resource:   schema.GroupVersionResource{Group: "operator.kyma-project.io", Version: "v1alpha1", Resource: "samples"},
			sample:     types.NamespacedName{Namespace: "default", Name: "sample-yaml"},
			needed:     "resourceFilePath",
		},
	}
}

func moduleNamed(name string) module {
	for _, m := range modules() {
		if m.name == name {
			return m
		}
	}
	return module{}
}

// pushModules pushes each version of each module as a component, and returns the
// ModuleTemplates that put them into channels.
func (e *environment) pushModules(ctx context.Context, folder string) ([]client.Object, error) {
	var templates []client.Object
	for _, m := range modules() {
		files, err := controlplane.ReadFolder(filepath.Join(folder, m.name))
		if err != nil {
			return nil, err
		}
		for _, channel := range slices.Sorted(maps.Keys(m.versions)) {
			version := m.versions[channel]
			_, err := e.registry.PushComponent(ctx, repository, controlplane.Component{
				Name: m.component, Version: version, Resources: m.content(at(files, m.marker, version)),
			})
			if err != nil {
				return nil, err
			}
			t := &v1alpha1.ModuleTemplate{
				ObjectMeta: metav1.ObjectMeta{Name: m.name + "-" + channel},
				Spec: v1alpha1.ModuleTemplateSpec{
					Channel:   channel,
					Component: &v1alpha1.Component{Repository: e.registry.Host() + "/" + repository, Name: m.component, Version: version},
				},
			}
			if m.data != nil {
				t.Spec.Data = raw(m.data)
			}
			templates = append(templates, t)
		}
	}
	return templates, nil
}

// at is files in a version. The marker ends with what the version replaces.
func at(files controlplane.Files, marker, version string) controlplane.Files {
	prefix := marker[:strings.LastIndexByte(marker, ':')+1]
	out := controlplane.Files{}
	for name, data := range files {
		out[name] = bytes.ReplaceAll(data, []byte(marker), []byte(prefix+version))
	}
	return out
}

// below are the files of a folder.
func below(files controlplane.Files, folder string) controlplane.Files {
	out := controlplane.Files{}
	for name, data := range files {
		if rest, ok := strings.CutPrefix(name, folder+"/"); ok {
			out[rest] = data
		}
	}
	return out
}
