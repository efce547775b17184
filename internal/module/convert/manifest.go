// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"fmt"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/source"
)

const (
	// maxInstalls is the number of installs that a Manifest may have.
	maxInstalls = 32
	// maxInstallName bounds the name of an install, which is also the name of a Helm release, in bytes.
	maxInstallName = 53
	// maxVersion bounds the version of a Manifest, in bytes.
	maxVersion = 255
)

// Manifest converts a Manifest of the original, operator.kyma-project.io/v1alpha1, v1beta1 or v1beta2, from YAML or
// JSON. The result refers to the same ProviderConfig as that of Kyma. A Manifest of v1alpha1 has charts; the only
// install of v1beta2 is plain YAML, as is one of v1beta1 that is named raw-manifest.
//
// Lost has the format that ModuleTemplate returns. It includes an install from a git repository or a directory; if
// nothing else remains to install, that is an error. The error names the field that cannot be converted.
func Manifest(data []byte, o Options) (m *v1alpha1.Manifest, lost []string, err error) {
	in, err := decode(data)
	if err != nil {
		return nil, nil, errors.Wrap(err, "cannot convert Manifest")
	}
	c := &manifestConverter{in: in, out: &v1alpha1.Manifest{}}
	if err := c.convert(o); err != nil {
		return nil, nil, failed(err, v1alpha1.ManifestKind, in)
	}
	return c.out, c.sorted(), nil
}

type manifestConverter struct {
	losses

	in, spec map[string]any
	version  string
	out      *v1alpha1.Manifest
}

func (c *manifestConverter) convert(o Options) (err error) {
	if c.version, err = versionOf(c.in, v1alpha1.ManifestKind); err != nil {
		return err
	}
	c.out.APIVersion, c.out.Kind = v1alpha1.SchemeGroupVersion.String(), v1alpha1.ManifestKind
	if err := c.managed(c.in, &c.out.ObjectMeta, o); err != nil {
		return err
	}
	if c.spec, err = object(c.in, "spec"); err != nil {
		return err
	}
	name := c.out.Labels[prefix+"kyma-name"]
	if name == "" {
		name = c.out.Name
	}
	c.out.Spec.ManagedResourceSpec = reference(o, name)
	for _, step := range []func() error{c.remote, c.installs, c.layers, c.resource, c.scalars} {
		if err := step(); err != nil {
			return errors.Wrap(err, "spec")
		}
	}
	c.rest()
	if p := c.out.Spec.ForProvider; len(p.Installs) == 0 && p.CRDs == nil && p.Resource == nil {
		return errors.Errorf("spec contains nothing that can be installed: %v", c.sorted())
	}
	return nil
}

func (c *manifestConverter) rest() {
	c.unknown("", c.in, knownFields)
	known := []string{"remote", "installs", "install", "config", "crds", "resource", "version", "customResourcePolicy"}
	for field, why := range map[string]string{
		"localizedImages": "images are determined by the charts and manifests",
		"manager":         "readiness depends on all objects; see spec.forProvider.readiness",
	} {
		if !empty(c.spec[field]) {
			c.lose("spec."+field, "%s", why)
		}
		known = append(known, field)
	}
	c.unknown("spec.", c.spec, known)
}

// remote records as lost that the cluster is the control plane.
func (c *manifestConverter) remote() error {
	remote, ok, err := boolean(c.spec, "remote")
	if err == nil && ok && !remote && c.version != "v1beta2" {
		c.lose("spec.remote", "false; the target cluster is that of ProviderConfig %q; to target the control plane, set "+
			"its spec.credentials.source to InjectedIdentity",
			c.out.Spec.ProviderConfigReference.Name)
	}
	return err
}

func (c *manifestConverter) installs() error {
	in, err := list(c.spec, "installs")
	if err != nil {
		return err
	}
	for i, install := range in {
		at := fmt.Sprintf("installs[%d]", i)
		if err := c.install(at, install, source.OCIRef); err != nil {
			return errors.Wrap(err, at)
		}
	}
	one, err := object(c.spec, "install")
	if err == nil && len(one) > 0 {
		err = errors.Wrap(c.install("install", one, c.layerType(one)), "install")
	}
	if n := len(c.out.Spec.ForProvider.Installs); err == nil && n > maxInstalls {
		return errors.Errorf("installs: %d installs exceed the maximum of %d", n, maxInstalls)
	}
	return err
}

// layerType returns the type of source of the only install of later versions.
func (c *manifestConverter) layerType(install map[string]any) layerFunc {
	if c.version == "v1beta2" || install["name"] == "raw-manifest" {
		return source.Raw
	}
	return source.OCIRef
}

func (c *manifestConverter) install(at string, in map[string]any, layer layerFunc) error {
	name, err := text(in, "name")
	if err != nil {
		return err
	}
	if len(name) > maxInstallName || !isInstall.MatchString(name) {
		return errors.Errorf("name: invalid value %q: must consist of at most %d lowercase letters, digits or '-'", name, maxInstallName)
	}
	if slices.ContainsFunc(c.out.Spec.ForProvider.Installs, func(i v1alpha1.Install) bool { return i.Name == name }) {
		return errors.Errorf("duplicate name %q", name)
	}
	s, err := object(in, "source")
	if err != nil {
		return err
	}
	c.unknown("spec."+at+".", in, []string{"name", "source"})
	from, err := c.source("spec."+at+".source", s, layer)
	if err != nil {
		return errors.Wrap(err, "source")
	}
	if from != nil {
		c.out.Spec.ForProvider.Installs = append(c.out.Spec.ForProvider.Installs, v1alpha1.Install{Name: name, Source: *from})
	}
	return nil
}

// layers converts the layers that are not installs: config and crds.
func (c *manifestConverter) layers() error {
	for _, l := range []struct {
		field string
		to    **v1alpha1.LayerSource
	}{{"config", &c.out.Spec.ForProvider.Config}, {"crds", &c.out.Spec.ForProvider.CRDs}} {
		in, err := object(c.spec, l.field)
		if err != nil {
			return err
		}
		// The original's webhook adds empty fields.
		if !slices.ContainsFunc([]string{"type", "repo", "name", "ref"}, func(k string) bool { return !empty(in[k]) }) {
			continue
		}
		s, err := c.layer("spec."+l.field, in, source.OCIRef)
		if err != nil {
			return errors.Wrap(err, l.field)
		}
		*l.to = source.ToLayer(s)
	}
	return nil
}

// resource converts the custom resource of the module.
func (c *manifestConverter) resource() error {
	in, err := object(c.spec, "resource")
	if err != nil || len(in) == 0 {
		return err
	}
	if !empty(in["status"]) {
		c.lose("spec.resource.status", "the provider sets it")
	}
	delete(in, "status")
	withoutNull(in)
	for _, field := range []string{"apiVersion", "kind"} {
		if s, _ := in[field].(string); s == "" {
			return errors.Errorf("resource.%s is missing", field)
		}
	}
	m, err := object(in, "metadata")
	if err != nil {
		return errors.Wrap(err, "resource")
	}
	if s, _ := m["name"].(string); s == "" {
		return errors.New("resource.metadata.name is missing")
	}
	c.out.Spec.ForProvider.Resource, err = raw(in)
	return errors.Wrap(err, "resource")
}

func (c *manifestConverter) scalars() (err error) {
	p := &c.out.Spec.ForProvider
	if p.CustomResourcePolicy, err = policy(c.spec); err != nil {
		return err
	}
	if p.Version, err = text(c.spec, "version"); err == nil && len(p.Version) > maxVersion {
		err = errors.Errorf("version is longer than %d bytes", maxVersion)
	}
	return err
}
