// SPDX-License-Identifier: Apache-2.0

package kyma

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"reflect"
	"strings"

	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/structured-merge-diff/v6/value"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/module"
)

// Maximum lengths of names.
const (
	maxName  = 253
	maxLabel = 63
)

// contentOf returns what a ModuleTemplate makes of a module: its Manifest, with what it installs, in which cluster, and its
// labels.
func (p *planner) contentOf(t *v1alpha1.ModuleTemplate, m *v1alpha1.Module) (*v1alpha1.Manifest, error) {
	parameters, err := module.Parameters(t, m)
	if err != nil {
		return nil, err
	}
	out := &v1alpha1.Manifest{}
	out.Namespace, out.Name = p.kyma.Namespace, manifestName(p.kyma.Name, m.Name)
	out.Labels = map[string]string{
		v1alpha1.LabelKymaName:   shorten(p.kyma.Name, maxLabel),
		v1alpha1.LabelModuleName: m.Name,
		v1alpha1.LabelChannel:    t.Spec.Channel,
		v1alpha1.LabelManagedBy:  v1alpha1.ManagedBy,
	}
	if name, ok := t.Labels[v1alpha1.LabelControllerName]; ok {
		out.Labels[v1alpha1.LabelControllerName] = name
	}
	out.Spec.ForProvider, out.Spec.ProviderConfigReference = parameters, p.configOf(t)
	out.Spec.ManagementPolicies = p.kyma.Spec.ManagementPolicies
	if p.verified[*out.Spec.ProviderConfigReference] {
		err = addDescriptor(&out.Spec.ForProvider, t)
	}
	return out, err
}

// configOf returns the config of the cluster that a module goes to.
func (p *planner) configOf(t *v1alpha1.ModuleTemplate) *xpv2.ProviderConfigReference {
	if t.Spec.Target == v1alpha1.ModuleTargetControlPlane {
		return p.centralConfig()
	}
	return p.kyma.Spec.ProviderConfigReference
}

// centralConfig returns the config of the control plane.
func (p *planner) centralConfig() *xpv2.ProviderConfigReference {
	return &xpv2.ProviderConfigReference{Kind: v1alpha1.ClusterProviderConfigKind, Name: p.controlPlane}
}

// addDescriptor adds the component descriptor that lists the sources, for the verification of signatures.
func addDescriptor(p *v1alpha1.ManifestParameters, t *v1alpha1.ModuleTemplate) error {
	if t.Spec.Component == nil {
		p.Descriptor = t.Spec.Descriptor
		return nil
	}
	if t.Status.Digest == "" {
		return errors.Errorf("ModuleTemplate %s has no digest in its status", t.Name)
	}
	p.Component = &v1alpha1.ComponentDigest{Component: *t.Spec.Component, Digest: t.Status.Digest}
	return nil
}

// manifestName returns the name of the Manifest of a module: <kyma>-<module>.
func manifestName(kyma, module string) string {
	return shorten(kyma+"-"+module, maxName)
}

// shorten a name that is too long. A hash of the whole name keeps it unique.
func shorten(s string, most int) string {
	if len(s) <= most {
		return s
	}
	sum := sha256.Sum256([]byte(s))
	suffix := "-" + hex.EncodeToString(sum[:5])
	return strings.TrimRight(s[:most-len(suffix)], ".-") + suffix
}

// equal reports whether parameters have the same meaning. Embedded objects may have different encodings.
func equal(a, b *v1alpha1.ManifestParameters) bool {
	if reflect.DeepEqual(a, b) {
		return true
	}
	va, erra := decode(a)
	vb, errb := decode(b)
	return erra == nil && errb == nil && value.Equals(value.NewValueInterface(va), value.NewValueInterface(vb))
}

// decode parameters into maps, slices and scalars. It does not round large integers.
func decode(p *v1alpha1.ManifestParameters) (any, error) {
	b, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	var v any
	err = kjson.UnmarshalCaseSensitivePreserveInts(b, &v)
	return v, err
}
