// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
)

const (
	templateOperator = "template-operator"
	greeter          = "greeter"

	regular = "regular"
	fast    = "fast"

	// repository is the path of all components in the registry.
	repository = "modules"
	// signer is the name of the key that signs all modules.
	signer = "release"
)

// A module describes a module of the demo. Its directory contains everything else.
type module struct {
	name string
	// versions are the versions of the module by channel.
	versions map[string]string
	// marker is the text that the version replaces in the files of the module.
	marker string

	// deployment is the Deployment of the module, resource and sample are the kind and the name of its custom resource,
	// and needed is the field of its spec without which the state is Warning.
	deployment types.NamespacedName
	resource   schema.GroupVersionResource
	sample     types.NamespacedName
	needed     string
}

// modules returns the modules of the Kyma, sorted by name.
func modules() []module {
	return []module{
		{
			name:       greeter,
			versions:   map[string]string{regular: "1.0.0", fast: "1.2.0"},
			marker:     "1.0.0",
			deployment: types.NamespacedName{Namespace: "default", Name: greeter},
			resource:   schema.GroupVersionResource{Group: "demo.example.org", Version: "v1", Resource: "greetings"},
			sample:     types.NamespacedName{Namespace: "default", Name: greeter},
			needed:     "text",
		},
		{
			name:       templateOperator,
			versions:   map[string]string{regular: "1.0.5", fast: "1.1.0"},
			marker:     "template-operator:latest",
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

// releases describes the module versions in the registry.
type releases struct {
	// templates are the paths of the ModuleTemplates that assign the versions to channels.
	templates []string
	// references are the component references in the registry, by <module>-<version>.
	references map[string]string
}

// pushModules creates, signs, pushes and verifies each version of each module in a directory, and writes the
// ModuleTemplates.
func pushModules(ctx context.Context, w workshop, registry, dir string) (releases, error) {
	out := releases{references: map[string]string{}}
	if _, err := w.do(ctx, "module", "keygen", signer); err != nil {
		return out, err
	}
	for _, m := range modules() {
		files, err := controlplane.ReadDir(filepath.Join(dir, m.name))
		if err != nil {
			return out, err
		}
		for _, channel := range []string{regular, fast} {
			version := m.versions[channel]
			source := m.name + "-" + version
			if err := write(at(files, m.marker, version), filepath.Join(w.modules(), source)); err != nil {
				return out, err
			}
			reference, err := pushModule(ctx, w, source, version, registry)
			if err != nil {
				return out, err
			}
			out.references[source] = reference
			template := m.name + "-" + channel + ".yaml"
			if _, err := w.do(ctx, "module", "template", reference, "--channel", channel, "-o", template); err != nil {
				return out, err
			}
			out.templates = append(out.templates, filepath.Join(w.modules(), template))
		}
	}
	return out, nil
}

// pushModule pushes a version of a module from its directory in the workshop, and returns its reference in the registry.
func pushModule(ctx context.Context, w workshop, source, version, registry string) (string, error) {
	layout := source + ".tar"
	if _, err := w.do(ctx, "module", "create", source, "--version", version, "--key", signer+".key", "-o", layout); err != nil {
		return "", err
	}
	out, err := w.do(ctx, "module", "push", layout, registry+"/"+repository, "-o", "jsonpath={.repository}:{.tag}")
	if err != nil {
		return "", err
	}
	reference := strings.TrimSpace(out)
	_, err = w.do(ctx, "module", "verify", reference, "--key", signer+".pub")
	return reference, err
}

// write writes files into a directory.
func write(files controlplane.Files, dir string) error {
	for name, data := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return errors.Wrap(err, "cannot create a directory of a module")
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			return errors.Wrap(err, "cannot write a file of a module")
		}
	}
	return nil
}

// at returns the files with a version in place of the marker. The part of the marker up to the last colon stays.
func at(files controlplane.Files, marker, version string) controlplane.Files {
	prefix := marker[:strings.LastIndexByte(marker, ':')+1]
	out := controlplane.Files{}
	for name, data := range files {
		out[name] = bytes.ReplaceAll(data, []byte(marker), []byte(prefix+version))
	}
	return out
}
