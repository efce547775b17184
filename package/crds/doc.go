// SPDX-License-Identifier: Apache-2.0

// Package crds holds the definitions of the kinds of the provider, as kymactl
// installs them. The YAML is generated, see package apis; what builds the package
// of the provider looks at no other files of this folder.
package crds
