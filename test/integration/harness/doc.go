// SPDX-License-Identifier: Apache-2.0

// Package harness has what the specs of the integration suite share: the running servers (Env), a Space for each spec with
// helpers that make Manifests, Kymas and modules in it, matchers, and the metrics of the provider.
package harness
