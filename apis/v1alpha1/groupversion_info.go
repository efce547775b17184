// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// The group and version of every kind of this package.
const (
	Group   = "kyma.m.crossplane.io"
	Version = "v1alpha1"
)

// SchemeGroupVersion is the group and version of every kind of this package.
var SchemeGroupVersion = schema.GroupVersion{Group: Group, Version: Version}

// AddToScheme adds the kinds of this package to a scheme.
func AddToScheme(s *runtime.Scheme) error {
	s.AddKnownTypes(SchemeGroupVersion,
		&Kyma{}, &KymaList{},
		&Manifest{}, &ManifestList{},
		&KymaSet{}, &KymaSetList{},
		&ModuleTemplate{}, &ModuleTemplateList{},
		&ModuleReleaseMeta{}, &ModuleReleaseMetaList{},
		&RolloutPolicy{}, &RolloutPolicyList{},
		&ProviderConfig{}, &ProviderConfigList{},
		&ClusterProviderConfig{}, &ClusterProviderConfigList{},
		&ProviderConfigUsage{}, &ProviderConfigUsageList{},
	)
	metav1.AddToGroupVersion(s, SchemeGroupVersion)
	return nil
}

// Kinds, group kinds and the like, as crossplane-runtime wants them.
var (
	KymaKind             = "Kyma"
	KymaGroupKind        = schema.GroupKind{Group: Group, Kind: KymaKind}.String()
	KymaGroupVersionKind = SchemeGroupVersion.WithKind(KymaKind)

	ManifestKind             = "Manifest"
	ManifestGroupKind        = schema.GroupKind{Group: Group, Kind: ManifestKind}.String()
	ManifestGroupVersionKind = SchemeGroupVersion.WithKind(ManifestKind)

	ModuleTemplateKind             = "ModuleTemplate"
	ModuleTemplateGroupKind        = schema.GroupKind{Group: Group, Kind: ModuleTemplateKind}.String()
	ModuleTemplateGroupVersionKind = SchemeGroupVersion.WithKind(ModuleTemplateKind)

	ModuleReleaseMetaKind             = "ModuleReleaseMeta"
	ModuleReleaseMetaGroupKind        = schema.GroupKind{Group: Group, Kind: ModuleReleaseMetaKind}.String()
	ModuleReleaseMetaGroupVersionKind = SchemeGroupVersion.WithKind(ModuleReleaseMetaKind)

	RolloutPolicyKind             = "RolloutPolicy"
	RolloutPolicyGroupKind        = schema.GroupKind{Group: Group, Kind: RolloutPolicyKind}.String()
	RolloutPolicyGroupVersionKind = SchemeGroupVersion.WithKind(RolloutPolicyKind)

	KymaSetKind             = "KymaSet"
	KymaSetGroupKind        = schema.GroupKind{Group: Group, Kind: KymaSetKind}.String()
	KymaSetGroupVersionKind = SchemeGroupVersion.WithKind(KymaSetKind)

	ProviderConfigKind             = "ProviderConfig"
	ProviderConfigGroupKind        = schema.GroupKind{Group: Group, Kind: ProviderConfigKind}.String()
	ProviderConfigGroupVersionKind = SchemeGroupVersion.WithKind(ProviderConfigKind)

	ClusterProviderConfigKind             = "ClusterProviderConfig"
	ClusterProviderConfigGroupKind        = schema.GroupKind{Group: Group, Kind: ClusterProviderConfigKind}.String()
	ClusterProviderConfigGroupVersionKind = SchemeGroupVersion.WithKind(ClusterProviderConfigKind)

	ProviderConfigUsageKind                 = "ProviderConfigUsage"
	ProviderConfigUsageGroupVersionKind     = SchemeGroupVersion.WithKind(ProviderConfigUsageKind)
	ProviderConfigUsageListGroupVersionKind = SchemeGroupVersion.WithKind("ProviderConfigUsageList")
)
