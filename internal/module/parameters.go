// SPDX-License-Identifier: Apache-2.0

package module

import (
	"cmp"
	"encoding/json"

	"k8s.io/apimachinery/pkg/runtime"
	kjson "sigs.k8s.io/json"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/source"
)

// Parameters of the Manifest that installs a module from a ModuleTemplate that is resolved. They are complete: what the
// API server would set by default is set, so that they can be compared with those of a Manifest that exists.
func Parameters(t *v1alpha1.ModuleTemplate, m *v1alpha1.Module) (v1alpha1.ManifestParameters, error) {
	p := v1alpha1.ManifestParameters{
		Version:              t.Status.Version,
		CustomResourcePolicy: cmp.Or(m.CustomResourcePolicy, v1alpha1.CustomResourcePolicyCreateAndDelete),
		Readiness:            t.Spec.Readiness,
		Drift:                cmp.Or(m.Drift, v1alpha1.DriftPolicyRepair),
		Mode:                 cmp.Or(m.Mode, v1alpha1.ModeApply),
		ImmutableFields:      cmp.Or(m.ImmutableFields, v1alpha1.ImmutableFieldsPolicyRefuse),
		Rollback:             rollback(m.Rollback),
		Adoption:             cmp.Or(m.Adoption, v1alpha1.AdoptionPolicyRefuse),
	}
	for i := range t.Status.Resources {
		add(&p, &t.Status.Resources[i])
	}
	if err := setValues(p.Installs, m); err != nil {
		return p, err
	}
	data := t.Spec.Data
	if data == nil {
		data = t.Status.Data
	}
	if data != nil {
		var err error
		if p.Resource, err = named(data, m.Name); err != nil {
			return p, errors.Wrapf(err, "data of ModuleTemplate %s", t.Name)
		}
	}
	if len(p.Installs) == 0 && p.CRDs == nil && p.Resource == nil {
		return p, errors.Errorf("ModuleTemplate %s holds nothing that can be installed", t.Name)
	}
	return p, nil
}

// add what one resource of the component is to the module.
func add(p *v1alpha1.ManifestParameters, r *v1alpha1.ModuleResource) {
	if r.Source == nil {
		return
	}
	switch r.Use {
	case v1alpha1.UseInstall:
		p.Installs = append(p.Installs, v1alpha1.Install{Name: r.Install, Source: *r.Source, Namespace: defaultNamespace})
	case v1alpha1.UseCRDs:
		p.CRDs = source.ToLayer(r.Source)
	case v1alpha1.UseConfig:
		p.Config = source.ToLayer(r.Source)
	case v1alpha1.UseCustomResource, v1alpha1.UseNone:
	}
}

// Defaults of the API.
const (
	defaultNamespace = "default"
	defaultKey       = "values.yaml"
)

// rollback with its defaults. A time of zero is one, as a Kyma that the API server has seen has none without a time.
func rollback(in *v1alpha1.Rollback) *v1alpha1.Rollback {
	out := in.DeepCopy()
	if out != nil && out.Trigger == "" {
		out.Trigger = v1alpha1.RollbackTriggerFailed
	}
	return out
}

// named is a custom resource with a name, which is that of the module where it has none.
func named(raw *runtime.RawExtension, name string) (*runtime.RawExtension, error) {
	var o map[string]any
	// Numbers stay as they are: a large one is not exact as a float.
	if err := kjson.UnmarshalCaseSensitivePreserveInts(raw.Raw, &o); err != nil || o == nil {
		return nil, errors.New("is not an object")
	}
	meta, _ := o["metadata"].(map[string]any)
	if n, _ := meta["name"].(string); n != "" {
		return raw, nil
	}
	if meta == nil {
		meta = map[string]any{}
	}
	meta["name"] = name
	o["metadata"] = meta
	b, err := json.Marshal(o)
	return &runtime.RawExtension{Raw: b}, errors.Wrap(err, "cannot be encoded")
}
