// SPDX-License-Identifier: Apache-2.0

package install

import (
	"bytes"
	"context"
	"regexp"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"golang.org/x/mod/module"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/crossplane-contrib/provider-kyma/charts"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/apply"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
	"github.com/crossplane-contrib/provider-kyma/internal/render"
	"github.com/crossplane-contrib/provider-kyma/internal/render/input"
)

const (
	// release is the name of the release. The objects of the chart are named after it.
	release = "provider-kyma"
	// helm is the value of the label of the manager in the chart.
	helm = "Helm"
)

// An installation contains the objects to install.
type installation struct {
	crds      []*unstructured.Unstructured
	namespace *unstructured.Unstructured
	// objects are in the order in which Helm installs them.
	objects []*unstructured.Unstructured
}

// renderChart renders the embedded chart for a version of the provider.
func renderChart(ctx context.Context, version, namespace string, values map[string]any) (*installation, error) {
	files, err := charts.Files(version)
	if err != nil {
		return nil, err
	}
	in := make([]input.File, 0, len(files))
	for name, data := range files {
		in = append(in, input.File{Name: name, Data: data})
	}
	c, err := render.Load(in)
	if err != nil {
		return nil, errors.Wrap(err, "cannot load the chart")
	}
	r, err := c.Render(ctx, render.Options{ReleaseName: release, Namespace: namespace, KubeVersion: c.KubeVersion(), Values: values, SkipCRDs: true})
	if err != nil {
		return nil, command.WithCode(command.ExitUsage, err)
	}
	out := &installation{namespace: apply.Wanted(apply.Object{GroupVersionKind: apply.CoreKind("Namespace"), Name: namespace}, nil)}
	for _, u := range r.Objects {
		claim(u.Object)
		out.objects = append(out.objects, u)
	}
	out.crds, err = apply.ReadCRDs()
	return out, err
}

// claim replaces Helm as the manager in all labels of an object.
func claim(fields map[string]any) {
	for k, v := range fields {
		switch v := v.(type) {
		case map[string]any:
			claim(v)
		case string:
			if k == apply.LabelManagedBy && v == helm {
				fields[k] = command.FieldManager
			}
		}
	}
}

// write writes the objects as YAML documents, in the order in which they must be applied.
func (i *installation) write(e *command.Environment, skipCRDs bool) error {
	all := append([]*unstructured.Unstructured{i.namespace}, i.objects...)
	if !skipCRDs {
		all = append(append([]*unstructured.Unstructured{}, i.crds...), all...)
	}
	var b bytes.Buffer
	for _, u := range all {
		data, err := yaml.Marshal(u.Object)
		if err != nil {
			return errors.Wrapf(err, "cannot encode %s", apply.ObjectOf(u).Words())
		}
		b.WriteString("---\n")
		b.Write(data)
	}
	_, err := e.Out.Write(b.Bytes())
	return err
}

// find returns the first object of a kind, or nil.
func (i *installation) find(kind string) *unstructured.Unstructured {
	for _, u := range i.objects {
		if u.GetKind() == kind {
			return u
		}
	}
	return nil
}

// contains reports whether an object is part of the installation.
func (i *installation) contains(o apply.Object) bool {
	for _, u := range i.objects {
		if own := apply.ObjectOf(u); own.GroupKind() == o.GroupKind() && own.Namespace == o.Namespace && own.Name == o.Name {
			return true
		}
	}
	return false
}

// described matches the versions of builds between two releases, as git describe and the go command write them.
var described = regexp.MustCompile(`^v0\.0\.0-|-[0-9]+-g[0-9a-f]+|[-+]dirty$`)

// released reports whether there is an image for a version of kymactl.
func released(version string) bool {
	return !module.IsPseudoVersion(version) && !described.MatchString(version)
}
