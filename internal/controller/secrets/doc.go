// SPDX-License-Identifier: Apache-2.0

// Package secrets reads the Secrets that ProviderConfigs name, and the Secrets and ConfigMaps that Manifests take values
// from. The metadata of both kinds is watched, the content is read once for each version that is used, so that a reconcile
// costs no request and a rotated Secret is seen at once.
package secrets
