// SPDX-License-Identifier: Apache-2.0

// Package namespaces reads the labels of namespaces in the control plane. Crossplane does not grant a provider access to
// namespaces, so a cache with a watch would never start. The package therefore reads single namespaces when they are needed.
package namespaces
