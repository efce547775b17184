// SPDX-License-Identifier: Apache-2.0

// The operator is a sample: it installs a Helm chart for each object of its own kind Site, with the library in
// pkg/manifest and pkg/cluster, and nothing else of this repository.
package main
