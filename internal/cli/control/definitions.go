// SPDX-License-Identifier: Apache-2.0

package control

import (
	"context"
	"io/fs"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	kmeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/package/crds"
)

// definitions are the CustomResourceDefinitions of the provider, sorted by name.
func definitions() ([]*unstructured.Unstructured, error) {
	files, err := fs.Glob(crds.Files, "*.yaml")
	if err != nil {
		return nil, errors.Wrap(err, "cannot list the definitions")
	}
	slices.Sort(files)
	var out []*unstructured.Unstructured
	for _, f := range files {
		data, err := crds.Files.ReadFile(f)
		if err != nil {
			return nil, errors.Wrap(err, "cannot read a definition")
		}
		u := &unstructured.Unstructured{}
		if err := yaml.Unmarshal(data, &u.Object); err != nil {
			return nil, errors.Wrapf(err, "cannot read definition %s", f)
		}
		unstructured.RemoveNestedField(u.Object, "metadata", "creationTimestamp")
		unstructured.RemoveNestedField(u.Object, "status")
		out = append(out, u)
	}
	return out, nil
}

// A packaged definition was brought by a package, which keeps it as it is.
type packaged struct {
	name string
	// by is what controls it, provider the name of its Provider, where it is known.
	by, provider string
}

// packagedDefinitions are those that packages brought.
func (a *applier) packagedDefinitions(ctx context.Context, all []*unstructured.Unstructured) ([]packaged, error) {
	var out []packaged
	for _, d := range all {
		u, err := a.live(ctx, objectOf(d))
		if err != nil {
			return nil, err
		}
		if u == nil {
			continue
		}
		if by, provider := packager(u); by != "" {
			out = append(out, packaged{name: u.GetName(), by: by, provider: provider})
		}
	}
	return out, nil
}

// define our kinds in the control plane, in the way that was asked for.
func (d *deployment) define(ctx context.Context) error {
	if d.o.skipCRDs {
		return nil
	}
	all, err := definitions()
	if err != nil {
		return err
	}
	brought, err := d.packagedDefinitions(ctx, all)
	if err != nil {
		return err
	}
	switch {
	case d.o.image != "":
		err = d.install(ctx, brought)
	case len(brought) > 0:
		d.e.Sayf("The definitions belong to a package (%s): they are left as they are.", brought[0].by)
		err = d.activate(ctx)
	default:
		err = d.applyAll(ctx, all)
	}
	if err != nil || d.dryRun {
		return err
	}
	if err := d.awaitServed(ctx, all); err != nil || d.o.image == "" {
		return err
	}
	return d.awaitHealthy(ctx)
}

// awaitServed waits until the API server serves our kinds.
func (d *deployment) awaitServed(ctx context.Context, all []*unstructured.Unstructured) error {
	return await(ctx, d.e, "the kinds of "+v1alpha1.Group+" were served", func(ctx context.Context) (bool, string, error) {
		for _, one := range all {
			done, state, err := d.served(ctx, one)
			if err != nil || !done {
				return false, d.why(ctx, state), err
			}
		}
		return true, "", nil
	})
}

func (d *deployment) served(ctx context.Context, definition *unstructured.Unstructured) (done bool, state string, err error) {
	name := definition.GetName()
	u, err := d.live(ctx, objectOf(definition))
	if err != nil || u == nil {
		return false, name + " does not exist", err
	}
	if status, message := condition(u, "Established"); status != "True" {
		return false, name + " is not established: " + message, nil
	}
	// Conflicting names of a definition are said here, and nowhere else.
	if status, message := condition(u, "NamesAccepted"); status == "False" {
		return false, "", errors.Wrapf(kerrors.NewBadRequest(message), "the names of %s are not accepted", name)
	}
	kind, _, _ := unstructured.NestedString(definition.Object, "spec", "names", "kind")
	_, err = d.k.RESTMapper().RESTMapping(schema.GroupKind{Group: v1alpha1.Group, Kind: kind}, v1alpha1.Version)
	if kmeta.IsNoMatchError(err) {
		return false, name + " is not served yet", nil
	}
	return err == nil, "", err
}
