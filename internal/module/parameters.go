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

// Parameters returns the parameters of the Manifest that installs a module from a resolved ModuleTemplate. They contain
// all defaults that the API server would set, so that they can be compared with the parameters of an existing Manifest.
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
		Allowed:              confinement(t),
	}
	if err := checkAllowed(t, m); err != nil {
		return p, err
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
			return p, errors.Wrapf(err, "spec.data of ModuleTemplate %s", t.Name)
		}
	}
	if len(p.Installs) == 0 && p.CRDs == nil && p.Resource == nil {
		return p, errors.Errorf("ModuleTemplate %s contains nothing that can be installed", t.Name)
	}
	return p, nil
}

// add adds the source of one resource of the component.
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

// rollback returns a copy with its defaults. It preserves an After of zero, since the API server has set After in every
// stored Kyma.
func rollback(in *v1alpha1.Rollback) *v1alpha1.Rollback {
	out := in.DeepCopy()
	if out != nil && out.Trigger == "" {
		out.Trigger = v1alpha1.RollbackTriggerFailed
	}
	return out
}

// named returns a custom resource with a name. If raw has none, that is the given one.
func named(raw *runtime.RawExtension, name string) (*runtime.RawExtension, error) {
	var o map[string]any
	// Numbers are preserved: a large one is not exact as a float.
	if err := kjson.UnmarshalCaseSensitivePreserveInts(raw.Raw, &o); err != nil || o == nil {
		return nil, errors.New("must be an object")
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
