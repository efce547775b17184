// SPDX-License-Identifier: Apache-2.0

package kinds

import (
	"reflect"

	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Validate returns what is wrong with a new object, or a change of one. It checks metadata and immutable fields. Most other rules of the
// API are missing: an object that a real API server refuses for its content is accepted.
func (k *Kind) Validate(old, object map[string]any) field.ErrorList {
	next := &unstructured.Unstructured{Object: object}
	path := field.NewPath("metadata")
	if old == nil {
		return validation.ValidateObjectMetaAccessor(next, k.Namespaced, k.validName(), path)
	}
	errs := validation.ValidateObjectMetaAccessorUpdate(next, &unstructured.Unstructured{Object: old}, path)
	// A real API server checks metadata twice, and reports each error twice.
	errs = append(errs, errs...)
	return append(errs, k.validateImmutable(change{old: old, next: object})...)
}

func (k *Kind) validName() validation.ValidateNameFunc {
	switch {
	case k.Group == "rbac.authorization.k8s.io":
		return func(string, bool) []string { return nil }
	case k.Group == "" && k.Kind == "Namespace":
		return validation.NameIsDNSLabel
	case k.Group == "" && k.Kind == "Service":
		return validation.NameIsDNS1035Label
	}
	return validation.NameIsDNSSubdomain
}

// A change is an object before and after a change.
type change struct{ old, next map[string]any }

func (c change) differs(path ...string) bool {
	was, _, _ := unstructured.NestedFieldNoCopy(c.old, path...)
	is, _, _ := unstructured.NestedFieldNoCopy(c.next, path...)
	return !reflect.DeepEqual(was, is)
}

// immutable returns the error for a field of a group that changed.
func (c change) immutable(value any, path ...string) field.ErrorList {
	if !c.differs(path...) {
		return nil
	}
	return field.ErrorList{field.Invalid(field.NewPath(path[0], path[1:]...), value, validation.FieldImmutableErrorMsg)}
}

func (k *Kind) validateImmutable(c change) field.ErrorList {
	switch k.Kind {
	case "ConfigMap", "Secret":
		return k.validateData(c)
	case "Deployment", "DaemonSet", "ReplicaSet":
		return c.immutable(selectorOf(c.next), "spec", "selector")
	case "RoleBinding", "ClusterRoleBinding":
		if c.differs("roleRef") {
			return field.ErrorList{field.Invalid(field.NewPath("roleRef"), c.next["roleRef"], "cannot change roleRef")}
		}
	case "StatefulSet":
		for _, f := range []string{"serviceName", "selector", "podManagementPolicy"} {
			if c.differs("spec", f) {
				return field.ErrorList{field.Forbidden(field.NewPath("spec"), "updates to statefulset spec for fields other than 'replicas', "+
					"'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and "+
					"'minReadySeconds' are forbidden")}
			}
		}
	}
	return nil
}

func (k *Kind) validateData(c change) field.ErrorList {
	var errs field.ErrorList
	if c.old["immutable"] == true {
		if c.next["immutable"] != true {
			errs = append(errs, field.Forbidden(field.NewPath("immutable"), "field is immutable when `immutable` is set"))
		}
		for _, f := range []string{"data", "binaryData"} {
			if c.differs(f) {
				errs = append(errs, field.Forbidden(field.NewPath(f), "field is immutable when `immutable` is set"))
			}
		}
	}
	if k.Kind == "Secret" {
		errs = append(c.immutable(c.next["type"], "type"), errs...)
	}
	return errs
}

// selectorOf returns the selector of an object as its Go type, whose text is in the error of a real API server.
func selectorOf(object map[string]any) *metav1.LabelSelector {
	raw, _, _ := unstructured.NestedMap(object, "spec", "selector")
	s := &metav1.LabelSelector{}
	_ = runtime.DefaultUnstructuredConverter.FromUnstructured(raw, s) // The object was decoded before.
	return s
}
