// SPDX-License-Identifier: Apache-2.0

package controlplane

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

// readCRDs reads the CRDs of the provider, sorted by name.
func readCRDs() ([]*unstructured.Unstructured, error) {
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

// A packaged CRD was brought by a package, which keeps it as it is.
type packaged struct {
	name string
	// by is what controls it, provider the name of its Provider, where it is known.
	by, provider string
}

// packagedCRDs returns which of the CRDs a package has brought.
func (a *applier) packagedCRDs(ctx context.Context, all []*unstructured.Unstructured) ([]packaged, error) {
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

// An installation brings our kinds into the control plane, and with a package the provider.
type installation struct {
	*applier

	// skip leaves the kinds as they are.
	skip bool
	// image of the package of the provider that brings them, if it is to be installed.
	image string
}

// define our kinds in the control plane, in the way that was asked for.
func (i *installation) define(ctx context.Context) error {
	if i.skip {
		return nil
	}
	all, err := readCRDs()
	if err != nil {
		return err
	}
	brought, err := i.packagedCRDs(ctx, all)
	if err != nil {
		return err
	}
	switch {
	case i.image != "":
		err = i.install(ctx, brought)
	case len(brought) > 0:
		i.e.Sayf("The definitions belong to a package (%s): they are left as they are.", brought[0].by)
		err = i.activate(ctx)
	default:
		err = i.applyAll(ctx, all)
	}
	if err != nil || i.dryRun {
		return err
	}
	if err := i.awaitServed(ctx, all); err != nil || i.image == "" {
		return err
	}
	return i.awaitHealthy(ctx)
}

// awaitServed waits until the API server serves our kinds.
func (i *installation) awaitServed(ctx context.Context, all []*unstructured.Unstructured) error {
	return await(ctx, i.e, "the kinds of "+v1alpha1.Group+" were served", func(ctx context.Context) (bool, string, error) {
		for _, one := range all {
			done, state, err := i.served(ctx, one)
			if err != nil || !done {
				return false, i.why(ctx, state), err
			}
		}
		return true, "", nil
	})
}

// served reports whether the API server serves the kind of a CRD, or else why not.
func (i *installation) served(ctx context.Context, definition *unstructured.Unstructured) (done bool, state string, err error) {
	name := definition.GetName()
	u, err := i.live(ctx, objectOf(definition))
	if err != nil || u == nil {
		return false, name + " does not exist", err
	}
	if status, message := condition(u, "Established"); status != "True" {
		return false, name + " is not established: " + message, nil
	}
	// Conflicting names of a CRD are said here, and nowhere else.
	if status, message := condition(u, "NamesAccepted"); status == "False" {
		return false, "", errors.Wrapf(kerrors.NewBadRequest(message), "the names of %s are not accepted", name)
	}
	kind, _, _ := unstructured.NestedString(definition.Object, "spec", "names", "kind")
	_, err = i.k.RESTMapper().RESTMapping(schema.GroupKind{Group: v1alpha1.Group, Kind: kind}, v1alpha1.Version)
	if kmeta.IsNoMatchError(err) {
		return false, name + " is not served yet", nil
	}
	return err == nil, "", err
}
