// SPDX-License-Identifier: Apache-2.0

package kyma

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/module"
)

// Longest names.
const (
	maxName  = 253
	maxLabel = 63
)

// manifestName of a module: <kyma>-<module>.
func manifestName(kyma, module string) string {
	return shorten(kyma+"-"+module, maxName)
}

// shorten a name, keeping it unique by a hash of the whole.
func shorten(s string, most int) string {
	if len(s) <= most {
		return s
	}
	sum := sha256.Sum256([]byte(s))
	suffix := "-" + hex.EncodeToString(sum[:5])
	return strings.TrimRight(s[:most-len(suffix)], ".-") + suffix
}

// manifestOf a module, as it is wanted.
func (p *planner) manifestOf(t *v1alpha1.ModuleTemplate, m *v1alpha1.Module) (*v1alpha1.Manifest, error) {
	parameters, err := module.Parameters(t, m)
	if err != nil {
		return nil, err
	}
	ref := p.configOf(t)
	if p.verified(ref) {
		if err := describe(&parameters, t); err != nil {
			return nil, err
		}
	}
	out := &v1alpha1.Manifest{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: p.kyma.Namespace,
			Name:      manifestName(p.kyma.Name, m.Name),
			Labels: map[string]string{
				v1alpha1.LabelKymaName:   shorten(p.kyma.Name, maxLabel),
				v1alpha1.LabelModuleName: m.Name,
				v1alpha1.LabelChannel:    t.Spec.Channel,
				v1alpha1.LabelManagedBy:  v1alpha1.ManagedBy,
			},
			OwnerReferences: []metav1.OwnerReference{
				meta.AsController(meta.TypedReferenceTo(p.kyma, v1alpha1.KymaGroupVersionKind)),
			},
		},
		Spec: v1alpha1.ManifestSpec{ForProvider: parameters},
	}
	if c, ok := t.Labels[v1alpha1.LabelControllerName]; ok {
		out.Labels[v1alpha1.LabelControllerName] = c
	}
	out.Spec.ProviderConfigReference = ref
	out.Spec.ManagementPolicies = p.kyma.Spec.ManagementPolicies
	return out, nil
}

// configOf the cluster that a module goes to.
func (p *planner) configOf(t *v1alpha1.ModuleTemplate) *xpv2.ProviderConfigReference {
	if t.Spec.Target == v1alpha1.ModuleTargetControlPlane {
		return &xpv2.ProviderConfigReference{Kind: v1alpha1.ClusterProviderConfigKind, Name: p.controlPlane}
	}
	return p.kyma.Spec.ProviderConfigReference
}

// describe where the sources come from, for the verification of signatures.
func describe(p *v1alpha1.ManifestParameters, t *v1alpha1.ModuleTemplate) error {
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

// corrected is a Manifest as it should be; the second result is false where it is so already. What the Kyma does not
// decide stays as it is.
func corrected(live, wanted *v1alpha1.Manifest) (*v1alpha1.Manifest, bool) {
	parameters := wanted.Spec.ForProvider
	parameters.Adopt = live.Spec.ForProvider.Adopt
	unpause := live.Annotations[v1alpha1.AnnotationPausedBy] != ""
	same := !unpause && contains(live.Labels, wanted.Labels) &&
		slices.Equal(live.Spec.ManagementPolicies, wanted.Spec.ManagementPolicies) &&
		equal(&live.Spec.ForProvider, &parameters)
	if same {
		return live, false
	}
	out := live.DeepCopy()
	if out.Labels == nil {
		out.Labels = map[string]string{}
	}
	maps.Copy(out.Labels, wanted.Labels)
	if unpause {
		meta.RemoveAnnotations(out, v1alpha1.AnnotationPausedBy, meta.AnnotationKeyReconciliationPaused)
	}
	out.Spec.ManagementPolicies = wanted.Spec.ManagementPolicies
	out.Spec.ForProvider = parameters
	return out, true
}

func contains(all, some map[string]string) bool {
	for k, v := range some {
		if all[k] != v {
			return false
		}
	}
	return true
}

// equal in meaning: objects that are embedded may be encoded in different ways.
func equal(a, b *v1alpha1.ManifestParameters) bool {
	if reflect.DeepEqual(a, b) {
		return true
	}
	va, erra := decoded(a)
	vb, errb := decoded(b)
	return erra == nil && errb == nil && reflect.DeepEqual(va, vb)
}

func decoded(p *v1alpha1.ManifestParameters) (any, error) {
	b, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	var v any
	err = json.Unmarshal(b, &v)
	return v, err
}
