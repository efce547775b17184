// SPDX-License-Identifier: Apache-2.0

// Package share divides the workers of a controller between ProviderConfigs, so that one with many or slow Manifests does not
// keep those of others waiting.
package share
