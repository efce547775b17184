// SPDX-License-Identifier: Apache-2.0

// Package manifest contains the specs of Manifests: what they install, wait for, keep and remove.
package manifest
