// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
)

// A CredentialsSource specifies where credentials come from.
// +kubebuilder:validation:Enum=Secret;InjectedIdentity;Filesystem;Environment;None
type CredentialsSource string

// The sources of credentials.
const (
	CredentialsSourceSecret           CredentialsSource = "Secret"
	CredentialsSourceInjectedIdentity CredentialsSource = "InjectedIdentity"
	CredentialsSourceFilesystem       CredentialsSource = "Filesystem"
	CredentialsSourceEnvironment      CredentialsSource = "Environment"
	CredentialsSourceNone             CredentialsSource = "None"
)

// A SecretKeySelector selects a key of a Secret.
type SecretKeySelector struct {
	// namespace of the Secret. A ProviderConfig can only refer to Secrets in its own namespace, which is the default.
	// Required in a ClusterProviderConfig.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace,omitempty"`

	// name of the Secret.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// key to read from the data of the Secret.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Key string `json:"key"`
}

// A SecretReference refers to a Secret of a well-known type.
type SecretReference struct {
	// namespace of the Secret. A ProviderConfig can only refer to Secrets in its own namespace, which is the default.
	// Required in a ClusterProviderConfig.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace,omitempty"`

	// name of the Secret.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
}

// CredentialSelectors select the credentials in their source.
type CredentialSelectors struct {
	// secretRef selects the key of a Secret that holds the credentials. Required with source Secret.
	// +optional
	SecretRef *SecretKeySelector `json:"secretRef,omitempty"`

	// env names the environment variable of the provider that holds the credentials. Required with source Environment.
	// +optional
	Env *xpv2.EnvSelector `json:"env,omitempty"`

	// fs names the file in the file system of the provider that holds the credentials. Required with source Filesystem.
	// +optional
	Fs *xpv2.FsSelector `json:"fs,omitempty"`
}

// Credentials for the API server of the target cluster.
// +kubebuilder:validation:XValidation:rule="self.source != 'Secret' || has(self.secretRef)",message="secretRef is required when source is Secret"
// +kubebuilder:validation:XValidation:rule="self.source != 'Environment' || has(self.env)",message="env is required when source is Environment"
// +kubebuilder:validation:XValidation:rule="self.source != 'Filesystem' || has(self.fs)",message="fs is required when source is Filesystem"
type Credentials struct {
	// source of the credentials: Secret, InjectedIdentity (the provider's own access to the control plane), Filesystem (a file
	// of the provider), Environment (an environment variable of the provider), or None. A ProviderConfig can only use Secret,
	// unless the provider runs with --allow-tenant-identity; a ClusterProviderConfig can use any source.
	// +required
	Source CredentialsSource `json:"source"`

	CredentialSelectors `json:",inline"`
}

// An IdentityType is a method of authentication that replaces the user in a kubeconfig.
// +kubebuilder:validation:Enum=GoogleApplicationCredentials;AzureServicePrincipalCredentials;AzureWorkloadIdentityCredentials;UpboundTokens;AWSWebIdentityCredentials
type IdentityType string

// The identity types, with the names that provider-kubernetes and provider-helm gave them.
const (
	IdentityTypeGoogleApplicationCredentials     IdentityType = "GoogleApplicationCredentials" //nolint:gosec // A name, no credentials.
	IdentityTypeAzureServicePrincipalCredentials IdentityType = "AzureServicePrincipalCredentials"
	IdentityTypeAzureWorkloadIdentityCredentials IdentityType = "AzureWorkloadIdentityCredentials"
	IdentityTypeUpboundTokens                    IdentityType = "UpboundTokens"
	IdentityTypeAWSWebIdentityCredentials        IdentityType = "AWSWebIdentityCredentials"
)

// An Identity authenticates the provider if the kubeconfig does not contain a user.
type Identity struct {
	// type of the identity.
	// +required
	Type IdentityType `json:"type"`

	// server is the host of the API server, with an optional port, that tokens of the provider's own identity are sent to. The
	// identity is the provider's own if source is not Secret, or if type is AzureWorkloadIdentityCredentials. It is then
	// required if the kubeconfig is in a Secret, unless the host is a cluster endpoint in the cloud of the identity, such as
	// *.eks.amazonaws.com.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?(:[0-9]{1,5})?$|^\[[0-9a-fA-F:]+\](:[0-9]{1,5})?$`
	Server string `json:"server,omitempty"`

	Credentials `json:",inline"`
}

