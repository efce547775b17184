// SPDX-License-Identifier: Apache-2.0

// Package v1alpha1 holds the kinds of the group kyma.m.crossplane.io: Manifest, and the ProviderConfigs that say how to
// reach a target cluster.
//
// +kubebuilder:object:generate=true
// +groupName=kyma.m.crossplane.io
// +versionName=v1alpha1
package v1alpha1
