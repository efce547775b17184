// SPDX-License-Identifier: Apache-2.0

// Command provider is the controller manager. It reconciles the Kymas, Manifests, ModuleTemplates and ProviderConfigs of a
// control plane.
package main
