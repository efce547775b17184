// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"encoding/base64"
	"encoding/json"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
)

const (
	// labelManagedBy is the label, with the value kymactl, of all objects that deploy created. Objects that existed before do not
	// get it.
	labelManagedBy = "app.kubernetes.io/managed-by"

	// kubeconfigKey is the key of the kubeconfig in its Secret.
	kubeconfigKey = "kubeconfig"
	// kubeconfigSuffix is the suffix of the name of the Secret. It follows the name of the ProviderConfig.
	kubeconfigSuffix = "-kubeconfig"

	// inClusterConfig is the name of the ClusterProviderConfig that the provider uses by default for modules in the control plane.
	inClusterConfig = "control-plane"

	// providerName is the name of the Provider, and of the ManagedResourceActivationPolicy for its kinds.
	providerName = "provider-kyma"

	groupPackages   = "pkg.crossplane.io"
	groupExtensions = "apiextensions.crossplane.io"
)

func coreKind(kind string) schema.GroupVersionKind { return corev1.SchemeGroupVersion.WithKind(kind) }

func providerKind() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: groupPackages, Version: "v1", Kind: "Provider"}
}

func policyKind() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: groupExtensions, Version: "v1alpha1", Kind: "ManagedResourceActivationPolicy"}
}

// objectOf returns the kind, namespace and name of an object.
func objectOf(u *unstructured.Unstructured) object {
	return object{GroupVersionKind: u.GroupVersionKind(), Namespace: u.GetNamespace(), Name: u.GetName()}
}

// wanted returns an object with the given fields and the kind, namespace and name of o. It modifies fields.
func wanted(o object, fields map[string]any) *unstructured.Unstructured {
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

// ours reports whether deploy created an object.
func ours(u *unstructured.Unstructured) bool {
	return u.GetLabels()[labelManagedBy] == command.FieldManager
}

// owned reports whether kymactl owns a field of an object, or a field below it, through server-side apply.
func owned(u *unstructured.Unstructured, path ...string) bool {
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

// packager returns the object through which u belongs to a package: a package revision or a ManagedResourceDefinition. by is
// empty if u does not belong to a package. provider is the name of the Provider; empty if unknown.
func packager(u *unstructured.Unstructured) (by, provider string) {
	for _, ref := range u.GetOwnerReferences() {
		gv, err := schema.ParseGroupVersion(ref.APIVersion)
		if err != nil || gv.Group != groupPackages && gv.Group != groupExtensions {
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

// condition returns the status and the message of a condition. Both are empty if there is no such condition, or if it describes
// an earlier generation of the object.
func condition(u *unstructured.Unstructured, name string) (status, message string) {
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

// kindsOf returns the kinds whose objects are deleted together with the CRDs.
func kindsOf() []schema.GroupVersionKind {
	return []schema.GroupVersionKind{
		v1alpha1.KymaGroupVersionKind, v1alpha1.ManifestGroupVersionKind, v1alpha1.ModuleTemplateGroupVersionKind,
		v1alpha1.ProviderConfigGroupVersionKind, v1alpha1.ClusterProviderConfigGroupVersionKind,
	}
}

// encode returns data in base64, the encoding of Secrets.
func encode(data []byte) string { return base64.StdEncoding.EncodeToString(data) }

// listOf returns an empty list for objects of a kind.
func listOf(kind schema.GroupVersionKind) *unstructured.UnstructuredList {
	l := &unstructured.UnstructuredList{}
	l.SetGroupVersionKind(kind)
	return l
}
