// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// AllowedNamespaces selects namespaces. A namespace is allowed if it is listed in names, or if selector matches its labels.
type AllowedNamespaces struct {
	// names are the names of allowed namespaces.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=63
	Names []string `json:"names,omitempty"`

	// selector allows the namespaces with these labels. An empty selector allows all namespaces. For any other selector, the
	// provider needs the permission to get namespaces, which Crossplane does not grant: see docs/permissions.md.
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

// An Impersonation specifies on whose behalf requests are sent to the target cluster.
type Impersonation struct {
	// serviceAccount is the ServiceAccount in the target cluster that is impersonated. The user of the kubeconfig needs the
	// verb impersonate on it.
	// +required
	ServiceAccount ServiceAccountReference `json:"serviceAccount"`
}

// A LookupPolicy specifies what the function lookup of charts may read in the target cluster.
// +kubebuilder:validation:Enum=Allowed;NoSecrets;Denied
type LookupPolicy string

// The policies for lookup.
const (
	LookupAllowed   LookupPolicy = "Allowed"
	LookupNoSecrets LookupPolicy = "NoSecrets"
	LookupDenied    LookupPolicy = "Denied"
)
