// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"encoding/json"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/manifest/confine"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/archive"
	"github.com/crossplane-contrib/provider-kyma/internal/source"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest"
)

// adopts reports whether a Manifest takes ownership of existing objects.
func adopts(mr *v1alpha1.Manifest) bool {
	return mr.Spec.ForProvider.Adoption == v1alpha1.AdoptionPolicyAdopt
}

// A Puller pulls charts and layers from registries and chart repositories.
type Puller interface{ source.Puller }

// labels lists the labels that a Manifest passes on to the objects that it installs.
var labels = []string{ //nolint:gochecknoglobals // Constant.
	v1alpha1.LabelKymaName,
	v1alpha1.LabelModuleName,
	v1alpha1.LabelChannel,
	v1alpha1.LabelControllerName,
}

// asked reports whether an annotation of a Manifest is set to "true".
func asked(mr *v1alpha1.Manifest, annotation string) bool {
	return mr.Annotations[annotation] == "true"
}

// content builds the bundles of Manifests, and gets what they install.
type content struct {
	// puller pulls from the registries that regs returns. It is nil for a removal, which pulls nothing.
	puller Puller
	limits archive.Limits
	regs   source.RegistriesFunc
}

// bundleOf returns the bundle that a Manifest wants in its cluster.
func (s *content) bundleOf(mr *v1alpha1.Manifest) (*manifest.Bundle, error) {
	p := &mr.Spec.ForProvider
	out := outlineOf(mr)
	out.Tenant = mr.Namespace
	out.Drift, out.Recreate = driftPolicy(p.Drift), p.ImmutableFields == v1alpha1.ImmutableFieldsPolicyRecreate
	for i := range p.Installs {
		in, err := s.installOf(&p.Installs[i])
		if err != nil {
			return nil, errors.Wrapf(err, "spec.forProvider.installs[%q]", p.Installs[i].Name)
		}
		out.Installs = append(out.Installs, in)
	}
	if p.CRDs != nil {
		out.CRDs = new(source.CRDs(p.CRDs).Layer(s.puller, s.regs, s.limits))
	}
	if p.Config != nil {
		out.Config = new(source.Config(p.Config).Layer(s.puller, s.regs, s.limits))
	}
	var err error
	if out.Confinement, err = confine.New(p.Allowed); err != nil {
		return nil, err
	}
	if p.Resource != nil && p.CustomResourcePolicy != v1alpha1.CustomResourcePolicyIgnore {
		if out.Resource, err = resourceOf(p.Resource); err != nil {
			return nil, errors.Wrap(err, "spec.forProvider.resource")
		}
	}
	out.Readiness, err = rulesOf(p.Readiness)
	return out, err
}

func (s *content) installOf(in *v1alpha1.Install) (manifest.Install, error) {
	var values map[string]any
	if in.Values != nil {
		if err := json.Unmarshal(in.Values.Raw, &values); err != nil {
			return manifest.Install{}, errors.Wrap(err, "values must be an object")
		}
	}
	src, err := source.New(in.Source)
	if err != nil {
		return manifest.Install{}, err
	}
	out := src.Content().Install(s.puller, s.regs, s.limits)
	// References to Secrets and ConfigMaps are resolved later.
	out.Name, out.Namespace, out.Values, out.Shared = in.Name, in.Namespace, values, true
	return out, nil
}

func resourceOf(raw *runtime.RawExtension) (*unstructured.Unstructured, error) {
	u := &unstructured.Unstructured{}
	if err := u.UnmarshalJSON(raw.Raw); err != nil {
		return nil, errors.Wrap(err, "must be an object")
	}
	if u.GetName() == "" {
		return nil, errors.New("metadata.name is missing")
	}
	return u, nil
}

func rulesOf(in []v1alpha1.ReadinessRule) ([]manifest.Rule, error) {
	out := make([]manifest.Rule, 0, len(in))
	for i := range in {
		r := manifest.Rule{CEL: in[i].CEL}
		if f := in[i].For; f != nil {
			gv, err := schema.ParseGroupVersion(f.APIVersion)
			if err != nil {
				return nil, errors.Wrapf(err, "spec.forProvider.readiness[%d].for.apiVersion", i)
			}
			r.For = gv.WithKind(f.Kind).GroupKind()
		}
		out = append(out, r)
	}
	return out, nil
}
