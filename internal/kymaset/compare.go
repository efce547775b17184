// SPDX-License-Identifier: Apache-2.0

package kymaset

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// object is an object of a kind of Kubernetes.
type object interface {
	metav1.Object
	runtime.Object
}

// An Object is the desired state of an object in the form in which it is applied.
type Object struct{ *unstructured.Unstructured }

// Encode returns the apply configuration of a desired object, with a digest of it in an annotation.
func Encode(o object, kind schema.GroupVersionKind) (Object, error) {
	u, err := encode(o)
	if err != nil {
		return Object{}, err
	}
	out := &unstructured.Unstructured{Object: u}
	out.SetGroupVersionKind(kind)
	b, err := json.Marshal(u)
	if err != nil {
		return Object{}, errors.Wrap(err, "cannot encode a desired object")
	}
	sum := sha256.Sum256(b)
	annotations := out.GetAnnotations()
	annotations[v1alpha1.AnnotationKymaSetDigest] = hex.EncodeToString(sum[:12])
	out.SetAnnotations(annotations)
	return Object{Unstructured: out}, nil
}

// encode returns the fields of an object that a KymaSet may apply.
func encode(o object) (map[string]any, error) {
	u, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
	if err != nil {
		return nil, errors.Wrap(err, "cannot encode an object")
	}
	delete(u, "status")
	unstructured.RemoveNestedField(u, "metadata", "creationTimestamp")
	return u, nil
}

// IsApplied reports whether a live object has what a desired one has. The digest finds fields that left the template, and the
// comparison finds fields that another client has changed. A live object can have more: defaults, and what its owner added.
func IsApplied(live object, desired Object) (bool, error) {
	digest := v1alpha1.AnnotationKymaSetDigest
	if live.GetAnnotations()[digest] != desired.GetAnnotations()[digest] {
		return false, nil
	}
	have, err := encode(live)
	if err != nil {
		return false, err
	}
	want := desired.DeepCopy().Object
	delete(want, "apiVersion")
	delete(want, "kind")
	byName(have)
	byName(want)
	return contains(have, want), nil
}

// byName replaces the lists of an object that server-side apply merges by the names of their items with maps.
func byName(o map[string]any) {
	modules, _, _ := unstructured.NestedFieldNoCopy(o, "spec", "forProvider", "modules")
	all, ok := itemsByName(modules)
	if !ok {
		return
	}
	for _, m := range all {
		module, _ := m.(map[string]any)
		if installs, ok := itemsByName(module["installs"]); ok {
			module["installs"] = installs
		}
	}
	if p, ok, _ := unstructured.NestedFieldNoCopy(o, "spec", "forProvider"); ok {
		if parameters, ok := p.(map[string]any); ok {
			parameters["modules"] = all
		}
	}
}

// itemsByName returns the items of a list by their names.
func itemsByName(list any) (map[string]any, bool) {
	items, ok := list.([]any)
	if !ok {
		return nil, false
	}
	out := make(map[string]any, len(items))
	for _, i := range items {
		if m, ok := i.(map[string]any); ok {
			name, _ := m["name"].(string)
			out[name] = m
		}
	}
	return out, true
}

// contains reports whether a live JSON value has all of a desired one. Nothing, null and an empty map or list are the same.
func contains(live, want any) bool {
	switch w := want.(type) {
	case nil:
		return true
	case map[string]any:
		l, ok := live.(map[string]any)
		if !ok {
			return live == nil && len(w) == 0
		}
		return containsFields(l, w)
	case []any:
		l, ok := live.([]any)
		if !ok {
			return live == nil && len(w) == 0
		}
		return slices.EqualFunc(l, w, contains)
	}
	a, isNumber := number(live)
	b, wantsNumber := number(want)
	return live == want || isNumber && wantsNumber && a == b
}

// containsFields reports whether an object has each wanted field.
func containsFields(live, want map[string]any) bool {
	for k, v := range want {
		if !contains(live[k], v) {
			return false
		}
	}
	return true
}

// number returns a JSON number. The API server may store an integer that was written as a decimal.
func number(v any) (float64, bool) {
	switch n := v.(type) {
	case int64:
		return float64(n), true
	case float64:
		return n, true
	}
	return 0, false
}

// SetOf returns the name of the KymaSet that manages an object, or an empty string. A Kyma belongs to a KymaSet only if it has the name
// of its own cluster, so that a copy of it with another name does not.
func SetOf(o metav1.Object) string {
	if k, ok := o.(*v1alpha1.Kyma); ok {
		ref := k.Spec.ProviderConfigReference
		if ref == nil || ref.Name != k.Name || ref.Kind != v1alpha1.ProviderConfigKind {
			return ""
		}
	}
	return o.GetLabels()[v1alpha1.LabelKymaSet]
}

// IsOf reports whether this KymaSet, and not an earlier one with its name, applied an object.
func IsOf(o metav1.Object, set *v1alpha1.KymaSet) bool {
	return SetOf(o) == set.Name && o.GetAnnotations()[v1alpha1.AnnotationKymaSetUID] == string(set.UID)
}
