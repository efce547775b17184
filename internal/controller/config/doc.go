// SPDX-License-Identifier: Apache-2.0

// Package config reads the ProviderConfig of a managed resource with all Secrets that it names, counts its users, reports
// whether its cluster is reachable, and uses its kubeconfig as soon as it changes.
package config
