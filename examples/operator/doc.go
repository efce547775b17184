// SPDX-License-Identifier: Apache-2.0

// The operator is an example: it installs a Helm chart for each object of its kind Site with the library in pkg/manifest
// and pkg/cluster, and uses nothing else of this repository.
package main
