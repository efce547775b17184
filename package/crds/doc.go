// SPDX-License-Identifier: Apache-2.0

// Package crds embeds the CRDs of the provider, which kymactl installs. The YAML
// files are generated from package apis. The package of the provider contains
// only the YAML files of this directory.
package crds
