// SPDX-License-Identifier: Apache-2.0

// Package share divides the workers of a controller between namespaces and ProviderConfigs, so that Manifests that are many or
// slow don't delay the Manifests of others.
package share
