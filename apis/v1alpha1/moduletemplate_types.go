// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
)

// A ModuleTarget specifies the cluster that a module is installed in.
// +kubebuilder:validation:Enum=remote;control-plane
type ModuleTarget string

// The targets of modules.
const (
	ModuleTargetRemote       ModuleTarget = "remote"
	ModuleTargetControlPlane ModuleTarget = "control-plane"
)

// A NameMapping specifies how the name of a component is mapped to the name of a repository.
// +kubebuilder:validation:Enum=urlPath;sha256-digest
type NameMapping string

// The mappings of names.
const (
	NameMappingURLPath      NameMapping = "urlPath"
	NameMappingSHA256Digest NameMapping = "sha256-digest"
)

// A Component identifies a component version in a registry.
type Component struct {
	// repository that holds the components, including the host, such as registry.example.org/modules.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:Pattern=`^[^@\s]+$`
	Repository string `json:"repository"`

	// name of the component, such as kyma-project.io/module/template-operator.
	// +required
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:Pattern=`^[a-z0-9.\-]+[.][a-z][a-z]+/[-a-z0-9/_.]*$`
	Name string `json:"name"`

	// version of the component. It must be a semantic version.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	Version string `json:"version"`

	// nameMapping specifies the repository of a component below component-descriptors/. With urlPath, it is the name of the
	// component; with sha256-digest, it is the hexadecimal SHA-256 digest of the name, for registries that do not support
	// nested paths.
	// +optional
	// +kubebuilder:default=urlPath
	NameMapping NameMapping `json:"nameMapping,omitempty"`
}

// ModuleAllowed restricts what Kymas may set for a module, and which objects the module may contain.
type ModuleAllowed struct {
	// values lists the paths of the values that a Kyma may set, such as replicas, resources.limits.* or podLabels. A path
	// includes everything below it, and * matches any single name. To include a dot in a name, write \. (backslash, dot). If
	// not set, a Kyma may set all values, or none if target is control-plane. An empty list allows no values. References in
	// valuesFrom are allowed if targetPath is an allowed path, but never if target is control-plane.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=128
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=250
	Values []string `json:"values,omitempty"`

	Confinement `json:",inline"`
}

// A Confinement restricts the objects of a module, including its hooks and its custom resource. An install that contains a
// disallowed object is rejected. It restricts the objects of a module, but not what its workloads do in the cluster.
type Confinement struct {
	// namespaces lists the namespaces in which the module may have objects, including Helm releases and the Namespace objects
	// themselves. If not set, the module may use all namespaces.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=63
	Namespaces []string `json:"namespaces,omitempty"`

	// kinds lists the kinds of objects that the module may contain, such as ConfigMap, Deployment.apps, or *.apps for all kinds
	// in a group. If not set, the module may contain objects of any kind.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=128
	// +kubebuilder:validation:items:MaxLength=317
	// +kubebuilder:validation:items:Pattern=`^([A-Za-z][A-Za-z0-9]*(\.[a-z0-9]([-a-z0-9.]*[a-z0-9])?)?|\*\.[a-z0-9]([-a-z0-9.]*[a-z0-9])?)$`
	Kinds []string `json:"kinds,omitempty"`

	// clusterAdmin specifies whether the module may contain objects that grant cluster-wide administrative permissions. If
	// false, these are rejected: ClusterRoles that grant all permissions, the verbs escalate, bind or impersonate, or access to
	// all Secrets, or that are aggregated; bindings to built-in roles or to groups of all users; webhooks, admission policies
	// and APIServices; packages of Crossplane; kinds that make Crossplane or the provider install objects, such as
	// Composition, Kyma and Manifest, unless kinds lists them by name; and everything in kube-system, unless namespaces lists
	// it. See docs/api/moduletemplate.md for the full list.
	// +optional
	ClusterAdmin *bool `json:"clusterAdmin,omitempty"`
}

