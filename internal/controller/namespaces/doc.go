// SPDX-License-Identifier: Apache-2.0

// Package namespaces reads the labels of namespaces in the control plane. Crossplane does not grant a provider access to
// namespaces, so the package reads single ones when they are needed, instead of a cache with a watch that would never start.
package namespaces
