// SPDX-License-Identifier: Apache-2.0

// Package kubeconfig reads kubeconfigs from untrusted sources.
//
// Tenants bring the kubeconfigs of their clusters, and the provider connects with them from its own place in the
// network and with its own files at hand. What would make it run a program or read a file is therefore refused unless
// the administrator allows it, and errors name the entry and the field but never quote a credential.
package kubeconfig
