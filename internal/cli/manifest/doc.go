// SPDX-License-Identifier: Apache-2.0

// Package manifest has the commands that ask the provider for something about a
// Manifest, or about all Manifests of a Kyma, and wait for its answer: a plan, and the
// results of tests.
package manifest