// A RegistryProvider is a cloud in which the provider has an identity.
// +kubebuilder:validation:Enum=aws;azure;gcp
type RegistryProvider string

// The clouds with registries that accept identities, with the names that Flux gives them.
const (
	RegistryProviderAWS   RegistryProvider = "aws"
	RegistryProviderAzure RegistryProvider = "azure"
	RegistryProviderGCP   RegistryProvider = "gcp"
)

// A Registry specifies how to connect to a registry or a chart repository.
// +kubebuilder:validation:XValidation:rule="!has(self.provider) || !has(self.pullSecretRef)",message="provider and pullSecretRef are mutually exclusive; remove one of them"
// +kubebuilder:validation:XValidation:rule="!has(self.provider) || !has(self.plainHTTP) || !self.plainHTTP",message="provider requires HTTPS; remove plainHTTP"
type Registry struct {
	// host of the registry or chart repository, with an optional port, such as registry.example.org:5000.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?(:[0-9]{1,5})?$|^\[[0-9a-fA-F:]+\](:[0-9]{1,5})?$`
	Host string `json:"host"`

	// pullSecretRef refers to a Secret of type kubernetes.io/dockerconfigjson or kubernetes.io/basic-auth.
	// +optional
	PullSecretRef *SecretReference `json:"pullSecretRef,omitempty"`

	// provider is the cloud of the registry: aws (ECR), azure (ACR) or gcp (Artifact Registry). If set, the Crossplane provider
	// authenticates with the identity that its pod has in that cloud, instead of a pull secret. A ProviderConfig can set this
	// only if the Crossplane provider runs with --allow-tenant-identity; a ClusterProviderConfig always can.
	// +optional
	Provider RegistryProvider `json:"provider,omitempty"`

	// caBundleSecretRef selects the key of a Secret that contains the PEM-encoded CA certificates to trust for this host, in
	// addition to the CA certificates of the system.
	// +optional
	CABundleSecretRef *SecretKeySelector `json:"caBundleSecretRef,omitempty"`

	// tokenHosts lists additional hosts, with an optional port, to which credentials may be sent if the registry uses them as
	// its token service. The host itself and the token services of well-known registries, such as Docker Hub, are always
	// allowed.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=8
	// +kubebuilder:validation:items:MaxLength=253
	// +kubebuilder:validation:items:Pattern=`^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?(:[0-9]{1,5})?$|^\[[0-9a-fA-F:]+\](:[0-9]{1,5})?$`
	TokenHosts []string `json:"tokenHosts,omitempty"`

	// plainHTTP specifies whether to connect to this host over HTTP instead of HTTPS. A ProviderConfig can set this only for
	// hosts that are listed in the flag --allow-plain-http-host of the Crossplane provider; a ClusterProviderConfig always can.
	// +optional
	PlainHTTP bool `json:"plainHTTP,omitempty"`
}

