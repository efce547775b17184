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

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/yamlsize"
	"github.com/crossplane-contrib/provider-kyma/package/crds"
)

// readCRDs returns the CRDs of the provider that are embedded in kymactl, sorted by name.
func readCRDs() ([]*unstructured.Unstructured, error) {
	files, err := fs.Glob(crds.Files, "*.yaml")
	if err != nil {
		return nil, errors.Wrap(err, "cannot list the CRDs")
	}
	slices.Sort(files)
	var out []*unstructured.Unstructured
	for _, f := range files {
		data, err := crds.Files.ReadFile(f)
		if err != nil {
			return nil, errors.Wrap(err, "cannot read a CRD")
		}
		u := &unstructured.Unstructured{}
		if err := (yamlsize.Limits{}).Unmarshal(data, &u.Object); err != nil {
			return nil, errors.Wrapf(err, "cannot read CRD %s", f)
		}
		unstructured.RemoveNestedField(u.Object, "metadata", "creationTimestamp")
		unstructured.RemoveNestedField(u.Object, "status")
		out = append(out, u)
	}
	return out, nil
}

// A packaged CRD belongs to a package, so Crossplane would revert changes to it.
type packaged struct {
	name string
	// by is the object that controls the CRD. provider is the name of its Provider; empty if unknown.
	by, provider string
}

// packagedCRDs returns the given CRDs that belong to a package in the control plane.
func (p *controlPlane) packagedCRDs(ctx context.Context, all []*unstructured.Unstructured) ([]packaged, error) {
	var out []packaged
	for _, d := range all {
		u, err := p.live(ctx, objectOf(d))
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

// An installation installs the CRDs in the control plane, or a package with the CRDs and the provider.
type installation struct {
	plane   *controlPlane
	applier *applier
	// skip leaves the CRDs unchanged.
	skip bool
	// image is the package of the provider, which includes the CRDs; empty to install only the CRDs.
	image string
}

// define installs the CRDs or the package, and waits until the kinds are served and the package is Healthy. It does not change
// CRDs that belong to a package.
func (i *installation) define(ctx context.Context) error {
	if i.skip {
		return nil
	}
	all, err := readCRDs()
	if err != nil {
		return err
	}
	brought, err := i.plane.packagedCRDs(ctx, all)
	if err != nil {
		return err
	}
	switch {
	case i.image != "":
		err = i.install(ctx, brought)
	case len(brought) > 0:
		i.applier.e.Sayf("The CRDs belong to a package (%s) and are not changed.", brought[0].by)
		err = i.activate(ctx)
	default:
		err = i.applier.applyAll(ctx, all)
	}
	if err != nil || i.applier.dryRun {
		return err
	}
	if err := i.awaitServed(ctx, all); err != nil || i.image == "" {
		return err
	}
	return i.awaitHealthy(ctx)
}

// awaitServed waits until the API server serves the kinds of the CRDs.
func (i *installation) awaitServed(ctx context.Context, all []*unstructured.Unstructured) error {
	return await(ctx, i.applier.e, "the API server to serve the kinds of "+v1alpha1.Group, func(ctx context.Context) (bool, string, error) {
		for _, one := range all {
			done, state, err := i.served(ctx, one)
			if err != nil || !done {
				return false, i.why(ctx, state), err
			}
		}
		return true, "", nil
	})
}

// served reports whether the API server serves the kind of a CRD. If not, state explains why.
func (i *installation) served(ctx context.Context, crd *unstructured.Unstructured) (done bool, state string, err error) {
	name := crd.GetName()
	u, err := i.plane.live(ctx, objectOf(crd))
	if err != nil || u == nil {
		return false, name + " does not exist", err
	}
	if status, message := condition(u, "Established"); status != "True" {
		return false, name + " is not established: " + message, nil
	}
	// Only this condition reports conflicting names of CRDs.
	if status, message := condition(u, "NamesAccepted"); status == "False" {
		return false, "", errors.Wrapf(kerrors.NewBadRequest(message), "the names of %s are not accepted", name)
	}
	// The CRD is embedded in kymactl. If it had no kind, the mapping below would not be found.
	kind, _, _ := unstructured.NestedString(crd.Object, "spec", "names", "kind")
	_, err = i.plane.client.RESTMapper().RESTMapping(schema.GroupKind{Group: v1alpha1.Group, Kind: kind}, v1alpha1.Version)
	if kmeta.IsNoMatchError(err) {
		return false, name + " is not served yet", nil
	}
	return err == nil, "", err
}
