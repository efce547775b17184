// SPDX-License-Identifier: Apache-2.0

package api

import (
	"context"
	"os"
	"path/filepath"

	apiv1 "github.com/crossplane/crossplane/apis/v2/apiextensions/v1"
	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/xcrd"

	"github.com/crossplane-contrib/provider-kyma/cluster/tools"
)

const crossplaneModule = "github.com/crossplane/crossplane/v2"

// installCrossplane installs the CRDs of Crossplane's own kinds, and of the kinds that composite resource
// CRDs in this repository define, as Crossplane would.
func installCrossplane(ctx context.Context) error {
	dir, err := tools.ModuleDir(ctx, tools.Crossplane, crossplaneModule)
	if err != nil {
		return errors.Wrap(err, "cannot find the CRDs of Crossplane")
	}
	if err := server.InstallCRDs(ctx, filepath.Join(dir, "cluster", "crds")); err != nil {
		return err
	}
	if dir, err = os.MkdirTemp("", "composites"); err != nil {
		return errors.Wrap(err, "cannot make a directory")
	}
	defer os.RemoveAll(dir)
	files, err := yamlFiles()
	if err != nil {
		return err
	}
	for _, file := range files {
		objects, err := read(filepath.Join(root, file))
		if err != nil {
			return err
		}
		for _, o := range objects {
			if o.GetKind() != apiv1.CompositeResourceDefinitionKind {
				continue
			}
			xrd := &apiv1.CompositeResourceDefinition{}
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, xrd); err != nil {
				return errors.Wrapf(err, "%q", file)
			}
			if err := writeCRDs(dir, xrd); err != nil {
				return errors.Wrapf(err, "%q", file)
			}
		}
	}
	return server.InstallCRDs(ctx, dir)
}

// writeCRDs writes the CRDs of a composite resource and of its claim to files.
func writeCRDs(dir string, xrd *apiv1.CompositeResourceDefinition) error {
	crd, err := xcrd.ForCompositeResource(xrd)
	if err != nil {
		return errors.Wrap(err, "cannot derive the composite resource")
	}
	all := []*extv1.CustomResourceDefinition{crd}
	if xrd.Spec.ClaimNames != nil {
		claim, err := xcrd.ForCompositeResourceClaim(xrd)
		if err != nil {
			return errors.Wrap(err, "cannot derive the claim")
		}
		all = append(all, claim)
	}
	for _, crd := range all {
		crd.APIVersion, crd.Kind = extv1.SchemeGroupVersion.String(), "CustomResourceDefinition"
		// The owner has no UID.
		crd.OwnerReferences = nil
		crd.Status = extv1.CustomResourceDefinitionStatus{}
		data, err := yaml.Marshal(crd)
		if err != nil {
			return errors.Wrap(err, "cannot encode a CRD")
		}
		if err := os.WriteFile(filepath.Join(dir, crd.Name+".yaml"), data, 0o600); err != nil {
			return errors.Wrap(err, "cannot write a CRD")
		}
	}
	return nil
}
