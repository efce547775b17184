// SPDX-License-Identifier: Apache-2.0

// Package install contains the command install, which installs the provider in a cluster without Crossplane from the embedded Helm chart.
// It renders the chart (chart.go) with values of the command line (values.go), prints the objects or refuses if others installed the
// provider (others.go), applies them, waits (await.go), and deletes what the chart no longer contains (prune.go). See
// docs/decisions/0086-kymactl-install.md.
package install
