// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
)

// A ModuleTarget says which cluster a module is installed into.
// +kubebuilder:validation:Enum=remote;control-plane
type ModuleTarget string

// The targets of modules.
const (
	ModuleTargetRemote       ModuleTarget = "remote"
	ModuleTargetControlPlane ModuleTarget = "control-plane"
)

// A NameMapping says how the name of a component becomes that of a repository.
// +kubebuilder:validation:Enum=urlPath;sha256-digest
type NameMapping string

// The mappings of names.
const (
	NameMappingURLPath      NameMapping = "urlPath"
	NameMappingSHA256Digest NameMapping = "sha256-digest"
)

// A Component names a component version in a registry.
type Component struct {
	// Repository that holds components, the host included: registry.example.org/modules.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:Pattern=`^[^@\s]+$`
	Repository string `json:"repository"`

	// Name of the component: kyma-project.io/module/template-operator.
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:Pattern=`^[a-z0-9.\-]+[.][a-z][a-z]+/[-a-z0-9/_.]*$`
	Name string `json:"name"`

	// Version of the component, which is a semantic version.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	Version string `json:"version"`

	// NameMapping urlPath keeps components below component-descriptors/ under their names, sha256-digest under the
	// hexadecimal SHA-256 of their names, for registries that know no deeper paths.
	// +optional
	// +kubebuilder:default=urlPath
	NameMapping NameMapping `json:"nameMapping,omitempty"`
}

// A ModuleTemplateSpec says which version of a module a channel has.
// +kubebuilder:validation:XValidation:rule="has(self.descriptor) != has(self.component)",message="a ModuleTemplate needs either descriptor or component"
type ModuleTemplateSpec struct {
	// ModuleName is the name by which a Kyma asks for the module. By default the value of the label
	// operator.kyma-project.io/module-name, or else the last element of the name of the component.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`
	ModuleName string `json:"moduleName,omitempty"`

	// Channel that this version is released in.
	// +kubebuilder:validation:MinLength=3
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^[a-z]+$`
	Channel string `json:"channel"`

	// Target remote installs the module into the cluster of the Kyma, control-plane into the one of the
	// ClusterProviderConfig that a flag of the provider names.
	// +optional
	// +kubebuilder:default=remote
	Target ModuleTarget `json:"target,omitempty"`

	// Data is the default custom resource of the module. Without a name it gets that of the module.
	// +optional
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:EmbeddedResource
	Data *runtime.RawExtension `json:"data,omitempty"`

	// Descriptor is the component descriptor, version 2 of the Open Component Model, of the module.
	// +optional
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Schemaless
	Descriptor *runtime.RawExtension `json:"descriptor,omitempty"`

	// Component names the component descriptor in a registry. It is fetched once for each change of this spec, and again
	// when annotation crossplane.io/reconcile-requested-at asks for it.
	// +optional
	Component *Component `json:"component,omitempty"`

	// Readiness rules of the module, in addition to what is known of each kind.
	// +optional
	// +kubebuilder:validation:MaxItems=16
	Readiness []ReadinessRule `json:"readiness,omitempty"`
}

// A ModuleResourceUse says what a resource of a component is to a module.
// +kubebuilder:validation:Enum=Install;CRDs;Config;CustomResource;None
type ModuleResourceUse string

// The uses of resources.
const (
	// UseInstall is a chart or plain YAML that is installed.
	UseInstall ModuleResourceUse = "Install"
	// UseCRDs is a layer of custom resource definitions.
	UseCRDs ModuleResourceUse = "CRDs"
	// UseConfig is a layer with Helm's install flags and values.
	UseConfig ModuleResourceUse = "Config"
	// UseCustomResource is the layer of the default custom resource.
	UseCustomResource ModuleResourceUse = "CustomResource"
	// UseNone is not installed: images, documentation.
	UseNone ModuleResourceUse = "None"
)

// A ModuleResource is one resource of the component, and what it is to the module.
type ModuleResource struct {
	// Name of the resource.
	Name string `json:"name"`

	// Component that the resource is of, where it is a referenced one.
	// +optional
	Component string `json:"component,omitempty"`

	// Type of the resource as the component descriptor says.
	Type string `json:"type"`

	// Version of the resource.
	// +optional
	Version string `json:"version,omitempty"`

	// Use says what the resource is to the module.
	Use ModuleResourceUse `json:"use"`

	// Install is the name of the install that the resource becomes.
	// +optional
	Install string `json:"install,omitempty"`

	// Source is where the resource comes from, where it is used.
	// +optional
	Source *Source `json:"source,omitempty"`
}

// A ModuleTemplateStatus is what the component descriptor of a ModuleTemplate says.
type ModuleTemplateStatus struct {
	xpv2.ConditionedStatus `json:",inline"`

	// LastHandledReconcileAt is the value of annotation crossplane.io/reconcile-requested-at that was handled last.
	// +optional
	LastHandledReconcileAt string `json:"lastHandledReconcileAt,omitempty"`

	// ObservedGeneration is the generation that condition Ready is of.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// ResolvedGeneration is the generation of the spec that the fields below are of.
	// +optional
	ResolvedGeneration int64 `json:"resolvedGeneration,omitempty"`

	// ModuleName by which a Kyma asks for the module.
	// +optional
	ModuleName string `json:"moduleName,omitempty"`

	// Version of the module.
	// +optional
	Version string `json:"version,omitempty"`

	// Digest of the component: of its manifest where it was fetched, or else of its descriptor as it stands here.
	// +optional
	Digest string `json:"digest,omitempty"`

	// Resources of the component, and what each is to the module.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=256
	Resources []ModuleResource `json:"resources,omitempty"`

	// Data is the default custom resource that the component holds, if any. Data of the spec comes before it.
	// +optional
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:EmbeddedResource
	Data *runtime.RawExtension `json:"data,omitempty"`
}

// A ModuleTemplate says which version of a module a channel has, by an Open Component Model component descriptor.
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:storageversion
// +kubebuilder:printcolumn:name="MODULE",type="string",JSONPath=".status.moduleName"
// +kubebuilder:printcolumn:name="CHANNEL",type="string",JSONPath=".spec.channel"
// +kubebuilder:printcolumn:name="VERSION",type="string",JSONPath=".status.version"
// +kubebuilder:printcolumn:name="RESOLVED",type="string",JSONPath=".status.conditions[?(@.type=='Resolved')].status"
// +kubebuilder:printcolumn:name="VERIFIED",type="string",JSONPath=".status.conditions[?(@.type=='Verified')].status",priority=1
// +kubebuilder:printcolumn:name="TARGET",type="string",JSONPath=".spec.target",priority=1
// +kubebuilder:printcolumn:name="AGE",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:resource:scope=Cluster,categories={crossplane,modules}
type ModuleTemplate struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   ModuleTemplateSpec   `json:"spec"`
	Status ModuleTemplateStatus `json:"status,omitempty"`
}

// A ModuleTemplateList is a list of ModuleTemplates.
// +kubebuilder:object:root=true
type ModuleTemplateList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []ModuleTemplate `json:"items"`
}
