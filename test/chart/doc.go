// SPDX-License-Identifier: Apache-2.0

// Package chart tests the Helm chart of the provider with the helm command, against a real control plane. That the provider works with
// the permissions of the chart is tested in test/makefile, because make deploy uses the chart.
package chart
