// SPDX-License-Identifier: Apache-2.0

package module

import (
	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/ocm"
	"github.com/crossplane-contrib/provider-kyma/internal/source"
)

// Names of resources that have a meaning in a module.
const (
	resourceConfig      = "config"
	resourceCRDs        = "crds"
	resourceRawManifest = "raw-manifest"
	resourceDefaultCR   = "default-cr"
	resourceAssociated  = "associated-resources"
	resourceTemplate    = "moduletemplate"
)

// A mapper determines the use of each resource of a module.
type mapper struct {
	location  *ocm.Location
	resources []v1alpha1.ModuleResource
	// data is the source of the default custom resource; nil if there is none.
	data *v1alpha1.Source
	// uncovered is the reason why no signature covers the default custom resource, although one of the module could be
	// valid.
	uncovered string
}

// maxResources is the maximum number of resources in the status of a ModuleTemplate.
const maxResources = 256

// component adds the resources of one component.
func (m *mapper) component(p part) error {
	for _, r := range p.Resources() {
		out, err := m.resource(p, &r)
		if err == nil {
			err = m.once(&out)
		}
		if err != nil {
			return classify(err, "component "+p.Name()+": resource "+r.Name)
		}
		if out.Use == v1alpha1.UseCustomResource {
			m.data, m.uncovered = out.Source, uncovered(p, &r)
		}
		if len(m.resources) == maxResources {
			return invalidf("component %s and the components that it references have more than %d resources", p.Name(), maxResources)
		}
		m.resources = append(m.resources, out)
	}
	return nil
}

// resource returns the use, the source and the install name of one resource.
func (m *mapper) resource(p part, r *ocm.Resource) (v1alpha1.ModuleResource, error) {
	out := v1alpha1.ModuleResource{Name: r.Name, Type: r.Type, Version: r.Version}
	if p.reference != "" {
		out.Component = p.Name()
	}
	use, kind, err := useOf(r)
	if err != nil {
		return out, err
	}
	out.Use = use
	if use == v1alpha1.UseNone {
		return out, nil
	}
	s := &sourcer{component: p.Name(), location: m.location}
	if kind == chart {
		out.Source, err = s.chart(r)
	} else {
		out.Source, err = s.layer(r)
	}
	if err == nil {
		err = validateSource(out.Source)
	}
	if err != nil || use != v1alpha1.UseInstall {
		return out, err
	}
	if kind == plain {
		out.Source = source.Raw(out.Source.Repo, out.Source.Name, out.Source.Ref)
	}
	out.Install = installName(p.reference, r.Name)
	if !isInstallName.MatchString(out.Install) {
		return out, errors.Errorf("invalid install name %q: must consist of lowercase letters, digits or '-'", out.Install)
	}
	return out, nil
}

// validateSource returns an error if the API server would refuse the source, and with it the whole status.
func validateSource(s *v1alpha1.Source) error {
	src, err := source.New(*s)
	if err != nil {
		return err
	}
	return src.Validate()
}

// uncovered returns the reason why a signature of the module could be valid with any content of a resource; "" if it
// could not. If a resource has no digest at all, no signature is valid.
func uncovered(p part, r *ocm.Resource) string {
	switch {
	case p.excluded:
		return "the reference to component " + p.Name() + " is excluded from signatures"
	case r.Digest != nil && digestOf(r, "") == "":
		return "its digest is excluded from signatures, or is not a SHA-256 digest"
	}
	return ""
}

// once returns an error if the module already has a resource of which there can be only one.
func (m *mapper) once(r *v1alpha1.ModuleResource) error {
	for i := range m.resources {
		have := &m.resources[i]
		switch {
		case have.Use != r.Use, r.Use == v1alpha1.UseNone:
		case r.Use != v1alpha1.UseInstall:
			return errors.Errorf("a module can have only one resource with use %s, but there is another one%s", r.Use, of(have))
		case have.Install == r.Install:
			return errors.Errorf("install name %q is also used by resource %s%s: rename one of them", r.Install, have.Name, of(have))
		}
	}
	return nil
}

// of returns a suffix that names the component of a resource if that is a referenced one.
func of(r *v1alpha1.ModuleResource) string {
	if r.Component == "" {
		return ""
	}
	return " in component " + r.Component
}

// A kind is the form in which a resource stores its content.
type kind int

const (
	layered kind = iota
	plain
	chart
)

// useOf returns the use of a resource, and the kind of its content.
func useOf(r *ocm.Resource) (v1alpha1.ModuleResourceUse, kind, error) {
	if isImage(r.Type) {
		return v1alpha1.UseNone, layered, nil
	}
	switch r.Name {
	case resourceConfig:
		return v1alpha1.UseConfig, layered, nil
	case resourceCRDs:
		return v1alpha1.UseCRDs, layered, nil
	case resourceRawManifest:
		return v1alpha1.UseInstall, plain, nil
	case resourceDefaultCR:
		return v1alpha1.UseCustomResource, layered, nil
	case resourceAssociated, resourceTemplate:
		return v1alpha1.UseNone, layered, nil
	}
	switch r.Type {
	case "helm-chart", "helmChart":
		return v1alpha1.UseInstall, chart, nil
	case resourceRawManifest:
		// Unlike the name, the type can be used for several resources.
		return v1alpha1.UseInstall, plain, nil
	case "plainText":
		return v1alpha1.UseNone, layered, nil
	}
	return "", layered, errors.Errorf("unsupported type %q: must be helm-chart or raw-manifest, or the resource must be named %s, %s, %s or %s",
		r.Type, resourceConfig, resourceCRDs, resourceRawManifest, resourceDefaultCR)
}

// isImage reports whether resources of a type only list images or artifacts, for example for scanners.
func isImage(t string) bool {
	return t == "ociImage" || t == "ociArtifact"
}
