// SPDX-License-Identifier: Apache-2.0

package apply

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

// ReadCRDs returns the CRDs of the provider that are embedded in kymactl, sorted by name.
func ReadCRDs() ([]*unstructured.Unstructured, error) {
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

// KindOf returns the kind that a CRD of ReadCRDs defines.
func KindOf(crd *unstructured.Unstructured) schema.GroupVersionKind {
	kind, ok, err := unstructured.NestedString(crd.Object, "spec", "names", "kind")
	if err != nil || !ok {
		panic("a CRD that is embedded in kymactl has no kind")
	}
	return v1alpha1.SchemeGroupVersion.WithKind(kind)
}

// A Packaged CRD belongs to a package, so Crossplane would revert changes to it.
type Packaged struct {
	Name string
	// By is the object that controls the CRD. Provider is the name of its Provider; empty if unknown.
	By, Provider string
}

// PackagedCRDs returns the given CRDs that belong to a package in the control plane.
func (p *Plane) PackagedCRDs(ctx context.Context, all []*unstructured.Unstructured) ([]Packaged, error) {
	var out []Packaged
	for _, d := range all {
		u, err := p.Live(ctx, ObjectOf(d))
		if err != nil {
			return nil, err
		}
		if u == nil {
			continue
		}
		if by, provider := Packager(u); by != "" {
			out = append(out, Packaged{Name: u.GetName(), By: by, Provider: provider})
		}
	}
	return out, nil
}

// AwaitServed waits until the API server serves the kinds of the CRDs. why completes the description of what is missing.
func (a *Applier) AwaitServed(ctx context.Context, all []*unstructured.Unstructured, why func(ctx context.Context, state string) string) error {
	return Await(ctx, a.Environment, "the API server to serve the kinds of "+v1alpha1.Group, func(ctx context.Context) (bool, string, error) {
		for _, one := range all {
			done, state, err := a.Plane.served(ctx, one)
			if err != nil || !done {
				return false, why(ctx, state), err
			}
		}
		return true, "", nil
	})
}

// served reports whether the API server serves the kind of a CRD. If not, state explains why.
func (p *Plane) served(ctx context.Context, crd *unstructured.Unstructured) (done bool, state string, err error) {
	name := crd.GetName()
	u, err := p.Live(ctx, ObjectOf(crd))
	if err != nil || u == nil {
		return false, name + " does not exist", err
	}
	if status, message := Condition(u, "Established"); status != "True" {
		return false, name + " is not established: " + message, nil
	}
	// Only this condition reports conflicting names of CRDs.
	if status, message := Condition(u, "NamesAccepted"); status == "False" {
		return false, "", errors.Wrapf(kerrors.NewBadRequest(message), "the names of %s are not accepted", name)
	}
	kind := KindOf(crd)
	_, err = p.Client.RESTMapper().RESTMapping(kind.GroupKind(), kind.Version)
	if kmeta.IsNoMatchError(err) {
		return false, name + " is not served yet", nil
	}
	return err == nil, "", err
}
