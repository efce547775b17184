// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// AllowedNamespaces selects namespaces. A namespace is allowed if it is listed in names, or if selector matches its labels.
type AllowedNamespaces struct {
	// names lists the names of the allowed namespaces.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=63
	Names []string `json:"names,omitempty"`

	// selector allows the namespaces whose labels it matches. An empty selector allows all namespaces. Any other selector
	// requires that the provider has permission to get namespaces, which Crossplane does not grant by default; see
	// docs/permissions.md.
	// +optional
	Selector *metav1.LabelSelector `json:"selector,omitempty"`
}

// A ServiceAccountReference refers to a ServiceAccount in the target cluster.
type ServiceAccountReference struct {
	// namespace of the ServiceAccount in the target cluster. Defaults to the namespace of the Manifest.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace,omitempty"`

	// name of the ServiceAccount.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
}

// An Impersonation specifies the identity that requests to the target cluster impersonate.
type Impersonation struct {
	// serviceAccount is the ServiceAccount in the target cluster that is impersonated. The user of the kubeconfig needs
	// permission to impersonate it.
	// +required
	ServiceAccount ServiceAccountReference `json:"serviceAccount"`
}

// A LookupPolicy specifies which objects the lookup function of charts may read in the target cluster.
// +kubebuilder:validation:Enum=Allowed;NoSecrets;Denied
type LookupPolicy string

// The policies for lookup.
const (
	LookupAllowed   LookupPolicy = "Allowed"
	LookupNoSecrets LookupPolicy = "NoSecrets"
	LookupDenied    LookupPolicy = "Denied"
)
