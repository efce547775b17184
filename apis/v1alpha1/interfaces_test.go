// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import "github.com/crossplane/crossplane-runtime/v2/pkg/resource"

// These hold at compile time. They stand in a test because the generator of the methods loads the package without
// tests, and must be able to do so before the methods exist.
var (
	_ resource.ModernManaged            = &Kyma{}
	_ resource.ManagedList              = &KymaList{}
	_ resource.ModernManaged            = &Manifest{}
	_ resource.ManagedList              = &ManifestList{}
	_ resource.ProviderConfig           = &ProviderConfig{}
	_ resource.ProviderConfig           = &ClusterProviderConfig{}
	_ resource.TypedProviderConfigUsage = &ProviderConfigUsage{}
	_ resource.ProviderConfigUsageList  = &ProviderConfigUsageList{}
)

// A request to reconcile is acknowledged only by a kind that has these methods.
type acknowledging interface {
	GetLastHandledReconcileAt() string
	SetLastHandledReconcileAt(token string)
}

var (
	_ acknowledging = &Kyma{}
	_ acknowledging = &Manifest{}
)
