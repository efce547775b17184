// SPDX-License-Identifier: Apache-2.0

// Package kubeconfig reads kubeconfigs from untrusted sources.
//
// Users provide the kubeconfigs of their clusters, and the provider connects with them from its own network and with
// access to its own files. By default, it therefore rejects fields that would run a program or read a file. Errors name
// the entry and the field, but never quote credentials.
package kubeconfig
