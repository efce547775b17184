// SPDX-License-Identifier: Apache-2.0

// Package record writes and reads the release records of Helm 3: Secrets that hold the chart, its values, the
// rendered manifest, and the hooks.
package record
