// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// A SourceType specifies the kind of a Source, and which of its fields apply.
// +kubebuilder:validation:Enum=oci-ref;helm-chart;kustomize;raw
type SourceType string

// The types of sources.
const (
	SourceTypeOCIRef    SourceType = "oci-ref"
	SourceTypeHelmChart SourceType = "helm-chart"
	SourceTypeKustomize SourceType = "kustomize"
	SourceTypeRaw       SourceType = "raw"
)

// A Source specifies where the content of an install comes from.
// +kubebuilder:validation:XValidation:rule="self.type != 'oci-ref' || (has(self.repo) && has(self.name) && has(self.ref))",message="repo, name and ref are required when type is oci-ref"
// +kubebuilder:validation:XValidation:rule="self.type != 'helm-chart' || (has(self.url) && has(self.chartName))",message="url and chartName are required when type is helm-chart"
// +kubebuilder:validation:XValidation:rule="self.type == 'helm-chart' || (!has(self.url) && !has(self.chartName) && !has(self.version))",message="url, chartName and version can be set only when type is helm-chart"
// +kubebuilder:validation:XValidation:rule="self.type != 'helm-chart' || (!has(self.repo) && !has(self.name) && !has(self.ref))",message="repo, name and ref must not be set when type is helm-chart"
// +kubebuilder:validation:XValidation:rule="self.type != 'helm-chart' || !has(self.url) || !self.url.startsWith('oci://') || has(self.version)",message="version is required when url begins with oci://; it must be a tag, or a digest sha256:…"
// +kubebuilder:validation:XValidation:rule="self.type != 'kustomize' || (has(self.repo) && has(self.name) && has(self.ref))",message="repo, name and ref are required when type is kustomize"
// +kubebuilder:validation:XValidation:rule="self.type != 'raw' || (has(self.inline) ? !has(self.repo) && !has(self.name) && !has(self.ref) : has(self.repo) && has(self.name) && has(self.ref))",message="either inline, or repo, name and ref are required when type is raw"
// +kubebuilder:validation:XValidation:rule="self.type == 'raw' || !has(self.inline)",message="inline can be set only when type is raw"
// +kubebuilder:validation:XValidation:rule="self.type == 'kustomize' || !has(self.path)",message="path can be set only when type is kustomize"
type Source struct {
	// type of the source. oci-ref is a chart identified by digest: an OCI layer, or a manifest of Helm's OCI chart type.
	// helm-chart is a chart identified by version, in an OCI registry or a chart repository. raw is plain YAML: a layer
	// identified by digest, or inline. kustomize is a layer identified by digest that contains a kustomization and everything
	// that it refers to; nothing else is fetched, and plugins are not supported. raw and kustomize also accept a Flux artifact,
	// identified by the digest of its manifest or of its layer.
	// +required
	Type SourceType `json:"type"`

	// repo is the first part of the repository, including the host, such as registry.example.org/component-descriptors.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:Pattern=`^[^@\s]+$`
	Repo string `json:"repo,omitempty"`

	// name is the last part of the repository, usually the name of the component.
	// +optional
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:Pattern=`^[^@:\s]+$`
	Name string `json:"name,omitempty"`

	// ref is a digest: sha256: followed by 64 hexadecimal digits. Tags are not allowed.
	// +optional
	// +kubebuilder:validation:MaxLength=71
	// +kubebuilder:validation:XValidation:rule="self.matches('^sha256:[0-9a-f]{64}$')",message="ref must be a digest (sha256: followed by 64 hexadecimal digits); tags are not allowed"
	Ref string `json:"ref,omitempty"`

	// url of the chart: oci://host/path without the name of the chart, or the http:// or https:// URL of a chart
	// repository.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:XValidation:rule="self.matches('^(oci|http|https)://[^\\\\s/]+')",message="url must begin with oci://, https:// or http://, followed by a host"
	// +kubebuilder:validation:XValidation:rule="!self.matches('^[a-z]+://[^/]*@')",message="url must not contain credentials; set them in spec.registries of the ProviderConfig"
	URL string `json:"url,omitempty"`

	// chartName is the name of the chart.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9]([-A-Za-z0-9._/]*[A-Za-z0-9])?$`
	ChartName string `json:"chartName,omitempty"`

	// version of the chart. With an oci:// URL, it is a tag or a digest. With a chart repository, it is a version or a
	// version range, and defaults to the latest version that is not a pre-release.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	Version string `json:"version,omitempty"`

	// path of the directory with the kustomization in the layer. Defaults to the root of the layer.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Path string `json:"path,omitempty"`

	// inline is plain YAML: one or more Kubernetes objects.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=262144
	Inline string `json:"inline,omitempty"`
}

// A LayerSourceType specifies the kind of a LayerSource.
// +kubebuilder:validation:Enum=oci-ref
type LayerSourceType string

// LayerSourceTypeOCIRef is the only type of a LayerSource.
const LayerSourceTypeOCIRef LayerSourceType = "oci-ref"

// A LayerSource is a layer of an OCI artifact.
type LayerSource struct {
	// type of the source. Must be oci-ref.
	// +required
	Type LayerSourceType `json:"type"`

	// repo is the first part of the repository, including the host, such as registry.example.org/component-descriptors.
	// +required
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:Pattern=`^[^@\s]+$`
	Repo string `json:"repo"`

	// name is the last part of the repository, usually the name of the component.
	// +required
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:Pattern=`^[^@:\s]+$`
	Name string `json:"name"`

	// ref is a digest: sha256: followed by 64 hexadecimal digits. Tags are not allowed.
	// +required
	// +kubebuilder:validation:MaxLength=71
	// +kubebuilder:validation:XValidation:rule="self.matches('^sha256:[0-9a-f]{64}$')",message="ref must be a digest (sha256: followed by 64 hexadecimal digits); tags are not allowed"
	Ref string `json:"ref"`
}
