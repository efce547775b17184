// SPDX-License-Identifier: Apache-2.0

package object

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// builtin lists the groups that Kubernetes itself serves, each with its cluster-scoped kinds. All other kinds of these groups are
// namespaced. Other groups that end in k8s.io, such as the group of the Gateway API, belong to CRDs.
var builtin = map[string][]string{ //nolint:gochecknoglobals // A constant table.
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
	"events.k8s.io":                {},
	"flowcontrol.apiserver.k8s.io": {"FlowSchema", "PriorityLevelConfiguration"},
	"networking.k8s.io":            {"IngressClass", "IPAddress", "ServiceCIDR"},
	"node.k8s.io":                  {"RuntimeClass"},
	"policy":                       {},
	"rbac.authorization.k8s.io":    {"ClusterRole", "ClusterRoleBinding"},
	"resource.k8s.io":              {"DeviceClass", "DeviceTaintRule", "ResourceSlice"},
	"scheduling.k8s.io":            {"PriorityClass"},
	"storage.k8s.io":               {"CSIDriver", "CSINode", "StorageClass", "VolumeAttachment", "VolumeAttributesClass"},
}

// BuiltinScope reports whether a kind is namespaced. Known is false if its group is not built in.
func BuiltinScope(gk schema.GroupKind) (namespaced, known bool) {
	wide, known := builtin[gk.Group]
	return known && !slices.Contains(wide, gk.Kind), known
}
