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
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kjson "sigs.k8s.io/json"

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
	if planned(p.kyma) {
		// It must not be applied before it is told.
		meta.AddAnnotations(out, plannedBy(p.kyma))
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
	// A person may have asked for it here.
	parameters.Adopt = parameters.Adopt || live.Spec.ForProvider.Adopt
	labels := labelsOf(live, wanted)
	same := maps.Equal(live.Labels, labels) &&
		slices.Equal(live.Spec.ManagementPolicies, wanted.Spec.ManagementPolicies) &&
		equal(&live.Spec.ForProvider, &parameters)
	carryOut := carriedOut(live, wanted)
	if same && !carryOut {
		return live, false
	}
	out := live.DeepCopy()
	out.Labels = labels
	out.Spec.ManagementPolicies = wanted.Spec.ManagementPolicies
	out.Spec.ForProvider = parameters
	if carryOut {
		meta.RemoveAnnotations(out, v1alpha1.AnnotationPlannedBy, v1alpha1.AnnotationPlan)
	}
	return out, true
}

// labelsOf a Manifest as they should be. Those of others stay.
func labelsOf(live, wanted *v1alpha1.Manifest) map[string]string {
	out := make(map[string]string, len(live.Labels)+len(wanted.Labels))
	maps.Copy(out, live.Labels)
	delete(out, v1alpha1.LabelControllerName) // It is there only where the template has it.
	maps.Copy(out, wanted.Labels)
	return out
}

// An operation of a JSON patch.
type operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value"`
}

// difference between two Manifests as a patch. It is no merge patch, as that would drop each null: in the values of a
// chart it takes out a default.
func difference(live, wanted *v1alpha1.Manifest) (client.Patch, error) {
	var out []operation
	if !maps.Equal(live.Labels, wanted.Labels) {
		out = append(out, operation{"add", "/metadata/labels", wanted.Labels})
	}
	if !slices.Equal(live.Spec.ManagementPolicies, wanted.Spec.ManagementPolicies) {
		out = append(out, operation{"add", "/spec/managementPolicies", wanted.Spec.ManagementPolicies})
	}
	if !equal(&live.Spec.ForProvider, &wanted.Spec.ForProvider) {
		out = append(out, operation{"add", "/spec/forProvider", wanted.Spec.ForProvider})
	}
	for _, name := range []string{v1alpha1.AnnotationPlannedBy, v1alpha1.AnnotationPlan} {
		if _, ok := wanted.Annotations[name]; !ok && live.Annotations[name] != "" {
			out = append(out, operation{Op: "remove", Path: "/metadata/annotations/" + strings.ReplaceAll(name, "/", "~1")})
		}
	}
	b, err := json.Marshal(out)
	return client.RawPatch(types.JSONPatchType, b), errors.Wrap(err, "cannot encode a patch")
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
	err = kjson.UnmarshalCaseSensitivePreserveInts(b, &v)
	return exact(v), err
}

// exact numbers: those that are whole are so however they are written, and large ones are not rounded.
func exact(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k := range v {
			v[k] = exact(v[k])
		}
	case []any:
		for i := range v {
			v[i] = exact(v[i])
		}
	case float64:
		if i := int64(v); float64(i) == v {
			return i
		}
	}
	return v
}
