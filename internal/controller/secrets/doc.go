// SPDX-License-Identifier: Apache-2.0

// Package secrets reads the Secrets that ProviderConfigs name, and the Secrets and ConfigMaps that Manifests take values
// from. It watches the metadata of both kinds, and reads the content once for each version that is used, so that a reconcile
// costs no request and a rotated Secret is noticed at once.
package secrets
