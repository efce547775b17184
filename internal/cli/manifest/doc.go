// SPDX-License-Identifier: Apache-2.0

// Package manifest contains the commands plan and test, which send a request to the provider about a Manifest, or about all
// Manifests of a Kyma, and wait for the result.
package manifest