// A ModuleTemplateSpec specifies one version of a module.
// +kubebuilder:validation:XValidation:rule="has(self.descriptor) != has(self.component)",message="exactly one of descriptor and component must be set"
type ModuleTemplateSpec struct {
	// moduleName is the name that a Kyma uses to enable the module. Defaults to the value of the label
	// operator.kyma-project.io/module-name if it is set, otherwise to the last element of the component name.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`
	ModuleName string `json:"moduleName,omitempty"`

	// version of the module. Defaults to the version of the component descriptor, and must be equal to it.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	Version string `json:"version,omitempty"`

	// channel is the release channel of this version. If not set, the ModuleTemplate adds one version to the catalogue, and a
	// ModuleReleaseMeta assigns versions to channels.
	// +optional
	// +kubebuilder:validation:MinLength=3
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^[a-z][a-z0-9-]*[a-z0-9]$`
	Channel string `json:"channel,omitempty"`

	// target is the cluster that the module is installed in. With remote, it is the cluster of the Kyma; with
	// control-plane, the cluster of the ClusterProviderConfig that is set by the provider flag --control-plane-config.
	// +optional
	// +kubebuilder:default=remote
	Target ModuleTarget `json:"target,omitempty"`

	// data is the default custom resource of the module. Its name defaults to the name of the module.
	// +optional
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:EmbeddedResource
	Data *runtime.RawExtension `json:"data,omitempty"`

	// descriptor is the component descriptor of the module, in version 2 of the Open Component Model.
	// +optional
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Schemaless
	Descriptor *runtime.RawExtension `json:"descriptor,omitempty"`

	// component refers to the component descriptor in a registry. It is fetched once for each change of the spec, and
	// again for each new value of the annotation crossplane.io/reconcile-requested-at.
	// +optional
	Component *Component `json:"component,omitempty"`

	// allowed restricts what Kymas may set for the module, and which objects the module may contain.
	// +optional
	Allowed *ModuleAllowed `json:"allowed,omitempty"`

	// readiness lists rules that decide when objects of the module are ready, in addition to the built-in rules.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	Readiness []ReadinessRule `json:"readiness,omitempty"`
}

// A ModuleResourceUse specifies what a resource of a component is used for.
// +kubebuilder:validation:Enum=Install;CRDs;Config;CustomResource;None
type ModuleResourceUse string

// The uses of resources.
const (
	// UseInstall is a chart or plain YAML that is installed.
	UseInstall ModuleResourceUse = "Install"
	// UseCRDs is a layer of CustomResourceDefinitions.
	UseCRDs ModuleResourceUse = "CRDs"
	// UseConfig is a layer with Helm's install flags and values.
	UseConfig ModuleResourceUse = "Config"
	// UseCustomResource is the layer of the default custom resource.
	UseCustomResource ModuleResourceUse = "CustomResource"
	// UseNone is not installed: images, documentation.
	UseNone ModuleResourceUse = "None"
)

// A ModuleResource is a resource of the component, and what the module uses it for.
type ModuleResource struct {
	// name of the resource.
	// +required
	// +kubebuilder:validation:MaxLength=255
	Name string `json:"name"`

	// component is the referenced component that the resource belongs to. It is empty for resources of the component itself.
	// +optional
	// +kubebuilder:validation:MaxLength=255
	Component string `json:"component,omitempty"`

	// type of the resource in the component descriptor.
	// +required
	// +kubebuilder:validation:MaxLength=255
	Type string `json:"type"`

	// version of the resource.
	// +optional
	// +kubebuilder:validation:MaxLength=255
	Version string `json:"version,omitempty"`

	// use describes what the module uses the resource for.
	// +required
	Use ModuleResourceUse `json:"use"`

	// install is the name of the install that is made from the resource.
	// +optional
	// +kubebuilder:validation:MaxLength=53
	Install string `json:"install,omitempty"`

	// source specifies where the provider gets the resource. It is empty if the module does not use the resource.
	// +optional
	Source *Source `json:"source,omitempty"`
}

// A ModuleTemplateStatus reports the content of the component descriptor of a ModuleTemplate.
type ModuleTemplateStatus struct {
	xpv2.ConditionedStatus `json:",inline"`

	// lastHandledReconcileAt is the value of the annotation crossplane.io/reconcile-requested-at that was handled most
	// recently.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	LastHandledReconcileAt string `json:"lastHandledReconcileAt,omitempty"`

	// observedGeneration is the generation of the ModuleTemplate that the Ready condition describes. It is -1 until the
	// provider has processed the ModuleTemplate.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// resolvedGeneration is the generation of the spec that moduleName, version, digest, resources and data were read from.
	// +optional
	ResolvedGeneration int64 `json:"resolvedGeneration,omitempty"`

	// moduleName is the name that a Kyma uses to enable the module.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	ModuleName string `json:"moduleName,omitempty"`

	// version of the module.
	// +optional
	// +kubebuilder:validation:MaxLength=255
	Version string `json:"version,omitempty"`

	// digest of the component: the digest of its manifest if it was fetched from a registry, otherwise the digest of the
	// descriptor in the spec.
	// +optional
	// +kubebuilder:validation:MaxLength=71
	Digest string `json:"digest,omitempty"`

	// resources lists the resources of the component, and what the module uses them for.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=256
	Resources []ModuleResource `json:"resources,omitempty"`

	// data is the default custom resource that the component contains, if any. spec.data takes precedence over it.
	// +optional
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:EmbeddedResource
	Data *runtime.RawExtension `json:"data,omitempty"`
}

// A ModuleTemplate adds a version of a module to the catalogue, and releases it if it has a channel. A component descriptor of
// the Open Component Model describes the version.
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:storageversion
// +kubebuilder:printcolumn:name="MODULE",type="string",JSONPath=".status.moduleName"
// +kubebuilder:printcolumn:name="CHANNEL",type="string",JSONPath=".spec.channel"
// +kubebuilder:printcolumn:name="VERSION",type="string",JSONPath=".status.version"
// +kubebuilder:printcolumn:name="READY",type="string",JSONPath=".status.conditions[?(@.type=='Ready')].status"
// +kubebuilder:printcolumn:name="REASON",type="string",JSONPath=".status.conditions[?(@.type=='Ready')].reason"
// +kubebuilder:printcolumn:name="AGE",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:printcolumn:name="RESOLVED",type="string",JSONPath=".status.conditions[?(@.type=='Resolved')].status",priority=1
// +kubebuilder:printcolumn:name="VERIFIED",type="string",JSONPath=".status.conditions[?(@.type=='Verified')].status",priority=1
// +kubebuilder:printcolumn:name="TARGET",type="string",JSONPath=".spec.target",priority=1
// +kubebuilder:printcolumn:name="MESSAGE",type="string",JSONPath=".status.conditions[?(@.type=='Ready')].message",priority=1
// +kubebuilder:resource:scope=Cluster,categories={crossplane,modules},shortName=kmt
type ModuleTemplate struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard metadata of an object.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec specifies one version of a module.
	// +required
	Spec ModuleTemplateSpec `json:"spec"`
	// status reports the content of the component descriptor of a ModuleTemplate.
	// +optional
	// +kubebuilder:default:={"observedGeneration":-1}
	Status ModuleTemplateStatus `json:"status,omitempty"`
}

// A ModuleTemplateList is a list of ModuleTemplates.
// +kubebuilder:object:root=true
type ModuleTemplateList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []ModuleTemplate `json:"items"`
}
