// SPDX-License-Identifier: Apache-2.0

// Package harness is what the specs of the integration suite share: the servers that run (Env), a Space of each spec, with
// helpers to make Manifests, Kymas and modules in it, matchers, and what the provider counts.
package harness
