// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"io"
	"maps"
	"os"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/apply"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
	"github.com/crossplane-contrib/provider-kyma/internal/render/yamldoc"
)

// maxTemplates is the maximum size of a file with ModuleTemplates in bytes.
const maxTemplates = 64 << 20

// readTemplates reads ModuleTemplates from files with one or more YAML documents. The path - means stdin. It fails if two
// templates have the same name.
func readTemplates(in io.Reader, paths []string) ([]*unstructured.Unstructured, error) {
	var out []*unstructured.Unstructured
	from := map[string]string{}
	for _, path := range paths {
		data, err := readTemplate(in, path)
		if err != nil {
			return nil, errors.Wrap(err, "--template")
		}
		found, err := templatesOf(data)
		if err != nil {
			return nil, errors.Wrapf(err, "--template %s", path)
		}
		for _, t := range found {
			if before, ok := from[t.GetName()]; ok {
				return nil, errors.Errorf("--template %s: ModuleTemplate %s is also in %s", path, t.GetName(), before)
			}
			from[t.GetName()] = path
		}
		out = append(out, found...)
	}
	return out, nil
}

// readTemplate reads a file, or stdin if path is -. It fails if the content exceeds maxTemplates.
func readTemplate(in io.Reader, path string) ([]byte, error) {
	name := "stdin"
	if path != "-" {
		f, err := os.Open(path) //nolint:gosec // The user names their own file.
		if err != nil {
			return nil, err
		}
		defer func() { _ = f.Close() }()
		in, name = f, path
	}
	data, err := io.ReadAll(io.LimitReader(in, maxTemplates+1))
	if err != nil {
		return nil, errors.Wrapf(err, "cannot read %s", name)
	}
	if len(data) > maxTemplates {
		return nil, errors.Errorf("%s is larger than %d bytes", name, maxTemplates)
	}
	return data, nil
}

// templatesOf parses ModuleTemplates from a stream of YAML documents, and removes the fields that users don't set, such as
// status.
func templatesOf(data []byte) ([]*unstructured.Unstructured, error) {
	objects, err := yamldoc.Objects(data)
	if err != nil {
		return nil, err
	}
	if len(objects) == 0 {
		return nil, errors.New("no ModuleTemplate found")
	}
	var out []*unstructured.Unstructured
	for i, u := range objects {
		if err := checkTemplate(u); err != nil {
			return nil, errors.Wrapf(err, "document %d, %s %s", i+1, u.GetKind(), u.GetName())
		}
		out = append(out, template(u))
	}
	return out, nil
}

// checkTemplate returns an error if an object is not a ModuleTemplate of the current version.
func checkTemplate(u *unstructured.Unstructured) error {
	switch gvk := u.GroupVersionKind(); {
	case gvk == v1alpha1.ModuleTemplateGroupVersionKind:
		return nil
	case gvk.Group == "operator.kyma-project.io" && gvk.Kind == v1alpha1.ModuleTemplateKind:
		return errors.New("this is a ModuleTemplate of lifecycle-manager: convert it with 'kymactl module convert'")
	case gvk.Group == v1alpha1.Group && gvk.Kind == v1alpha1.ModuleTemplateKind:
		return errors.Errorf("unknown version %s: use %s", gvk.Version, v1alpha1.Version)
	}
	return errors.Errorf("unsupported apiVersion %s: must be a ModuleTemplate of %s", u.GetAPIVersion(), v1alpha1.SchemeGroupVersion)
}

// template returns the fields of a ModuleTemplate that deploy applies: the spec, labels and annotations.
func template(u *unstructured.Unstructured) *unstructured.Unstructured {
	fields := map[string]any{}
	if spec, ok := u.Object["spec"]; ok {
		fields["spec"] = spec
	}
	t := apply.Wanted(apply.Object{GroupVersionKind: v1alpha1.ModuleTemplateGroupVersionKind, Name: u.GetName()}, fields)
	if labels := u.GetLabels(); len(labels) > 0 {
		t.SetLabels(labels)
	}
	annotations := maps.Clone(u.GetAnnotations())
	// kubectl stores the whole object in this annotation.
	delete(annotations, "kubectl.kubernetes.io/last-applied-configuration")
	if len(annotations) > 0 {
		t.SetAnnotations(annotations)
	}
	return t
}

// checkStdin returns a usage error if more than one path is -.
func checkStdin(paths []string) error {
	n := 0
	for _, p := range paths {
		if p == "-" {
			n++
		}
	}
	if n > 1 {
		return command.Usagef("--template - can only be used once, because stdin can only be read once")
	}
	return nil
}
