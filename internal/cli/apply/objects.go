// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"encoding/json"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
)

const (
	// LabelManagedBy is the label, with the value kymactl, of all objects that kymactl created. Objects that existed before do not
	// get it.
	LabelManagedBy = "app.kubernetes.io/managed-by"

	// GroupPackages is the API group of the packages of Crossplane.
	GroupPackages = "pkg.crossplane.io"
	// GroupExtensions is the API group of XRDs and ManagedResourceDefinitions.
	GroupExtensions = "apiextensions.crossplane.io"
)

// CoreKind returns a kind of the core API group.
func CoreKind(kind string) schema.GroupVersionKind { return corev1.SchemeGroupVersion.WithKind(kind) }

// ObjectOf returns the kind, namespace and name of an object.
func ObjectOf(u *unstructured.Unstructured) Object {
	return Object{GroupVersionKind: u.GroupVersionKind(), Namespace: u.GetNamespace(), Name: u.GetName()}
}

// Wanted returns an object with the given fields and the kind, namespace and name of o. It modifies fields.
func Wanted(o Object, fields map[string]any) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: fields}
	if u.Object == nil {
		u.Object = map[string]any{}
	}
	u.SetGroupVersionKind(o.GroupVersionKind)
	u.SetName(o.Name)
	if o.Namespace != "" {
		u.SetNamespace(o.Namespace)
	}
	return u
}

// Ours reports whether kymactl created an object.
func Ours(u *unstructured.Unstructured) bool {
	return u.GetLabels()[LabelManagedBy] == command.FieldManager
}

// Owned reports whether kymactl owns a field of an object, or a field below it, through server-side apply.
func Owned(u *unstructured.Unstructured, path ...string) bool {
	for _, m := range u.GetManagedFields() {
		if m.Manager != command.FieldManager || m.Operation != metav1.ManagedFieldsOperationApply || m.Subresource != "" || m.FieldsV1 == nil {
			continue
		}
		fields := map[string]any{}
		if json.Unmarshal(m.FieldsV1.GetRawBytes(), &fields) != nil {
			continue
		}
		keys := make([]string, 0, len(path))
		for _, p := range path {
			keys = append(keys, "f:"+p)
		}
		if _, found, err := unstructured.NestedFieldNoCopy(fields, keys...); found && err == nil {
			return true
		}
	}
	return false
}

// Packager returns the object through which u belongs to a package: a package revision or a ManagedResourceDefinition. by is
// empty if u does not belong to a package. provider is the name of the Provider; empty if unknown.
func Packager(u *unstructured.Unstructured) (by, provider string) {
	for _, ref := range u.GetOwnerReferences() {
		gv, err := schema.ParseGroupVersion(ref.APIVersion)
		if err != nil || gv.Group != GroupPackages && gv.Group != GroupExtensions {
			continue
		}
		if ref.Kind == "Provider" {
			provider = ref.Name
		}
		if by == "" || ref.Controller != nil && *ref.Controller {
			by = ref.Kind + " " + ref.Name
		}
	}
	return by, provider
}

// Condition returns the status and the message of a condition. Both are empty if the object lacks the condition, or if it describes
// an earlier generation of the object.
func Condition(u *unstructured.Unstructured, name string) (status, message string) {
	// A status of another form has no conditions that can be read.
	list, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
	for _, item := range list {
		c, ok := item.(map[string]any)
		if !ok || c["type"] != name {
			continue
		}
		status, _ = c["status"].(string)
		message, _ = c["message"].(string)
		seen, known := c["observedGeneration"].(int64)
		if known && seen > 0 && seen < u.GetGeneration() {
			return "", ""
		}
		return status, message
	}
	return "", ""
}

// ListOf returns an empty list for objects of a kind.
func ListOf(kind schema.GroupVersionKind) *unstructured.UnstructuredList {
	l := &unstructured.UnstructuredList{}
	l.SetGroupVersionKind(kind)
	return l
}