// A ProviderConfigSpec specifies how to connect to a target cluster, and which modules may be installed in it.
type ProviderConfigSpec struct {
	// credentials specifies how to authenticate to the API server of the target cluster: with a kubeconfig, or with the
	// identity of the provider. A kubeconfig that contains exec, auth-provider or file paths is rejected, unless the provider
	// runs with flags that allow it.
	// +required
	Credentials Credentials `json:"credentials"`

	// identity is a cloud identity that authenticates instead of the user in the kubeconfig, which can then be omitted.
	// +optional
	Identity *Identity `json:"identity,omitempty"`

	// registries lists the registries that modules may come from, and how to connect to them. If empty, modules may come from
	// any registry. A ClusterProviderConfig then uses the credentials in the Docker configuration of the Crossplane provider,
	// if there is one; a ProviderConfig does so only if the Crossplane provider runs with --allow-tenant-identity.
	// +optional
	// +listType=map
	// +listMapKey=host
	// +kubebuilder:validation:MaxItems=64
	Registries []Registry `json:"registries,omitempty"`

	// verification specifies how signatures of modules are verified. By default, they are not verified.
	// +optional
	Verification *Verification `json:"verification,omitempty"`

	// impersonate specifies the ServiceAccount of the target cluster whose permissions restrict what Manifests install and
	// remove. Watches and inventories use the permissions of the kubeconfig. Manifests can override it if it is set in a
	// ProviderConfig, but not if it is set in a ClusterProviderConfig. By default, no ServiceAccount is impersonated.
	// +optional
	Impersonate *Impersonation `json:"impersonate,omitempty"`

	// lookup specifies which objects the lookup function of charts may read in the target cluster. Allowed permits everything
	// that the user of the kubeconfig, or the impersonated ServiceAccount, can read. NoSecrets permits everything except
	// Secrets. Denied permits nothing. A chart that looks up anything else is not installed. Defaults to NoSecrets if the
	// credentials or the identity belong to the provider, and to Allowed otherwise.
	// +optional
	Lookup LookupPolicy `json:"lookup,omitempty"`
}

// A ClusterProviderConfigSpec specifies how to connect to a target cluster, which modules may be installed in it, and which
// namespaces may use it.
type ClusterProviderConfigSpec struct {
	ProviderConfigSpec `json:",inline"`

	// allowedNamespaces selects the namespaces whose Kymas and Manifests may use this ClusterProviderConfig. If not set, all
	// namespaces may use it, unless the credentials or the identity belong to the provider (InjectedIdentity, Filesystem,
	// Environment, or AzureWorkloadIdentityCredentials), in which case no namespace may use it. If a namespace is no longer
	// allowed, its Manifests are no longer applied. Deleting such a Manifest still removes what it installed.
	// +optional
	AllowedNamespaces *AllowedNamespaces `json:"allowedNamespaces,omitempty"`
}

// A ProviderConfigStatus reports how many resources use a ProviderConfig, and whether its cluster is reachable.
type ProviderConfigStatus struct {
	xpv2.ProviderConfigStatus `json:",inline"`

	// kubernetesVersion is the version of the target cluster. The provider updates it when it connects to the cluster and when
	// it renders a chart.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	KubernetesVersion string `json:"kubernetesVersion,omitempty"`

	// clusterUID is the UID of the kube-system namespace of the target cluster, which identifies the cluster. It is empty if
	// the credentials do not grant access to that namespace.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	ClusterUID string `json:"clusterUID,omitempty"`

	// endpoint is the host of the API server, and its port if the kubeconfig specifies one. It contains no path and no credentials.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Endpoint string `json:"endpoint,omitempty"`
}

// A ProviderConfig holds the credentials of a target cluster for the managed resources of its namespace.
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:storageversion
// +kubebuilder:printcolumn:name="REACHABLE",type="string",JSONPath=".status.conditions[?(@.type=='Reachable')].status"
// +kubebuilder:printcolumn:name="REASON",type="string",JSONPath=".status.conditions[?(@.type=='Reachable')].reason"
// +kubebuilder:printcolumn:name="KUBERNETES",type="string",JSONPath=".status.kubernetesVersion"
// +kubebuilder:printcolumn:name="USERS",type="integer",JSONPath=".status.users"
// +kubebuilder:printcolumn:name="AGE",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:printcolumn:name="SOURCE",type="string",JSONPath=".spec.credentials.source",priority=1
// +kubebuilder:printcolumn:name="ENDPOINT",type="string",JSONPath=".status.endpoint",priority=1
// +kubebuilder:printcolumn:name="MESSAGE",type="string",JSONPath=".status.conditions[?(@.type=='Reachable')].message",priority=1
// +kubebuilder:resource:scope=Namespaced,categories={crossplane,provider},shortName=kkpc
type ProviderConfig struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard metadata of an object.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec specifies how to connect to a target cluster, and which modules may be installed in it.
	// +required
	Spec ProviderConfigSpec `json:"spec"`
	// status reports how many resources use this config, and whether its cluster is reachable.
	// +optional
	Status ProviderConfigStatus `json:"status,omitempty"`
}

