// SPDX-License-Identifier: Apache-2.0

// Command operator is an example: it installs a Helm chart for each object of its kind Site. It uses the library in
// pkg/manifest and pkg/cluster, and nothing else from this repository.
package main
