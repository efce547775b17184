// SPDX-License-Identifier: Apache-2.0

// Package manifest has the specs of a Manifest: what it installs, waits for, keeps and removes.
package manifest
