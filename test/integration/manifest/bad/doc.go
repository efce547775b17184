// SPDX-License-Identifier: Apache-2.0

// Package bad has the specs of Manifests that cannot be installed, because of their content, credentials or registry.
package bad