// A ProviderConfigList is a list of ProviderConfigs.
// +kubebuilder:object:root=true
type ProviderConfigList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []ProviderConfig `json:"items"`
}

// A ClusterProviderConfig holds the credentials of a target cluster for managed resources of several namespaces.
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:storageversion
// +kubebuilder:printcolumn:name="REACHABLE",type="string",JSONPath=".status.conditions[?(@.type=='Reachable')].status"
// +kubebuilder:printcolumn:name="REASON",type="string",JSONPath=".status.conditions[?(@.type=='Reachable')].reason"
// +kubebuilder:printcolumn:name="KUBERNETES",type="string",JSONPath=".status.kubernetesVersion"
// +kubebuilder:printcolumn:name="USERS",type="integer",JSONPath=".status.users"
// +kubebuilder:printcolumn:name="AGE",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:printcolumn:name="SOURCE",type="string",JSONPath=".spec.credentials.source",priority=1
// +kubebuilder:printcolumn:name="ENDPOINT",type="string",JSONPath=".status.endpoint",priority=1
// +kubebuilder:printcolumn:name="MESSAGE",type="string",JSONPath=".status.conditions[?(@.type=='Reachable')].message",priority=1
// +kubebuilder:resource:scope=Cluster,categories={crossplane,provider},shortName=kkcpc
// +kubebuilder:validation:XValidation:rule="!has(self.spec.credentials.secretRef) || has(self.spec.credentials.secretRef.__namespace__)",fieldPath=".spec.credentials.secretRef.namespace",reason=FieldValueRequired,message="the namespace is required in a ClusterProviderConfig"
// +kubebuilder:validation:XValidation:rule="!has(self.spec.identity) || !has(self.spec.identity.secretRef) || has(self.spec.identity.secretRef.__namespace__)",fieldPath=".spec.identity.secretRef.namespace",reason=FieldValueRequired,message="the namespace is required in a ClusterProviderConfig"
// +kubebuilder:validation:XValidation:rule="!has(self.spec.registries) || self.spec.registries.all(r, (!has(r.pullSecretRef) || has(r.pullSecretRef.__namespace__)) && (!has(r.caBundleSecretRef) || has(r.caBundleSecretRef.__namespace__)))",fieldPath=".spec.registries",reason=FieldValueRequired,message="the namespace of each secret is required in a ClusterProviderConfig"
// +kubebuilder:validation:XValidation:rule="!has(self.spec.verification) || !has(self.spec.verification.keys) || self.spec.verification.keys.all(k, has(k.publicKeySecretRef.__namespace__))",fieldPath=".spec.verification.keys",reason=FieldValueRequired,message="the namespace of each secret is required in a ClusterProviderConfig"
type ClusterProviderConfig struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard metadata of an object.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec specifies how to connect to a target cluster, which modules may be installed in it, and which namespaces may use it.
	// +required
	Spec ClusterProviderConfigSpec `json:"spec"`
	// status reports how many resources use this config, and whether its cluster is reachable.
	// +optional
	Status ProviderConfigStatus `json:"status,omitempty"`
}

// A ClusterProviderConfigList is a list of ClusterProviderConfigs.
// +kubebuilder:object:root=true
type ClusterProviderConfigList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []ClusterProviderConfig `json:"items"`
}

// A ProviderConfigUsage records that a managed resource uses a ProviderConfig or a ClusterProviderConfig.
// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:printcolumn:name="AGE",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:printcolumn:name="CONFIG-NAME",type="string",JSONPath=".providerConfigRef.name"
// +kubebuilder:printcolumn:name="RESOURCE-KIND",type="string",JSONPath=".resourceRef.kind"
// +kubebuilder:printcolumn:name="RESOURCE-NAME",type="string",JSONPath=".resourceRef.name"
// +kubebuilder:resource:scope=Namespaced,categories={crossplane,provider},shortName=kkpcu
type ProviderConfigUsage struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard metadata of an object.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	xpv2.TypedProviderConfigUsage `json:",inline"`
}

// A ProviderConfigUsageList is a list of ProviderConfigUsages.
// +kubebuilder:object:root=true
type ProviderConfigUsageList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []ProviderConfigUsage `json:"items"`
}
