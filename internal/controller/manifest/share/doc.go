// SPDX-License-Identifier: Apache-2.0

// Package share divides the workers of a controller between ProviderConfigs, so that a ProviderConfig with many or slow
// Manifests does not delay the Manifests of other ProviderConfigs.
package share
