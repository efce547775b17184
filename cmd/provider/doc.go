// SPDX-License-Identifier: Apache-2.0

// Command provider is the controller manager: it reconciles Manifests and ProviderConfigs of a control plane.
package main
