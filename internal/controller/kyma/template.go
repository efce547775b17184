// SPDX-License-Identifier: Apache-2.0

package kyma

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/structured-merge-diff/v6/value"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/module"
)

// isResolved reports whether a template can be installed. If it cannot, the message contains the reason, or is empty if the
// controller of the template has not resolved it yet.
func isResolved(t *v1alpha1.ModuleTemplate) (ok bool, message string) {
	c := t.Status.GetCondition(v1alpha1.TypeResolved)
	current := t.Status.ResolvedGeneration == t.Generation
	if c.Status == corev1.ConditionFalse && (!current || c.Reason != v1alpha1.ReasonResolveFailed) {
		return false, fmt.Sprintf("ModuleTemplate %s: %s", t.Name, c.Message)
	}
	return current, ""
}

// allowsDowngrade reports whether a module may get a lower version: the Kyma names the module and the version, or the
// template names the version and stays in its channel.
func allowsDowngrade(k *v1alpha1.Kyma, t *v1alpha1.ModuleTemplate, live *v1alpha1.Manifest, name string) bool {
	want := name + "@" + t.Status.Version
	named := slices.ContainsFunc(strings.Split(k.Annotations[v1alpha1.AnnotationAllowDowngrade], ","), func(s string) bool {
		return strings.TrimSpace(s) == want
	})
	return named || t.Spec.Channel != "" && live.Labels[v1alpha1.LabelChannel] == t.Spec.Channel &&
		strings.TrimSpace(t.Annotations[v1alpha1.AnnotationAllowDowngrade]) == t.Status.Version
}

// isDowngrade reports whether a template has a lower version than the installed version of a Manifest. A version that cannot
// be compared is not lower.
func isDowngrade(t *v1alpha1.ModuleTemplate, live *v1alpha1.Manifest) bool {
	c, err := module.CompareVersions(t.Status.Version, installedVersion(live))
	return err == nil && c < 0
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

// decode decodes parameters into maps, slices and scalars. It does not round large integers.
func decode(p *v1alpha1.ManifestParameters) (any, error) {
	b, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	var v any
	err = kjson.UnmarshalCaseSensitivePreserveInts(b, &v)
	return v, err
}
