// SPDX-License-Identifier: Apache-2.0

package compose

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

// scopes of kinds that CRDs define: true for kinds with namespaces.
type scopes map[schema.GroupKind]bool

// learn the scopes of the kinds that CRDs among the objects define.
func (s scopes) learn(objects []*unstructured.Unstructured) {
	for _, u := range objects {
		if u.GroupVersionKind().GroupKind() != object.CRDKind {
			continue
		}
		for gvk, m := range object.ServedKinds(u) {
			s[gvk.GroupKind()] = m.Namespaced
		}
	}
}

// of returns the scope of a kind, and whether it is known without a cluster.
func (s scopes) of(gk schema.GroupKind) (namespaced, known bool) {
	if namespaced, known = s[gk]; known {
		return namespaced, true
	}
	wide, known := clusterWide[gk.Group]
	return known && !slices.Contains(wide, gk.Kind), known
}

// clusterWide are the kinds without namespaces, by the groups that Kubernetes itself serves. All other kinds of these groups have
// namespaces.
var clusterWide = map[string][]string{ //nolint:gochecknoglobals // A constant table.
	"": {"Namespace", "Node", "PersistentVolume"},
	"admissionregistration.k8s.io": {
		"MutatingWebhookConfiguration", "ValidatingWebhookConfiguration", "MutatingAdmissionPolicy",
		"MutatingAdmissionPolicyBinding", "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding",
	},
	"apiextensions.k8s.io":         {"CustomResourceDefinition"},
	"apiregistration.k8s.io":       {"APIService"},
	"apps":                         {},
	"autoscaling":                  {},
	"batch":                        {},
	"certificates.k8s.io":          {"CertificateSigningRequest", "ClusterTrustBundle"},
	"coordination.k8s.io":          {},
	"discovery.k8s.io":             {},
	"flowcontrol.apiserver.k8s.io": {"FlowSchema", "PriorityLevelConfiguration"},
	"networking.k8s.io":            {"IngressClass", "IPAddress", "ServiceCIDR"},
	"node.k8s.io":                  {"RuntimeClass"},
	"policy":                       {},
	"rbac.authorization.k8s.io":    {"ClusterRole", "ClusterRoleBinding"},
	"scheduling.k8s.io":            {"PriorityClass"},
	"storage.k8s.io":               {"CSIDriver", "CSINode", "StorageClass", "VolumeAttachment", "VolumeAttributesClass"},
}
